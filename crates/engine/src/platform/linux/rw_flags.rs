//! The flags of a single read or write (RWF_*), and the meaning of their refusals.

use crate::platform::explain_trim;
use iosonde_base::{Errno, Op};

/// The flags that a job's options ask for, each with the directions it is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RwFlags {
    read: i32,
    write: i32,
}

impl RwFlags {
    /// RWF_NOWAIT where `wanted`: fail with EAGAIN rather than wait.
    pub(crate) fn nowait(self, wanted: bool) -> RwFlags {
        self.with(wanted, libc::RWF_NOWAIT)
    }

    /// RWF_DONTCACHE where `wanted`: drop pages from the page cache after use.
    pub(crate) fn uncached(self, wanted: bool) -> RwFlags {
        self.with(wanted, libc::RWF_DONTCACHE)
    }

    /// RWF_ATOMIC where `wanted`: writes are atomic.
    pub(crate) fn atomic(self, wanted: bool) -> RwFlags {
        let flag = if wanted { libc::RWF_ATOMIC } else { 0 };
        RwFlags { write: self.write | flag, ..self }
    }

    fn with(self, wanted: bool, flag: i32) -> RwFlags {
        let flag = if wanted { flag } else { 0 };
        RwFlags { read: self.read | flag, write: self.write | flag }
    }

    /// Poll for the completion of every read and write.
    pub(crate) fn polled(self) -> RwFlags {
        RwFlags { read: self.read | libc::RWF_HIPRI, write: self.write | libc::RWF_HIPRI }
    }

    /// The flags of one I/O.
    #[inline(always)]
    pub(crate) fn of(self, op: Op) -> i32 {
        if op as u8 == Op::Write as u8 { self.write } else { self.read }
    }

    /// Why the kernel may have refused, where the number alone says too little.
    #[cold]
    pub(crate) fn explain(self, op: Op, errno: Errno) -> Option<&'static str> {
        let flags = self.of(op);
        match errno {
            _ if op == Op::Trim => explain_trim(op, errno),
            Errno::EOPNOTSUPP if flags & libc::RWF_ATOMIC != 0 => {
                Some("the file or device takes no atomic writes (RWF_ATOMIC); leave out atomic=1")
            }
            Errno::EINVAL if flags & libc::RWF_ATOMIC != 0 => Some(
                "an atomic write needs direct=1, and a size and place that the device takes \
                 (atomic_write_unit_min and _max in its queue directory)",
            ),
            Errno::EOPNOTSUPP if flags & libc::RWF_DONTCACHE != 0 => Some(
                "the file system takes no uncached I/O (RWF_DONTCACHE: Linux 6.14 and up, on \
                 ext4, xfs, btrfs...); leave out uncached=1",
            ),
            Errno::EOPNOTSUPP if flags & libc::RWF_NOWAIT != 0 => {
                Some("the file cannot do this without waiting (RWF_NOWAIT); leave out nowait=1")
            }
            Errno::EOPNOTSUPP if flags & libc::RWF_HIPRI != 0 => {
                Some("the file cannot be polled (RWF_HIPRI); leave out hipri=1")
            }
            Errno::EAGAIN if flags & libc::RWF_NOWAIT != 0 => {
                Some("it would have had to wait (nowait=1); ignore_error=EAGAIN lets the job go on")
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_writes_are_atomic() {
        let flags = RwFlags::default().nowait(true).atomic(true);
        assert_eq!(flags.of(Op::Read), libc::RWF_NOWAIT);
        assert_eq!(flags.of(Op::Write), libc::RWF_NOWAIT | libc::RWF_ATOMIC);
        assert_eq!(RwFlags::default().polled().of(Op::Read), libc::RWF_HIPRI);
    }

    #[test]
    fn a_refusal_names_the_flag_and_the_option() {
        let flags = RwFlags::default().uncached(true);
        let words = flags.explain(Op::Read, Errno::EOPNOTSUPP).unwrap();
        assert!(words.contains("RWF_DONTCACHE") && words.contains("uncached=1"));
        assert_eq!(flags.explain(Op::Read, Errno::EIO), None);
    }

    #[test]
    fn each_refusal_has_its_own_words() {
        let plain = RwFlags::default();
        let (atomic, uncached) = (plain.atomic(true), plain.uncached(true));
        let (nowait, polled) = (plain.nowait(true), plain.polled());
        for (flags, op, errno, word) in [
            (plain, Op::Trim, Errno::ENOTTY, "only block devices"),
            (plain, Op::Trim, Errno::EOPNOTSUPP, "cannot discard"),
            (atomic, Op::Write, Errno::EOPNOTSUPP, "leave out atomic=1"),
            (atomic, Op::Write, Errno::EINVAL, "atomic_write_unit_min"),
            (uncached, Op::Write, Errno::EOPNOTSUPP, "leave out uncached=1"),
            (nowait, Op::Read, Errno::EOPNOTSUPP, "leave out nowait=1"),
            (polled, Op::Read, Errno::EOPNOTSUPP, "leave out hipri=1"),
            (nowait, Op::Read, Errno::EAGAIN, "ignore_error=EAGAIN"),
        ] {
            let words = flags.explain(op, errno).unwrap_or_default();
            assert!(words.contains(word), "{word}: {words:?}");
        }
        // Of flags that were not set, and of other operations, nothing is said.
        for (flags, op, errno) in [
            (plain, Op::Read, Errno::ENOTTY),
            (plain, Op::Read, Errno::EOPNOTSUPP),
            (plain, Op::Write, Errno::EINVAL),
            (plain, Op::Read, Errno::EAGAIN),
            (polled, Op::Read, Errno::EAGAIN),
            (atomic, Op::Read, Errno::EINVAL),
            (uncached, Op::Write, Errno::EINVAL),
        ] {
            assert_eq!(flags.explain(op, errno), None, "{op:?} {errno:?}");
        }
        let both = plain.nowait(true).uncached(true);
        assert_eq!(both.of(Op::Read), libc::RWF_NOWAIT | libc::RWF_DONTCACHE);
        assert_eq!(both.nowait(true), both, "set once is set");
        let polled = atomic.polled();
        assert_eq!(polled.of(Op::Write), libc::RWF_ATOMIC | libc::RWF_HIPRI);
    }
}
