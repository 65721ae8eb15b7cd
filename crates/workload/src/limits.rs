//! When a pass over the files ends, when the job does, and whether another pass
//! begins.
//!
//! The rules are those of fio 3.42, which differ between engines that complete
//! an I/O at once and those with a queue (`crates/iosonde/tests/fio/exact.rs`).

use crate::spec::{Distribution, MapMode, SourceSpec};

/// What may still be issued.
#[derive(Debug)]
pub(crate) struct Limits {
    /// Bytes over all loops.
    job_left: u64,
    /// Bytes in this pass; without limit for engines that complete at once.
    pass_left: u64,
    pass_bytes: u64,
    /// I/Os over all loops.
    ios_left: u64,
    /// Bytes that one loop is to issue.
    wanted: u64,
    /// Bytes issued over the whole job, and in this pass.
    bytes: u64,
    bytes_in_pass: u64,
    /// Passes left, this one not counted.
    loops_left: u64,
    /// The largest block of any direction.
    largest: u64,
    io_size_given: bool,
    /// Passes leave holes, and what they wrote is read back and counts as much.
    holes_read_back: bool,
    time_based: bool,
}

impl Limits {
    pub fn new(spec: &SourceSpec) -> Limits {
        // A trim and its write count as one I/O of the limits.
        let twice = if spec.directions.trim_then_write { 2 } else { 1 };
        let over_loops = |one: u64| one.saturating_mul(spec.loops).saturating_mul(twice);
        let unless_timed = |limit: u64| if spec.time_based { u64::MAX } else { limit };
        let pass_bytes = spec.pass_bytes_most();
        Limits {
            job_left: unless_timed(over_loops(spec.total_bytes)),
            pass_left: pass_bytes,
            pass_bytes,
            ios_left: unless_timed(match spec.number_ios {
                0 => u64::MAX,
                ios => over_loops(ios),
            }),
            wanted: spec.total_bytes,
            bytes: 0,
            bytes_in_pass: 0,
            loops_left: spec.loops - 1,
            largest: spec.sizes.0.iter().map(|sizes| u64::from(sizes.max())).max().unwrap_or(0),
            io_size_given: spec.io_size_given,
            holes_read_back: spec.reads_back && spec.seq_add > 0 && !spec.directions.random,
            time_based: spec.time_based,
        }
    }

    /// Nothing more may be issued in the whole job.
    pub(crate) fn job_is_over(&self) -> bool {
        self.job_left == 0 || self.ios_left == 0
    }

    /// Nothing more may be issued in this pass.
    pub(crate) fn pass_is_over(&self) -> bool {
        self.pass_left == 0
    }

    /// How many I/Os of `len` bytes may be issued, `most` at most: the last may
    /// go past the limit.
    #[inline]
    pub fn room(&self, most: u64, len: u64) -> u64 {
        let bytes = self.job_left.min(self.pass_left);
        // The common case spares a division.
        let by_bytes = if bytes / most >= len { most } else { bytes.div_ceil(len) };
        most.min(self.ios_left).min(by_bytes)
    }

    /// The same of I/Os of any size of the job.
    #[inline]
    pub(crate) fn room_of_any(&self, most: u64) -> u64 {
        self.room(most, self.largest)
    }

    /// Note I/Os that have been planned.
    #[inline]
    pub fn issued(&mut self, ios: u64, bytes: u64) {
        self.bytes += bytes;
        self.bytes_in_pass += bytes;
        self.job_left = self.job_left.saturating_sub(bytes);
        self.pass_left = self.pass_left.saturating_sub(bytes);
        self.ios_left = self.ios_left.saturating_sub(ios);
    }

    /// Issue so many more I/Os at most.
    pub(crate) fn end_after(&mut self, ios: u64) {
        self.ios_left = self.ios_left.min(ios);
    }

    /// Bytes issued over the whole job.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A pass has ended, because all files are done or its bytes are: whether
    /// there is another.
    pub(crate) fn another_pass(&self, files_done: bool) -> bool {
        // A pass that found nothing to do would find nothing again.
        self.bytes_in_pass > 0
            && (self.time_based || self.loops_left > 0 || self.bytes_are_missing(files_done))
    }

    fn bytes_are_missing(&self, files_done: bool) -> bool {
        let moved = if self.holes_read_back { 2 * self.bytes } else { self.bytes };
        let missing = self.wanted.saturating_sub(moved);
        let goes_on = self.io_size_given || self.holes_read_back || !files_done;
        self.ios_left > 0 && missing > 0 && missing >= self.largest && goes_on
    }

    /// For the next pass.
    pub(crate) fn begin_pass(&mut self) {
        self.loops_left = self.loops_left.saturating_sub(1);
        self.pass_left = self.pass_bytes;
        self.bytes_in_pass = 0;
    }
}

impl SourceSpec {
    /// Bytes after which a pass ends; `u64::MAX` for no limit of its own. A job that ends by time
    /// has one where it verifies what it wrote: it reads that back after each pass, and with
    /// `verify_backlog` what is read on the way counts as much as what is written.
    pub fn pass_bytes_most(&self) -> u64 {
        if !self.queued || (self.time_based && !(self.verify && self.directions.write)) {
            return u64::MAX;
        }
        // A trim and its write count as one I/O of the limits.
        let twice = self.directions.trim_then_write || (self.time_based && self.reads_back_among);
        pass_bytes(self).saturating_mul(if twice { 2 } else { 1 })
    }
}

