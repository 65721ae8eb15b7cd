//! libblkid, where it is installed: it knows more signatures than our own list.
#![allow(unsafe_code)]

use libloading::os::unix::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::sync::OnceLock;

/// `blkid_probe`: a pointer to what the library alone knows.
type Probe = *mut c_void;

/// The functions of libblkid's documentation that are used here.
struct Blkid {
    new_probe: unsafe extern "C" fn() -> Probe,
    free_probe: unsafe extern "C" fn(Probe),
    set_device: unsafe extern "C" fn(Probe, RawFd, i64, i64) -> c_int,
    enable_partitions: unsafe extern "C" fn(Probe, c_int) -> c_int,
    do_probe: unsafe extern "C" fn(Probe) -> c_int,
    lookup_value:
        unsafe extern "C" fn(Probe, *const c_char, *mut *const c_char, *mut usize) -> c_int,
}

/// A probe finds so many things at most; devices with more are of no interest.
const FOUND_MOST: usize = 16;

/// Partition tables that libblkid sees in boot code without any partition, or in data
/// that only resembles one.
const UNSURE: [&str; 3] = ["dos", "PMBR", "atari"];

/// What libblkid finds in a range of a device or file: `a signature that libblkid calls
/// VMFS`. `None` where it finds nothing or is not installed.
pub(crate) fn blkid_type(file: &File, range: Range<u64>) -> Option<String> {
    static BLKID: OnceLock<Option<Blkid>> = OnceLock::new();
    let blkid = BLKID.get_or_init(Blkid::load).as_ref()?;
    let start = i64::try_from(range.start).ok()?;
    let bytes =
        i64::try_from(range.end.checked_sub(range.start)?).ok().filter(|bytes| *bytes > 0)?;
    let kind = blkid.kind(file, start, bytes)?;
    Some(format!("a signature that libblkid calls {kind}"))
}

impl Blkid {
    fn load() -> Option<Blkid> {
        // SAFETY: libblkid is made to be linked into any program; its constructors, if it has
        // any, rely on nothing of ours.
        let library = unsafe { Library::new("libblkid.so.1") }.ok()?;
        // SAFETY: the names and signatures are those of libblkid's documentation, with its
        // handle as a pointer and blkid_loff_t as the 64 bits that it is.
        let loaded = unsafe {
            Blkid {
                new_probe: *library.get(b"blkid_new_probe\0").ok()?,
                free_probe: *library.get(b"blkid_free_probe\0").ok()?,
                set_device: *library.get(b"blkid_probe_set_device\0").ok()?,
                enable_partitions: *library.get(b"blkid_probe_enable_partitions\0").ok()?,
                do_probe: *library.get(b"blkid_do_probe\0").ok()?,
                lookup_value: *library.get(b"blkid_probe_lookup_value\0").ok()?,
            }
        };
        // The functions are used as long as the process lives.
        std::mem::forget(library);
        Some(loaded)
    }

    /// The first type of a file system, volume or partition table.
    fn kind(&self, file: &File, start: i64, bytes: i64) -> Option<String> {
        // SAFETY: it takes nothing and gives a new handle, or null.
        let probe = unsafe { (self.new_probe)() };
        if probe.is_null() {
            return None;
        }
        // SAFETY: the handle is the one just made; the descriptor is open for as long as `file`
        // is borrowed, which is longer than the handle lives, and libblkid does not close what
        // it was given.
        let is_set = unsafe {
            (self.set_device)(probe, file.as_raw_fd(), start, bytes) == 0
                && (self.enable_partitions)(probe, 1) == 0
        };
        let mut found = None;
        for _ in 0..FOUND_MOST {
            // SAFETY: the handle is valid and has its device.
            if !is_set || found.is_some() || unsafe { (self.do_probe)(probe) } != 0 {
                break;
            }
            let words = [c"TYPE", c"PTTYPE"].into_iter().filter_map(|name| self.value(probe, name));
            found = words.into_iter().find(|word| !UNSURE.contains(&word.as_str()));
        }
        // SAFETY: the handle was made above and is used no more.
        unsafe { (self.free_probe)(probe) };
        found
    }

    fn value(&self, probe: Probe, name: &CStr) -> Option<String> {
        let mut text = ptr::null();
        // SAFETY: the handle is valid, the name ends in a null, the place for the answer is
        // ours, and a null says that its length is not wanted.
        let code =
            unsafe { (self.lookup_value)(probe, name.as_ptr(), &raw mut text, ptr::null_mut()) };
        if code != 0 || text.is_null() {
            return None;
        }
        // SAFETY: libblkid's values of these names are texts that end in a null and live until
        // the next probe; this one is copied at once.
        let word = unsafe { CStr::from_ptr(text) };
        Some(iosonde_base::text::plain(&word.to_string_lossy()).into_owned())
    }
}
