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
    ReadWrite(ReadWrite),
}

/// Reads and writes in proportion.
#[derive(Debug)]
pub(crate) struct ReadWrite {
    /// Reads in a hundred.
    reads: u32,
    /// The direction now.
    now: Dir,
    /// Keep it until it has had this many I/Os.
    until: u64,
    draws: Draws,
    schedule: Option<Box<Schedule>>,
}

/// The schedule of a mix of which at least one direction has a rate: a copy, in
/// nanoseconds, of the one the loop keeps.
#[derive(Debug)]
struct Schedule {
    pace: Pace,
    /// Since the job's pace began.
    elapsed_ns: u64,
}

impl Schedule {
    fn new(spec: &SourceSpec) -> Option<Box<Schedule>> {
        if !spec.pace.caps[Dir::Read].is_set() && !spec.pace.caps[Dir::Write].is_set() {
            return None;
        }
        let pace = Pace::new(&spec.pace, 1_000_000_000, spec.randseed, spec.thread_number);
        Some(Box::new(Schedule { pace, elapsed_ns: 0 }))
    }

    /// `drawn` if it is due; else the other direction if that is due; else the
    /// earlier of both, for which the loop then waits.
    fn take(&self, drawn: Dir) -> Dir {
        let other = if drawn == Dir::Read { Dir::Write } else { Dir::Read };
        let (due, other_due) = (self.pace.due(drawn), self.pace.due(other));
        if due > self.elapsed_ns && other_due < due { other } else { drawn }
    }
}

impl Mix {
    /// Decides for the directions of a job; none if it has no direction.
    pub fn new(spec: &SourceSpec, seeds: &Seeds) -> Option<Mix> {
        let directions = spec.directions;
        Some(match (directions.read, directions.write, directions.trim) {
            // A direction without a share has no turn, whatever its rate.
            (true, true, false) if spec.rwmixread == 0 => Mix::One(Dir::Write),
            (true, true, false) if spec.rwmixread >= 100 => Mix::One(Dir::Read),
            (true, true, false) => Mix::ReadWrite(ReadWrite {
                reads: spec.rwmixread,
                now: Dir::Read,
                until: 0,
                draws: draws(seeds),
                schedule: Schedule::new(spec),
            }),
            (true, false, false) => Mix::One(Dir::Read),
            (false, true, false) => Mix::One(Dir::Write),
            (false, _, true) => Mix::One(Dir::Trim),
            _ => return None,
        })
    }

    /// For the next pass: the direction stays, what it was to catch up does not.
    pub(crate) fn begin_pass(&mut self) {
        if let Mix::ReadWrite(mix) = self {
            mix.until = 0;
        }
    }

    /// Draw the same numbers again.
    pub fn restart(&mut self, seeds: &Seeds) {
        if let Mix::ReadWrite(mix) = self {
            mix.draws = draws(seeds);
        }
    }

    /// Make numbers many at once.
    pub(crate) fn draw_ahead(&mut self) {
        if let Mix::ReadWrite(mix) = self {
            mix.draws.make_ahead();
        }
    }

    /// The direction of the next I/O, after `issued` I/Os of each.
    #[inline(always)]
    pub fn next(&mut self, issued: &[u64; 3]) -> Dir {
        match self {
            Mix::One(dir) => *dir,
            Mix::ReadWrite(mix) => mix.next(issued),
        }
    }

    /// Note an I/O that has been planned.
    #[inline]
    pub fn issued(&mut self, entry: &Planned) {
        if let Mix::ReadWrite(ReadWrite { schedule: Some(schedule), .. }) = self
            && let Some(dir) = entry.op.dir()
        {
            schedule.pace.issued(dir, entry.len);
        }
    }

    /// Whether it both reads and writes.
    pub fn is_mixed(&self) -> bool {
        matches!(self, Mix::ReadWrite(_))
    }

    /// Whether the next direction depends on how much time has passed, so
    /// that planning ahead would be guessing.
    #[inline]
    pub fn depends_on_time(&self) -> bool {
        matches!(self, Mix::ReadWrite(ReadWrite { schedule: Some(_), .. }))
    }

