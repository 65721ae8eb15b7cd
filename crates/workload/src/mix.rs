//! Which direction a mixed job moves data in next.

use iosonde_base::Dir;

use crate::random::Draws;
use crate::spec::Directions;
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
}

impl Mix {
    /// Decides for these directions; none if there is no direction.
    pub fn new(directions: Directions, reads: u32, seeds: &Seeds) -> Option<Mix> {
        Some(match (directions.read, directions.write, directions.trim) {
            (true, true, false) => Mix::ReadWrite {
                reads,
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
}
