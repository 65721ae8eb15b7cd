//! sysctlbyname(3).
#![allow(unsafe_code)]

use std::ffi::CString;
use std::ptr;

/// The bytes of a value.
fn bytes(name: &str) -> Option<Vec<u8>> {
    let name = CString::new(name).ok()?;
    let mut buffer = vec![0_u8; 512];
    let mut length = buffer.len();
    // SAFETY: the name is read up to its zero, at most `length` bytes are written to the buffer; nothing is set.
    let result = unsafe {
        libc::sysctlbyname(
            name.as_ptr(),
            buffer.as_mut_ptr().cast(),
            &raw mut length,
            ptr::null_mut(),
            0,
        )
    };
    buffer.truncate(length);
    (result == 0).then_some(buffer)
}

/// A text.
pub(in super::super) fn text(name: &str) -> Option<String> {
    let bytes = bytes(name)?;
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let text = String::from_utf8_lossy(&bytes[..end]).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// A number of 32 or 64 bits.
pub(in super::super) fn number(name: &str) -> Option<u64> {
    let bytes = bytes(name)?;
    if let Ok(eight) = bytes.as_slice().try_into() {
        return Some(u64::from_ne_bytes(eight));
    }
    bytes.as_slice().try_into().ok().map(|four| u32::from_ne_bytes(four).into())
}
