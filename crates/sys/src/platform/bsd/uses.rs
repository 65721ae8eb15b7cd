//! Which disks are in use, and how: by file systems that are mounted. Of what else holds a device (swap, pools,
//! containers) the system refuses the opening itself.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr;

use crate::guard::{InUse, Use};
use crate::stack::DeviceId;

/// What is mounted, read once.
#[derive(Debug)]
pub(crate) struct Uses {
    /// The name of the device (`ada0p2`), and where it is mounted.
    mounted: Vec<(String, PathBuf)>,
}

impl Uses {
    pub(crate) fn now() -> Uses {
        let name = |source: &str| source.strip_prefix("/dev/").map(str::to_owned);
        let mounts = mounts().into_iter();
        Uses {
            mounted: mounts.filter_map(|(source, point)| Some((name(&source)?, point))).collect(),
        }
    }

    pub(crate) fn node_name(&self, id: DeviceId) -> String {
        name_of(id).map_or_else(|| format!("the device {id}"), |name| self.path_of(&name))
    }

    pub(crate) fn disk_name(&self, id: DeviceId) -> String {
        name_of(id).map_or_else(|| id.to_string(), |name| disk_of(&name).to_owned())
    }

    pub(crate) fn path_of(&self, name: &str) -> String {
        format!("/dev/{name}")
    }

    pub(crate) fn is_among_devices(&self, path: &Path) -> bool {
        path.starts_with("/dev")
    }

    /// No file system is the kernel's own here.
    pub(crate) fn kernel_files(&self, _: &Path) -> Option<&'static str> {
        None
    }

    /// A file that is mounted by md(4) or as an image is held by the system.
    pub(crate) fn of_file(&self, _: &Path, _: (u64, u64)) -> Vec<InUse> {
        Vec::new()
    }

    pub(crate) fn id(&self, name: &str) -> Option<DeviceId> {
        std::fs::metadata(self.path_of(name)).ok().map(|status| DeviceId::from_raw(status.rdev()))
    }

    pub(crate) fn loops_over_file(&self, _: &Path, _: (u64, u64)) -> Vec<String> {
        Vec::new()
    }

    pub(crate) fn loops_beside(&self, _: DeviceId) -> Vec<String> {
        Vec::new()
    }

    pub(crate) fn places_beside(&self, _: DeviceId) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Uses of a device, of its partitions and of its disk.
    pub(crate) fn of_device(&self, id: DeviceId) -> Vec<InUse> {
        let Some(name) = name_of(id) else { return Vec::new() };
        // macOS has each disk twice, with and without a buffer.
        let name = plain(&name);
        let shares = |other: &str| {
            let is_disk = disk_of(name) == name && disk_of(other) == name;
            other == name || is_disk || disk_of(name) == other
        };
        let found = self.mounted.iter().filter(|(other, _)| shares(plain(other)));
        let in_use = |(other, point): &(String, PathBuf)| InUse {
            device: self.path_of(other),
            relation: (other != name).then(|| format!("on the disk of /dev/{name}")),
            by: Use::Mounted(point.clone()),
        };
        found.map(in_use).collect()
    }
}

fn plain(name: &str) -> &str {
    name.strip_prefix("rdisk").map_or(name, |_| &name[1..])
}

/// `ada0` of `ada0p2` and `ada0s1a`, `disk3` of `disk3s1`: letters and one number.
fn disk_of(name: &str) -> &str {
    let letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    let digits = name.bytes().skip(letters).take_while(u8::is_ascii_digit).count();
    &name[..letters + digits]
}

/// The name of a device's node.
fn name_of(id: DeviceId) -> Option<String> {
    let nodes = std::fs::read_dir("/dev").ok()?.flatten();
    let mut named = nodes.filter(|node| {
        node.metadata()
            .is_ok_and(|status| status.rdev() != 0 && DeviceId::from_raw(status.rdev()) == id)
    });
    named.next()?.file_name().into_string().ok()
}

/// Sources and places of all mounts (getmntinfo(3)).
fn mounts() -> Vec<(String, PathBuf)> {
    const WITHOUT_WAITING: libc::c_int = libc::MNT_NOWAIT;
    let mut list: *mut libc::statfs = ptr::null_mut();
    // SAFETY: the call stores the address of a list of its own, which it does not change before it is called again;
    // it is called here alone, and the guard that does so is made by one thread at a time.
    let count = unsafe { libc::getmntinfo(&raw mut list, WITHOUT_WAITING) };
    let Ok(count) = usize::try_from(count) else { return Vec::new() };
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: so many structures are behind the address, as the call said.
    let all = unsafe { std::slice::from_raw_parts(list, count) };
    let text = |bytes: &[c_char]| {
        // SAFETY: the system ends both names with a zero within their arrays.
        unsafe { CStr::from_ptr(bytes.as_ptr()) }.to_string_lossy().into_owned()
    };
    all.iter()
        .map(|one| (text(&one.f_mntfromname), PathBuf::from(text(&one.f_mntonname))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_of_its_disk() {
        for (name, disk) in
            [("ada0p2", "ada0"), ("da12s1a", "da12"), ("disk3s1s1", "disk3"), ("nda0", "nda0")]
        {
            assert_eq!(disk_of(name), disk);
        }
        assert_eq!((plain("rdisk2s1"), plain("disk2")), ("disk2s1", "disk2"));
    }
}
