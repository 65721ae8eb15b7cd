//! What lies in memory below a loop device: in the page cache of its backing file.

use iosonde_direct::{Fact, cache};
use std::fs::File;
use std::path::Path;

/// Bytes of a backing file in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagesBelow {
    /// All of them.
    pub cached_bytes: u64,
    /// Those not written back.
    pub dirty_bytes: u64,
}

/// Of the backing file of a device; `None` of what is no loop device.
pub(super) fn pages_below(name: &str) -> Option<Fact<PagesBelow>> {
    let attributes = iosonde_direct::sysfs::root().join("sys/class/block").join(name);
    let path = std::fs::read_to_string(attributes.join("loop/backing_file")).ok()?;
    let path = path.strip_suffix('\n').unwrap_or(&path);
    Some(match File::open(path) {
        Ok(file) => pages_of(&file, &attributes),
        // It was attached in another mount namespace, or removed since.
        Err(error) => Fact::unknown(format!("backing file {path}: {error}")),
    })
}

fn pages_of(file: &File, attributes: &Path) -> Fact<PagesBelow> {
    if super::file::is_of_memory(file) {
        return Fact::unknown("its backing file lies in memory");
    }
    // Of this mount namespace the path may be another file.
    let sectors = std::fs::read_to_string(attributes.join("size")).ok();
    let sectors = sectors.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
    let length = file.metadata().map_or(0, |status| status.len());
    if length < sectors.saturating_mul(512) {
        return Fact::unknown("the path of its backing file leads to a shorter file here");
    }
    match cache::residency(file, 0, 0) {
        Fact::Known(found) => {
            let cached_bytes = found.cached_bytes();
            let pages =
                |bytes: u64| PagesBelow { cached_bytes, dirty_bytes: bytes.min(cached_bytes) };
            found.unwritten_bytes().map(pages)
        }
        Fact::Unknown(why) => Fact::Unknown(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_direct::{AlignedBuf, OpenOptions};
    use iosonde_testing::{Folder, LoopDevice, or_skip};
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_is_written_to_a_loop_device_is_dirty_below_it_until_a_sync() {
        assert_eq!(pages_below("no such device"), None);
        let folder = Folder::new("dirty-below");
        let image = folder.image("image", 4 << 20);
        let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
        let file = OpenOptions::new().write(true).direct(true).open(&device.0).unwrap();
        let block = AlignedBuf::new(1 << 20, 4096).unwrap();
        let dirty = || pages_below(device.name()).unwrap().map(|pages| pages.dirty_bytes);
        if let Fact::Unknown(why) = dirty() {
            iosonde_testing::skip!("{why}");
        }
        // Somebody's sync(2) may come between; not a hundred times.
        let is_seen = (0..100).any(|_| {
            file.write_all_at(&block, 0).unwrap();
            dirty().get().is_some_and(|bytes| bytes > 0 && bytes <= 2 << 20)
        });
        assert!(is_seen, "{:?}", dirty());
        file.sync_all().unwrap();
        assert_eq!(dirty(), Fact::Known(0));
    }
}
