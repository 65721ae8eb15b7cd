//! pvsync2: preadv2(2)/pwritev2(2), with their flags.
#![allow(unsafe_code)]

use super::offload::{Alone, pool_of};
use super::rw_flags::RwFlags;
use super::{CAPS, bytes};
use super::{always, one_shot, trim};
use crate::{Caps, EngineDef, EngineOptionTable, Io, JobContext, OneShot, OwnOptions, OwnSettings};
use iosonde_base::{Errno, Op};
use iosonde_options::{Category, Diagnostic, options};

/// Catalogue entry.
pub(crate) static PVSYNC2: EngineDef = EngineDef {
    name: "pvsync2",
    aliases: &[],
    summary: "preadv2(2), pwritev2(2)",
    doc: "preadv2(2) and pwritev2(2): as pvsync, with flags for each I/O: polled, without \
          waiting, uncached, atomic.",
    caps: Caps { atomic: true, ..CAPS },
    options: Some(&OPTIONS),
    offload: Some(|with, accounting| {
        pool_of(with, accounting, |with| Ok(Alone(Pvsync2::new(&with.settings.of()))))
    }),
    available: always,
    open: |with, accounting| Ok(one_shot(Pvsync2::new(&with.settings.of()), accounting)),
};

options! {
    /// pvsync2
    struct Pvsync2Options in Category::Engine {
        /// Poll for completions rather than wait for interrupts (RWF_HIPRI).
        hipri: bool = "0" as "hipri" {
            bare: Some("1"),
        }
        /// Share of I/Os that `hipri` holds for, in percent.
        hipri_percentage: u32 = "100" as "hipri_percentage" {
            min: Some(0),
            max: Some(100),
            good: &["0", "50", "100"],
            bad: &["101", "some"],
        }
        /// Drop pages from the page cache once they are read or written (RWF_DONTCACHE).
        uncached: u32 = "0" as "uncached" {
            good: &["0", "1"],
        }
        /// Fail with EAGAIN rather than wait (RWF_NOWAIT).
        nowait: bool = "0" as "nowait" {}
    }
}

static OPTIONS: EngineOptionTable =
    EngineOptionTable::of::<Pvsync2Options>(Pvsync2Options::OPTIONS);

/// The flags of reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pvsync2Settings {
    /// Percentage of I/Os that are polled for (RWF_HIPRI).
    pub polled_percent: u32,
    /// RWF_NOWAIT: fail with EAGAIN rather than wait.
    pub nowait: bool,
    /// RWF_DONTCACHE: drop pages from the page cache after use.
    pub uncached: bool,
    /// RWF_ATOMIC: writes are atomic (the core option `atomic`).
    pub atomic: bool,
}

impl OwnSettings for Pvsync2Settings {}

impl OwnOptions for Pvsync2Options {
    type Settings = Pvsync2Settings;

    fn settings(&self, job: &JobContext) -> Result<Pvsync2Settings, Diagnostic> {
        Ok(Pvsync2Settings {
            polled_percent: if *self.hipri.get() { *self.hipri_percentage.get() } else { 0 },
            nowait: *self.nowait.get(),
            uncached: *self.uncached.get() != 0,
            atomic: job.atomic,
        })
    }
}

pub(super) struct Pvsync2 {
    plain: RwFlags,
    polled: RwFlags,
    /// Percentage of I/Os that are polled.
    polled_share: u32,
    /// What draws which: any sequence would do, this one is the same each run.
    draws: u32,
}

impl Pvsync2 {
    pub(super) fn new(settings: &Pvsync2Settings) -> Pvsync2 {
        let plain = RwFlags::default()
            .nowait(settings.nowait)
            .uncached(settings.uncached)
            .atomic(settings.atomic);
        let polled_share = settings.polled_percent;
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
            let settings = Pvsync2Settings { polled_percent: share, ..Pvsync2Settings::default() };
            let mut engine = Pvsync2::new(&settings);
            let polled = (0..10_000).filter(|_| engine.flags(Op::Read) == libc::RWF_HIPRI).count();
            assert!(polled.abs_diff(share as usize * 100) < 150, "{polled} for {share} %");
        }
    }

    #[test]
    fn without_hipri_nothing_is_polled() {
        let settings = Pvsync2Settings::default();
        let mut engine = Pvsync2::new(&settings);
        assert!((0..100).all(|_| engine.flags(Op::Write) == 0));
    }

    #[test]
    fn a_refusal_is_explained_by_the_flags_that_were_given() {
        let refused = |settings: &Pvsync2Settings| {
            Pvsync2::new(settings).explain(Op::Read, Errno::EOPNOTSUPP).unwrap_or_default()
        };
        assert_eq!(refused(&Pvsync2Settings::default()), "");
        for share in [1, 100] {
            let settings = Pvsync2Settings { polled_percent: share, ..Pvsync2Settings::default() };
            assert!(refused(&settings).contains("leave out hipri=1"), "{share} %");
        }
    }
}
