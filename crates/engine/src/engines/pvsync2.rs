//! pvsync2: preadv2(2)/pwritev2(2), with their flags.
#![allow(unsafe_code)]

use super::psync::{CAPS, bytes};
use super::rw_flags::RwFlags;
use super::{always, one_shot, trim};
use crate::{Caps, EngineDef, Io, Knobs, OneShot};
use iosonde_base::{Errno, Op};

/// Catalogue entry.
pub(crate) static PVSYNC2: EngineDef = EngineDef {
    name: "pvsync2",
    aliases: &[],
    doc: "preadv2(2) and pwritev2(2): as pvsync, with flags for each I/O: polled, without \
          waiting, uncached, atomic.",
    caps: Caps { atomic: true, ..CAPS },
    options: &["hipri", "hipri_percentage", "uncached", "nowait"],
    available: always,
    open: |with, accounting| Ok(one_shot(Pvsync2::new(&with.knobs), accounting)),
};

pub(super) struct Pvsync2 {
    plain: RwFlags,
    polled: RwFlags,
    /// Percentage of I/Os that are polled.
    polled_share: u32,
    /// What draws which: any sequence would do, this one is the same each run.
    draws: u32,
}

impl Pvsync2 {
    pub(super) fn new(knobs: &Knobs) -> Pvsync2 {
        let plain = RwFlags::new(knobs);
        let polled_share = if knobs.hipri { knobs.hipri_percentage } else { 0 };
        Pvsync2 { plain, polled: plain.polled(), polled_share, draws: 0x9e37_79b9 }
    }

    fn flags(&mut self, op: Op) -> i32 {
        let polled = match self.polled_share {
            0 => false,
            100.. => true,
            share => self.draw() < share,
        };
        if polled { self.polled.of(op) } else { self.plain.of(op) }
    }

    /// A number below 100. Marsaglia, Xorshift RNGs, JSS 2003: 13, 17, 5.
    fn draw(&mut self) -> u32 {
        self.draws ^= self.draws << 13;
        self.draws ^= self.draws >> 17;
        self.draws ^= self.draws << 5;
        ((u64::from(self.draws) * 100) >> 32) as u32
    }
}

impl OneShot for Pvsync2 {
    #[inline]
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        let vector = libc::iovec { iov_base: io.buffer.cast(), iov_len: io.len as usize };
        let offset = io.offset as i64;
        let flags = self.flags(io.op);
        // SAFETY: `Io` promises `len` bytes at `buffer` that are this I/O's
        // alone until the call returns; the vector lives as long.
        unsafe {
            match io.op {
                Op::Read => bytes(libc::preadv2(io.fd, &vector, 1, offset, flags)),
                Op::Write => bytes(libc::pwritev2(io.fd, &vector, 1, offset, flags)),
                _ => trim::discard(io),
            }
        }
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        let flags = if self.polled_share > 0 { self.polled } else { self.plain };
        flags.explain(op, errno)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_the_share_asked_for_is_polled() {
        for share in [0, 1, 50, 99, 100] {
            let knobs = Knobs { hipri: true, hipri_percentage: share, ..Knobs::default() };
            let mut engine = Pvsync2::new(&knobs);
            let polled = (0..10_000).filter(|_| engine.flags(Op::Read) == libc::RWF_HIPRI).count();
            assert!(polled.abs_diff(share as usize * 100) < 150, "{polled} for {share} %");
        }
    }

    #[test]
    fn without_hipri_nothing_is_polled() {
        let knobs = Knobs { hipri_percentage: 100, ..Knobs::default() };
        let mut engine = Pvsync2::new(&knobs);
        assert!((0..100).all(|_| engine.flags(Op::Write) == 0));
    }
}
