//! What the jobs of the other ranks do, at rank 0: from the counts that come with their signs of
//! life.

use iosonde_base::{DIRS, PerDir};
use iosonde_run::conductor::{HostCounts, OtherHosts};

/// What is known of a rank's jobs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RankRates {
    last: Option<HostCounts>,
    /// I/Os and bytes per second between the last two counts.
    rates: Option<[PerDir<f64>; 2]>,
}

impl RankRates {
    /// Its jobs have not started again: how fast they will be is not known.
    pub fn pause(&mut self) {
        self.end();
        self.rates = None;
    }

    /// Its jobs have ended: they do nothing more, which is known as well.
    pub fn end(&mut self) {
        self.rates = Some([PerDir([0.0; 3]); 2]);
        if let Some(last) = &mut self.last {
            (last.running, last.open_files) = (0, 0);
        }
    }

    /// Its counts have come. Each rank counts by its own clock, so that the time which they take
    /// on their way does not matter.
    pub fn hear(&mut self, counts: HostCounts) {
        if let Some(last) = self.last.replace(counts) {
            let seconds = counts.elapsed.since(last.elapsed).secs_f64();
            if seconds > 0.0 {
                let rate = |now: PerDir<u64>, then: PerDir<u64>| {
                    PerDir(DIRS.map(|dir| now[dir].saturating_sub(then[dir]) as f64 / seconds))
                };
                self.rates = Some([rate(counts.ios, last.ios), rate(counts.bytes, last.bytes)]);
            }
        }
    }
}

/// The sums over ranks.
pub(super) fn sum<'a>(ranks: impl Iterator<Item = &'a RankRates>) -> OtherHosts {
    ranks.fold(OtherHosts::default(), |mut sum, rank| {
        sum.hosts += 1;
        if let Some([iops, bytes_per_s]) = rank.rates {
            sum.heard += 1;
            for dir in DIRS {
                sum.iops[dir] += iops[dir];
                sum.bytes_per_s[dir] += bytes_per_s[dir];
            }
        }
        // What others say is not to be trusted.
        if let Some(HostCounts { running, open_files, ios, .. }) = rank.last {
            for dir in DIRS {
                sum.ios[dir] = sum.ios[dir].saturating_add(ios[dir]);
            }
            sum.running = sum.running.saturating_add(running);
            sum.open_files = sum.open_files.saturating_add(open_files);
        }
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::{Dir, Nanos};

    fn counts(second: u64, ios: u64, running: u32) -> HostCounts {
        HostCounts {
            elapsed: Nanos(second * 1_000_000_000),
            ios: PerDir([ios, 0, 0]),
            bytes: PerDir([ios * 4096, 0, 0]),
            running,
            open_files: running,
        }
    }

    #[test]
    fn rates_are_those_between_the_last_two_counts_of_each() {
        let mut ranks = [RankRates::default(); 3];
        ranks[0].hear(counts(1, 500, 2));
        // One count says how much, not how fast.
        assert_eq!(sum(ranks.iter()).heard, 0);
        assert_eq!(sum(ranks.iter()).running, 2);
        ranks[0].hear(counts(3, 700, 2));
        ranks[1].hear(counts(7, 0, 1));
        ranks[1].hear(counts(8, 50, 1));
        let all = sum(ranks.iter());
        assert_eq!((all.hosts, all.heard, all.running, all.open_files), (3, 2, 3, 3));
        assert_eq!((all.iops[Dir::Read], all.bytes_per_s[Dir::Read]), (150.0, 150.0 * 4096.0));
        assert_eq!((all.iops[Dir::Write], all.ios[Dir::Read]), (0.0, 750));
    }

    #[test]
    fn who_has_ended_does_nothing_more_and_is_known() {
        let mut rank = RankRates::default();
        rank.hear(counts(1, 500, 2));
        rank.end();
        let all = sum([rank].iter());
        assert_eq!((all.heard, all.running, all.iops[Dir::Read]), (1, 0, 0.0));
        assert_eq!(all.ios[Dir::Read], 500);
    }
}
