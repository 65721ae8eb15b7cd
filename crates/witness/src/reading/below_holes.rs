//! What a loop device shows and its backing file does not have: a fresh image, or a
//! trimmed one. Reads of it touch no device.

use super::Location;
use crate::evidence::HolesBelow;
use iosonde_sys::counters::Extents;
use iosonde_sys::stack::LayerKind;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// File systems with extents that lie where FIEMAP says on their only device.
const PLAIN: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "f2fs", "device"];
/// Pieces of one file that are looked at.
const PIECES_MOST: usize = 64;
/// What sysfs counts in.
const SECTOR: u64 = 512;

/// Of `bytes` bytes from `offset` on of the file or device at `path`, which lies at
/// `place`: what the backing file of the loop device right below has of it. `None` where
/// there is no such device, or its backing file is not visible here.
pub fn holes_below(place: &Location, path: &Path, offset: u64, bytes: u64) -> Option<HolesBelow> {
    let [layer] = place.layers.as_slice() else { return None };
    let LayerKind::Loop(backing) = &layer.disk().kind else { return None };
    let file = super::file::open(path).ok()?;
    let pieces = match place.kind() {
        "device" => std::iter::once(offset..offset.saturating_add(bytes)).collect(),
        kind if PLAIN.contains(&kind) => Extents::places(&file, offset, bytes).ok()?,
        _ => return None,
    };
    let begins = match layer.kind {
        LayerKind::Partition => start_of(&layer.name)?,
        _ => 0,
    };
    let backing = File::open(backing).ok()?;
    let mut found = HolesBelow { device: layer.disk().name.clone(), ..HolesBelow::default() };
    for Range { start, end } in pieces.into_iter().take(PIECES_MOST) {
        let piece = Extents::of(&backing, begins.saturating_add(start), end - start).ok()?;
        found.bytes += piece.looked_at_bytes;
        found.hole_bytes += piece.hole_bytes + piece.unwritten_bytes;
    }
    Some(found)
}

/// The first byte of a partition on its disk.
fn start_of(name: &str) -> Option<u64> {
    let text = iosonde_direct::sysfs::text(&format!("sys/class/block/{name}/start")).ok()?;
    text.trim().parse::<u64>().ok()?.checked_mul(SECTOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Locations;
    use iosonde_testing::{Folder, LoopDevice, or_skip};
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_fresh_image_is_holes_below_its_device_and_a_written_one_is_not() {
        let folder = Folder::new("holes-below");
        let image = folder.image("image", 4 << 20);
        let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
        let mut places = Locations::default();
        places.add(device.0.as_ref());
        let of =
            |offset: u64| holes_below(&places.0[0], device.0.as_ref(), offset, 1 << 20).unwrap();
        if Extents::of(&File::open(&image).unwrap(), 0, 1 << 20).is_err() {
            iosonde_testing::skip!("the file system of the image reports no extents");
        }
        assert_eq!((of(0).bytes, of(0).hole_bytes), (1 << 20, 1 << 20));
        let file = File::options().write(true).open(&device.0).unwrap();
        file.write_all_at(&[1; 1 << 20], 0).unwrap();
        file.sync_all().unwrap();
        assert_eq!((of(0).hole_bytes, of(1 << 20).hole_bytes), (0, 1 << 20));
    }
}
