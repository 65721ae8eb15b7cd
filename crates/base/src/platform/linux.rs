//! Linux: its error numbers are ours.

use crate::Errno;

#[inline(always)]
pub(crate) fn errno_from_native(number: i32) -> Errno {
    Errno(number)
}

#[inline(always)]
pub(crate) fn errno_to_native(errno: Errno) -> Option<i32> {
    Some(errno.0)
}
