//! Systems whose error numbers are not Linux's: a table leads from one to the other.

use super::NUMBERS;
use crate::Errno;

pub(crate) fn errno_from_native(number: i32) -> Errno {
    let known = NUMBERS.iter().copied().flatten().find(|row| row.0 == number);
    known.map_or(Errno(Errno::NATIVE + number), |row| row.1)
}

/// Of several numbers of the system for one error, the first in the table.
pub(crate) fn errno_to_native(errno: Errno) -> Option<i32> {
    NUMBERS.iter().copied().flatten().find(|row| row.1 == errno).map(|row| row.0)
}