    /// Note how much time has passed since the job's pace began.
    pub fn set_elapsed(&mut self, ns: u64) {
        if let Mix::ReadWrite(ReadWrite { schedule: Some(schedule), .. }) = self {
            schedule.elapsed_ns = ns;
        }
    }
}

impl ReadWrite {
    #[inline(always)]
    fn next(&mut self, issued: &[u64; 3]) -> Dir {
        if issued[self.now as usize] >= self.until {
            let drawn = if self.draws.percent() <= self.reads { Dir::Read } else { Dir::Write };
            if drawn != self.now {
                // The new direction first catches up with its share of what
                // the old one has had.
                let share = if drawn == Dir::Read { self.reads } else { 100 - self.reads };
                self.until = issued[self.now as usize] * u64::from(share) / 100;
            }
            self.now = drawn;
        }
        if let Some(schedule) = &self.schedule {
            self.now = schedule.take(self.now);
        }
        self.now
    }
}

fn draws(seeds: &Seeds) -> Draws {
    Draws::new(false, seeds.of(Stream::Mix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::Cap;

    fn mixed(change: impl FnOnce(&mut SourceSpec)) -> (SourceSpec, Seeds) {
        let mut spec = SourceSpec { rwmixread: 70, ..SourceSpec::default() };
        (spec.directions.read, spec.directions.write) = (true, true);
        change(&mut spec);
        let seeds = Seeds::new(spec.randseed, spec.thread_number);
        (spec, seeds)
    }

    #[test]
    fn a_direction_that_is_drawn_first_catches_up_with_its_share_of_the_other() {
        let (spec, seeds) = mixed(|_| {});
        let mut mix = Mix::new(&spec, &seeds).unwrap();
        assert!(mix.is_mixed() && !mix.depends_on_time());
        let mut numbers = draws(&seeds);
        let (mut issued, mut now, mut goal, mut passes) = ([0u64; 3], Dir::Read, 0, 0);
        for i in 1..10_000 {
            if i % 50 == 0 {
                // By chance alone there is little to catch up with.
                issued[Dir::Read as usize] += 100;
            }
            if goal > issued[now as usize] + 1 && i > 2000 * (passes + 1) {
                // The next pass draws the same numbers, and nothing is left to catch up.
                mix.begin_pass();
                mix.restart(&seeds);
                (numbers, goal, passes) = (draws(&seeds), 0, passes + 1);
            }
            if issued[now as usize] >= goal {
                let drawn = if numbers.percent() <= 70 { Dir::Read } else { Dir::Write };
                if drawn != now {
                    let share = if drawn == Dir::Read { 70 } else { 30 };
                    goal = issued[now as usize] * share / 100;
                }
                now = drawn;
            }
            assert_eq!(mix.next(&issued), now, "after {issued:?}");
            issued[now as usize] += 1;
        }
        assert!(passes > 2, "{passes} times there was something to catch up with");
    }

    #[test]
    fn of_two_rates_the_drawn_direction_has_its_turn_once_it_is_due() {
        let (spec, seeds) = mixed(|spec| {
            spec.pace.caps.0 = [Cap::Ios(1), Cap::Ios(2), Cap::Free];
        });
        assert!(Mix::new(&spec, &seeds).unwrap().depends_on_time());
        let mut schedule = Schedule::new(&spec).unwrap();
        let mut take = |elapsed_ns, issue: Option<Dir>| {
            schedule.elapsed_ns = elapsed_ns;
            if let Some(dir) = issue {
                schedule.pace.issued(dir, 4096);
            }
            [Dir::Read, Dir::Write].map(|drawn| schedule.take(drawn))
        };
        let (each, writes) = ([Dir::Read, Dir::Write], [Dir::Write; 2]);
        assert_eq!(take(0, None), each, "both are due");
        assert_eq!(take(0, Some(Dir::Read)), writes, "the next read is due after 1 s");
        assert_eq!(take(0, Some(Dir::Write)), writes, "and the write before it");
        assert_eq!(take(999_999_999, None), writes);
        assert_eq!(take(1_000_000_000, None), each);
        assert_eq!(take(0, Some(Dir::Write)), each, "both after 1 s");
    }
}
