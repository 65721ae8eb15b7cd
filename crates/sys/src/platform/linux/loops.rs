//! The backing file of a loop device, as the kernel knows it: LOOP_GET_STATUS64.
//!
//! Its path in sysfs is the one of whoever attached it: in another mount
//! namespace, or after a rename, it leads nowhere or to another file.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

/// `LOOP_GET_STATUS64` of <linux/loop.h>.
const LOOP_GET_STATUS64: u64 = 0x4c05;

/// `struct loop_info64` of <linux/loop.h>.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    rest: [u64; 26],
}

/// Device and inode number of a file.
pub(super) type FileNumbers = (u64, u64);

/// The backing file of a loop device, by its numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopBacking {
    /// The file, or the device's node.
    pub file: FileNumbers,
    /// The number of the device, if it is one.
    pub device: Option<u64>,
}

/// Names of the loop devices that have a node in /dev.
pub(crate) fn nodes() -> Vec<String> {
    let name = |entry: std::fs::DirEntry| entry.file_name().into_string().ok();
    let is_loop = |name: &String| {
        let number = name.strip_prefix("loop").unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let found = std::fs::read_dir("/dev").into_iter().flatten();
    found.flatten().filter_map(name).filter(is_loop).collect()
}

/// The file or device that a loop device shows; `None` if it shows none, or may
/// not be asked.
pub(crate) fn backing(name: &str) -> Option<LoopBacking> {
    let file = File::open(Path::new("/dev").join(name)).ok()?;
    let mut info = LoopInfo { device: 0, inode: 0, rdevice: 0, rest: [0; 26] };
    const _: () = assert!(size_of::<LoopInfo>() == 232);
    // SAFETY: the kernel writes one loop_info64, which `info` has the size and
    // layout of, before the call returns. Of what is no loop device the request
    // is unknown and writes nothing.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), LOOP_GET_STATUS64 as _, &raw mut info) };
    (answer == 0).then_some(LoopBacking {
        file: (info.device, info.inode),
        device: (info.rdevice != 0).then_some(info.rdevice),
    })
}
