//! ftruncate: a write sets the file's size to its offset; no data moves.

use super::offload::{Alone, pool_of};
use super::{CAPS, always, shared_one_shot};
use crate::platform;
use crate::{Caps, EngineDef, Io, OneShot};
use iosonde_base::{Errno, Op};

/// Catalogue entry.
pub(crate) static FTRUNCATE: EngineDef = EngineDef {
    name: "ftruncate",
    aliases: &[],
    summary: "ftruncate(2) in place of writes",
    doc: "ftruncate(2): each write sets the file's size to its offset. Nothing else is possible.",
    caps: Caps { trim: false, changes: true, ..CAPS },
    options: None,
    offload: Some(|with, accounting| pool_of(with, accounting, |_| Ok(Alone(Ftruncate)))),
    available: always,
    open: |_, accounting| Ok(shared_one_shot(Ftruncate, accounting)),
};

pub(crate) struct Ftruncate;

impl OneShot for Ftruncate {
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        if io.op != Op::Write {
            return Err(Errno::EINVAL);
        }
        platform::set_size(io.fd, io.offset)?;
        Ok(io.len)
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        match (op, errno) {
            (Op::Write, _) => None,
            (_, Errno::EINVAL) => Some("ftruncate only writes; use rw=write or rw=randwrite"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_write_is_refused_and_says_so() {
        let words = Ftruncate.explain(Op::Read, Errno::EINVAL).unwrap();
        assert!(words.contains("rw=write"), "{words}");
        // A write that fails so has an offset that no file has.
        assert_eq!(Ftruncate.explain(Op::Write, Errno::EINVAL), None);
        assert_eq!(Ftruncate.explain(Op::Read, Errno::EIO), None);
    }
}
