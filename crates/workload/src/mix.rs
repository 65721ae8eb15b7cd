//! Which direction a mixed job moves data in next.

use iosonde_base::{Dir, Planned};

use crate::pace::Pace;
use crate::random::Draws;
use crate::spec::SourceSpec;
use crate::streams::{Seeds, Stream};

/// Decides the direction of each I/O.
#[derive(Debug)]
pub(crate) enum Mix {
    /// Always the same.
    One(Dir),
    /// Reads and writes in proportion.
    ReadWrite {
        /// Reads in a hundred.
        reads: u32,
        /// The direction now.
        now: Dir,
        /// Keep it until it has had this many I/Os.
        until: u64,
        draws: Draws,
    },
    /// Reads and writes as each falls due.
    ByDue(Box<ByDue>),
}

/// A mix of which at least one direction has a pace: its own copy of the
/// schedule, in nanoseconds, which runs ahead of the one the loop keeps.
#[derive(Debug)]
pub(crate) struct ByDue {
    pace: Pace,
    /// The direction without a pace, if one has none.
    free: Option<Dir>,
    /// Since the pace began.
    elapsed_ns: u64,
}

impl ByDue {
    fn new(spec: &SourceSpec) -> Option<Box<ByDue>> {
        let capped = |dir: Dir| spec.pace.caps[dir].is_set();
        let free = match (capped(Dir::Read), capped(Dir::Write)) {
            (false, false) => return None,
            (true, true) => None,
            (true, false) => Some(Dir::Write),
            (false, true) => Some(Dir::Read),
        };
        let pace = Pace::new(&spec.pace, 1_000_000_000, spec.randseed, spec.thread_number);
        Some(Box::new(ByDue { pace, free, elapsed_ns: 0 }))
    }

    /// Whether both directions have a pace, so that time does not matter.
    pub fn of_both(&self) -> bool {
        self.free.is_none()
    }

    /// The direction of the next I/O, of `len` bytes whichever it is.
    #[inline(always)]
    pub fn take(&mut self, len: u32) -> Dir {
        let dir = self.next();
        self.pace.went(dir, len);
        dir
    }

    #[inline(always)]
    fn next(&self) -> Dir {
        let due = |dir| self.pace.due(dir);
        match self.free {
            None if due(Dir::Write) < due(Dir::Read) => Dir::Write,
            None => Dir::Read,
            Some(Dir::Read) if due(Dir::Write) <= self.elapsed_ns => Dir::Write,
            Some(Dir::Write) if due(Dir::Read) <= self.elapsed_ns => Dir::Read,
            Some(free) => free,
        }
    }
}

impl Mix {
    /// Decides for the directions of a job; none if it has no direction.
    pub fn new(spec: &SourceSpec, seeds: &Seeds) -> Option<Mix> {
        let (directions, caps) = (spec.directions, spec.pace.caps);
        Some(match (directions.read, directions.write, directions.trim) {
            // A direction without a share has no turn, whatever its pace.
            (true, true, false) if spec.rwmixread == 0 => Mix::One(Dir::Write),
            (true, true, false) if spec.rwmixread >= 100 => Mix::One(Dir::Read),
            (true, true, false) if caps[Dir::Read].is_set() || caps[Dir::Write].is_set() => {
                Mix::ByDue(ByDue::new(spec)?)
            }
            (true, true, false) => Mix::ReadWrite {
                reads: spec.rwmixread,
                now: Dir::Read,
                until: 0,
                draws: Draws::new(false, seeds.of(Stream::Mix)),
            },
            (true, false, false) => Mix::One(Dir::Read),
            (false, true, false) => Mix::One(Dir::Write),
            (false, _, true) => Mix::One(Dir::Trim),
            _ => return None,
        })
    }

    /// Draw the same numbers again.
    pub fn restart(&mut self, seeds: &Seeds) {
        if let Mix::ReadWrite { draws, .. } = self {
            *draws = Draws::new(false, seeds.of(Stream::Mix));
        }
    }

    /// The direction of the next I/O, `issued` I/Os of each having gone before.
    #[inline]
    pub fn next(&mut self, issued: &[u64; 3]) -> Dir {
        match self {
            Mix::One(dir) => *dir,
            Mix::ByDue(by_due) => by_due.next(),
            Mix::ReadWrite { reads, now, until, draws } => {
                if issued[*now as usize] >= *until {
                    let drawn = if draws.percent() <= *reads { Dir::Read } else { Dir::Write };
                    if drawn != *now {
                        // The new direction first catches up with its share
                        // of what the old one has had.
                        let share = if drawn == Dir::Read { *reads } else { 100 - *reads };
                        *until = issued[*now as usize] * u64::from(share) / 100;
                    }
                    *now = drawn;
                }
                *now
            }
        }
    }

    /// Note an I/O that has been planned.
    #[inline]
    pub fn went(&mut self, entry: &Planned) {
        if let (Mix::ByDue(by_due), Some(dir)) = (self, entry.op.dir()) {
            by_due.pace.went(dir, entry.len);
        }
    }

    /// Whether the next direction depends on how much time has passed, so
    /// that planning ahead would be guessing.
    #[inline]
    pub fn goes_by_now(&self) -> bool {
        matches!(self, Mix::ByDue(by_due) if by_due.free.is_some())
    }

    /// How much time has passed since the pace began.
    pub fn tell_elapsed(&mut self, ns: u64) {
        if let Mix::ByDue(by_due) = self {
            by_due.elapsed_ns = ns;
        }
    }
}
