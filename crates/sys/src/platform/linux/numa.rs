//! set_mempolicy(2).
#![allow(unsafe_code)]

use std::io;

/// Kernels are built for 1024 nodes at most.
const NODES: usize = 1024;
const BITS: usize = libc::c_ulong::BITS as usize;

pub(crate) fn set_memory_policy(policy: libc::c_int, nodes: &[u32]) -> io::Result<()> {
    let mut mask: [libc::c_ulong; NODES / BITS] = [0; NODES / BITS];
    for &node in nodes {
        let node = node as usize;
        let word = mask.get_mut(node / BITS).ok_or(io::ErrorKind::InvalidInput)?;
        *word |= 1 << (node % BITS);
    }
    let (pointer, bits) = match nodes {
        [] => (std::ptr::null(), 0),
        // The kernel takes one bit less than it is given.
        _ => (mask.as_ptr(), NODES as libc::c_ulong + 1),
    };
    // SAFETY: the kernel reads `bits` less one bits behind the pointer, which
    // `mask` has and keeps until the call returns; it writes nothing.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, policy, pointer, bits) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