/// Bytes after which a queued engine ends a pass: `size`, or `io_size` where
/// that is more and the job writes in order, or at random without a map.
fn pass_bytes(spec: &SourceSpec) -> u64 {
    let once = spec.map != MapMode::Off
        && spec.distribution == Distribution::Random
        && spec.units_are_least();
    if spec.directions.write && !(spec.directions.random && once) {
        spec.size_bytes.max(spec.total_bytes)
    } else {
        spec.size_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(change: impl FnOnce(&mut SourceSpec)) -> Limits {
        let mut spec = SourceSpec { total_bytes: 10_000, ..SourceSpec::default() };
        change(&mut spec);
        Limits::new(&spec)
    }

    #[test]
    fn as_many_ios_fit_as_reach_the_limit() {
        let mut all = limits(|_| {});
        assert_eq!((all.room(8, 4096), all.room(2, 4096)), (3, 2), "the last goes past it");
        assert_eq!(all.room(8, 1250), 8);
        all.issued(2, 8192);
        assert_eq!((all.bytes(), all.room(8, 4096)), (8192, 1));
        assert!(!all.job_is_over());
        all.issued(1, 4096);
        assert!(all.job_is_over() && !all.pass_is_over());
        assert_eq!(all.room(8, 4096), 0);
        let mut near = limits(|spec| spec.total_bytes = 63);
        assert_eq!((near.room(64, 16), near.room(3, 16), near.room(4, 16)), (4, 3, 4));
        near.largest = 32;
        assert_eq!((near.room_of_any(64), near.room_of_any(1)), (2, 1));
        let few = limits(|spec| spec.number_ios = 2);
        assert_eq!(few.room(8, 1), 2);
    }

    #[test]
    fn a_trim_and_its_write_count_as_one_of_the_limits() {
        let twice = limits(|spec| {
            spec.directions.trim_then_write = true;
            spec.number_ios = 2;
        });
        assert_eq!((twice.room(100, 4096), twice.room(100, 100_000)), (4, 1));
    }

    #[test]
    fn a_pass_that_did_nothing_is_the_last() {
        let mut looping = limits(|spec| spec.loops = 3);
        assert!(!looping.another_pass(true), "it would find nothing again");
        for left in [true, true, false] {
            looping.issued(3, 12_288);
            assert_eq!(looping.another_pass(true), left);
            looping.begin_pass();
        }
        let mut timed = limits(|spec| spec.time_based = true);
        for _ in 0..10 {
            assert!(!timed.another_pass(true));
            timed.issued(1, 1);
            assert!(timed.another_pass(true) && !timed.job_is_over());
            timed.begin_pass();
        }
    }

    #[test]
    fn passes_go_on_until_io_size_is_moved_but_for_less_than_a_block() {
        let of = |bytes, files_done, io_size_given| {
            let mut limits = limits(|spec| {
                spec.io_size_given = io_size_given;
                spec.total_bytes = 12_288;
            });
            limits.issued(1, bytes);
            limits.another_pass(files_done)
        };
        assert!(of(8192, true, true) && !of(8192, true, false));
        assert!(of(8192, false, false), "the files are not done");
        assert!(!of(8193, true, true), "less than a block is missing");
        assert!(!of(12_288, false, true));
        // What is written and read back counts twice, where passes leave holes.
        let with_holes = |bytes| {
            let mut limits = limits(|spec| {
                (spec.reads_back, spec.seq_add) = (true, 4096);
                spec.total_bytes = 16_384;
            });
            limits.issued(1, bytes);
            limits.another_pass(true)
        };
        assert!(with_holes(4096) && !with_holes(8192) && !with_holes(6145));
    }

    #[test]
    fn a_queued_pass_is_as_long_as_the_files_or_as_io_size() {
        let pass = |change: fn(&mut SourceSpec)| {
            let mut spec = SourceSpec {
                total_bytes: 40_960,
                size_bytes: 8192,
                queued: true,
                ..SourceSpec::default()
            };
            change(&mut spec);
            let mut limits = Limits::new(&spec);
            limits.issued(2, 8192);
            limits.pass_is_over()
        };
        assert!(pass(|_| {}), "reads");
        assert!(!pass(|spec| spec.directions.write = true), "writes in order");
        assert!(pass(|spec| (spec.directions.write, spec.directions.random) = (true, true)));
        assert!(!pass(|spec| {
            (spec.directions.write, spec.directions.random) = (true, true);
            spec.map = MapMode::Off;
        }));
        assert!(!pass(|spec| {
            (spec.directions.write, spec.directions.random) = (true, true);
            spec.distribution = Distribution::Zipf { theta: 1.1, center: None };
        }));
        assert!(!pass(|spec| {
            (spec.directions.write, spec.directions.random) = (true, true);
            spec.align.0 = [8192; 3];
        }));
        assert!(!pass(|spec| spec.queued = false), "no limit of its own");
    }

    #[test]
    fn a_job_that_ends_by_time_and_verifies_has_passes_too() {
        let pass = |change: fn(&mut SourceSpec)| {
            let mut spec = SourceSpec {
                total_bytes: 8192,
                size_bytes: 8192,
                queued: true,
                time_based: true,
                verify: true,
                ..SourceSpec::default()
            };
            spec.directions.write = true;
            change(&mut spec);
            spec.pass_bytes_most()
        };
        assert_eq!(pass(|_| {}), 8192);
        assert_eq!(pass(|spec| spec.reads_back_among = true), 16_384, "reads count as well");
        assert_eq!(pass(|spec| spec.verify = false), u64::MAX);
        assert_eq!(pass(|spec| spec.directions.write = false), u64::MAX, "a job that reads");
        assert_eq!(pass(|spec| spec.queued = false), u64::MAX);
    }
}
