//! Devices that are no disks and may be written to.

use std::os::unix::fs::MetadataExt;

use crate::stack::DeviceId;

/// null and zero, whose numbers the system gives anew at each start.
pub(crate) fn is_harmless_character_device(id: DeviceId) -> bool {
    ["/dev/null", "/dev/zero"].iter().any(|path| {
        std::fs::metadata(path).is_ok_and(|status| DeviceId::from_raw(status.rdev()) == id)
    })
}

/// Whether a character device may be given text: terminals have no numbers of their own here.
pub(crate) fn shows_text(_: DeviceId) -> bool {
    true
}
