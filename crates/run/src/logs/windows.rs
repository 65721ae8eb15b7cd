//! Windows of time: what came in each, from looks at the account.
//!
//! Nothing is done for a single I/O. Whoever looks subtracts what was counted
//! at the last look; no window is left out, and one in which nothing came is
//! all zero.

use iosonde_base::{DIRS, PerDir};
use iosonde_stats::{Counters, HistogramSnapshot, Lane, Moments};

/// Latencies of one kind in a window: how many, their sum and the largest, in
/// nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencySum {
    pub n: u64,
    pub sum: u64,
    pub max: u64,
}

/// What was counted for one direction: from the start, or in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub ios: u64,
    pub bytes: u64,
    pub slat: LatencySum,
    pub clat: LatencySum,
    pub lat: LatencySum,
}

/// What came in one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogWindow {
    /// When it ended, in nanoseconds since counting began.
    pub end_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    pub of: PerDir<Counts>,
}

/// Which thread reads the counters. The largest latency of a window can only be
/// taken by the thread that adds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadBy {
    /// The job's own thread, between slices.
    Job,
    /// Any other.
    Other,
}

/// The counts as they are now. `LatencySum::max` is the largest since the job's
/// own thread read them last.
pub fn look(counters: &Counters, by: ReadBy) -> PerDir<Counts> {
    let span = |moments: &Moments| LatencySum {
        max: match by {
            ReadBy::Job => moments.take_max(),
            ReadBy::Other => moments.recent_max(),
        },
        n: moments.snapshot().n,
        sum: moments.snapshot().sum as u64,
    };
    let counts = |lane: &Lane| Counts {
        ios: lane.ios.get(),
        bytes: lane.bytes.get(),
        slat: span(&lane.slat),
        clat: span(&lane.clat),
        lat: span(&lane.lat),
    };
    PerDir(DIRS.map(|dir| counts(counters.lane(dir))))
}

/// When the windows of one length end.
#[derive(Clone, Copy, Debug)]
pub struct WindowEnds {
    every_ns: u64,
    /// End of the last window that was closed.
    closed_ns: u64,
}

impl WindowEnds {
    /// Windows of `every_ns`, which is not zero.
    pub fn new(every_ns: u64) -> WindowEnds {
        WindowEnds { every_ns: every_ns.max(1), closed_ns: 0 }
    }

    /// When the present window ends.
    pub fn next_ns(&self) -> u64 {
        self.closed_ns.saturating_add(self.every_ns)
    }

    /// Ends and lengths of the windows that are over at `now_ns`.
    fn close(&mut self, now_ns: u64) -> Vec<(u64, u64)> {
        let mut closed = Vec::new();
        while self.next_ns() <= now_ns {
            self.closed_ns = self.next_ns();
            closed.push((self.closed_ns, self.every_ns));
        }
        closed
    }

    /// The same at the job's end, with what is left as a shorter last window.
    /// Less than a tenth of a window is joined to the one before: a runtime of
    /// 3 s has three windows of 1 s, although its end is never sharp.
    fn end(&mut self, now_ns: u64) -> Vec<(u64, u64)> {
        let mut closed = self.close(now_ns);
        let left = now_ns.saturating_sub(self.closed_ns);
        match closed.last_mut() {
            Some(last) if left < self.every_ns / 10 => last.1 += left,
            _ if left > 0 => closed.push((now_ns, left)),
            _ => {}
        }
        self.closed_ns = now_ns;
        closed
    }
}

/// Windows of counts.
#[derive(Debug)]
pub struct CountWindows {
    pub schedule: WindowEnds,
    last: PerDir<Counts>,
}

impl CountWindows {
    /// Windows of `every_ns` nanoseconds.
    pub fn new(every_ns: u64) -> CountWindows {
        CountWindows { schedule: WindowEnds::new(every_ns), last: PerDir::default() }
    }

    /// Close what is over at `now_ns`, when the account stood at `seen`.
    ///
    /// Whoever looks comes when the present window is over and before anything
    /// more is counted, or was kept from coming by an I/O that took longer than
    /// that; so what was counted came in the first window, but for that I/O.
    pub fn close(&mut self, now_ns: u64, seen: &PerDir<Counts>, closed: &mut Vec<LogWindow>) {
        let first_ns = self.schedule.next_ns();
        let ends = self.schedule.close(now_ns);
        let mut rest = PerDir(DIRS.map(|dir| delta(&seen[dir], &self.last[dir])));
        let mut base = *seen;
        if ends.len() > 1 {
            for dir in DIRS {
                let late = latecomer(&rest[dir], now_ns - first_ns);
                rest[dir] = less(&rest[dir], &late);
                base[dir] = less(&base[dir], &late);
            }
        }
        if !ends.is_empty() {
            self.last = base;
        }
        spread(&ends, rest, closed);
    }

    /// Close all that is left, at the job's end.
    pub fn end(&mut self, now_ns: u64, seen: &PerDir<Counts>, closed: &mut Vec<LogWindow>) {
        let mut ends = self.schedule.end(now_ns);
        let rest = PerDir(DIRS.map(|dir| delta(&seen[dir], &self.last[dir])));
        if ends.is_empty() && rest.0.iter().any(|counts| counts.ios > 0) {
            ends.push((now_ns, 1));
        }
        self.last = *seen;
        spread(&ends, rest, closed);
    }
}

/// What came goes to the first window, the others are empty.
fn spread(ends: &[(u64, u64)], came: PerDir<Counts>, closed: &mut Vec<LogWindow>) {
    for (at, &(end_ns, length_ns)) in ends.iter().enumerate() {
        let of = if at == 0 { came } else { PerDir::default() };
        closed.push(LogWindow { end_ns, length_ns, of });
    }
}

fn delta(now: &Counts, then: &Counts) -> Counts {
    let span = |now: &LatencySum, then: &LatencySum| {
        let n = now.n.saturating_sub(then.n);
        // A largest value that is older than the window does not belong to it.
        let max = if n == 0 { 0 } else { now.max };
        LatencySum { n, sum: now.sum.saturating_sub(then.sum), max }
    };
    Counts {
        ios: now.ios.saturating_sub(then.ios),
        bytes: now.bytes.saturating_sub(then.bytes),
        slat: span(&now.slat, &then.slat),
        clat: span(&now.clat, &then.clat),
        lat: span(&now.lat, &then.lat),
    }
}

/// The I/O that took longer than `wait_ns`, if one did: it came back only now.
/// With mixed sizes its bytes are taken for the mean.
fn latecomer(came: &Counts, wait_ns: u64) -> Counts {
    if came.ios == 0 || came.clat.max < wait_ns {
        return Counts::default();
    }
    let one = |span: &LatencySum| match span.n {
        0 => LatencySum::default(),
        _ => LatencySum { n: 1, sum: span.max.min(span.sum), max: span.max },
    };
    Counts {
        ios: 1,
        bytes: came.bytes / came.ios,
        slat: LatencySum::default(),
        clat: one(&came.clat),
        lat: one(&came.lat),
    }
}

fn less(all: &Counts, part: &Counts) -> Counts {
    let span = |all: &LatencySum, part: &LatencySum| {
        let n = all.n - part.n;
        LatencySum { n, sum: all.sum - part.sum, max: if n == 0 { 0 } else { all.max } }
    };
    Counts {
        ios: all.ios - part.ios,
        bytes: all.bytes - part.bytes,
        slat: span(&all.slat, &part.slat),
        clat: span(&all.clat, &part.clat),
        lat: span(&all.lat, &part.lat),
    }
}

/// The histograms of one window.
#[derive(Clone, Debug)]
pub struct HistogramWindow {
    /// When it ended, in nanoseconds since counting began.
    pub end_ns: u64,
    pub of: PerDir<HistogramSnapshot>,
}

/// Windows of histograms of completion latency.
#[derive(Debug)]
pub struct HistogramWindows {
    pub schedule: WindowEnds,
    last: PerDir<HistogramSnapshot>,
}

impl HistogramWindows {
    /// Windows of `every_ns` nanoseconds.
    pub fn new(every_ns: u64) -> HistogramWindows {
        HistogramWindows { schedule: WindowEnds::new(every_ns), last: PerDir::default() }
    }

    /// Close what is over at `now_ns`; everything, with `end`.
    pub fn close(
        &mut self,
        now_ns: u64,
        counters: &Counters,
        end: bool,
        closed: &mut Vec<HistogramWindow>,
    ) {
        let ends = if end { self.schedule.end(now_ns) } else { self.schedule.close(now_ns) };
        let Some((first, others)) = ends.split_first() else { return };
        let seen = PerDir(DIRS.map(|dir| match &counters.lane(dir).clat_histogram {
            Some(histogram) => histogram.snapshot(),
            None => HistogramSnapshot::default(),
        }));
        let of = PerDir(DIRS.map(|dir| seen[dir].since(&self.last[dir])));
        self.last = seen;
        closed.push(HistogramWindow { end_ns: first.0, of });
        for &(end_ns, _) in others {
            closed.push(HistogramWindow { end_ns, of: PerDir::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::Dir;

    const MS: u64 = 1_000_000;

    fn seen(ios: u64, bytes: u64, lat_sum: u64, lat_max: u64) -> PerDir<Counts> {
        let mut all = PerDir::default();
        let clat = LatencySum { n: ios, sum: lat_sum, max: lat_max };
        all[Dir::Read] = Counts { ios, bytes, clat, ..Counts::default() };
        all
    }

    fn ios(closed: &[LogWindow]) -> Vec<(u64, u64)> {
        closed.iter().map(|window| (window.end_ns / MS, window.of[Dir::Read].ios)).collect()
    }

    #[test]
    fn each_window_holds_what_came_in_it_and_none_is_left_out() {
        let mut windows = CountWindows::new(1000 * MS);
        let mut closed = Vec::new();
        windows.close(999 * MS, &seen(5, 500, 50, 20), &mut closed);
        assert!(closed.is_empty(), "not over yet");
        windows.close(1000 * MS, &seen(10, 1000, 100, 20), &mut closed);
        windows.close(2001 * MS, &seen(10, 1000, 100, 0), &mut closed);
        windows.close(3000 * MS, &seen(12, 1400, 180, 40), &mut closed);
        assert_eq!(ios(&closed), [(1000, 10), (2000, 0), (3000, 2)]);
        assert_eq!(closed[2].of[Dir::Read].bytes, 400);
        assert_eq!(closed[2].of[Dir::Read].clat, LatencySum { n: 2, sum: 80, max: 40 });
    }

    #[test]
    fn an_io_that_held_up_the_look_counts_when_it_came_back() {
        let mut windows = CountWindows::new(1000 * MS);
        let mut closed = Vec::new();
        let stall = 4500 * MS;
        windows.close(5200 * MS, &seen(8, 8 * 4096, stall + 7, stall), &mut closed);
        let expected = [(1000, 7), (2000, 0), (3000, 0), (4000, 0), (5000, 0)];
        assert_eq!(ios(&closed), expected);
        windows.close(6000 * MS, &seen(8, 8 * 4096, stall + 7, 0), &mut closed);
        assert_eq!(ios(&closed)[5], (6000, 1));
        assert_eq!(closed[5].of[Dir::Read].bytes, 4096);
        assert_eq!(closed[0].of[Dir::Read].clat.sum, 7);
    }

    #[test]
    fn the_end_leaves_a_shorter_window_unless_next_to_nothing_is_left() {
        let (mut windows, mut closed) = (CountWindows::new(1000 * MS), Vec::new());
        windows.close(1000 * MS, &seen(3, 3, 3, 1), &mut closed);
        windows.end(2300 * MS, &seen(5, 5, 5, 1), &mut closed);
        // The look came at the end, so all went to the first of its windows.
        assert_eq!(ios(&closed), [(1000, 3), (2000, 2), (2300, 0)]);

        let (mut windows, mut closed) = (CountWindows::new(1000 * MS), Vec::new());
        windows.close(1000 * MS, &seen(3, 3, 3, 1), &mut closed);
        windows.end(2001 * MS, &seen(5, 5, 5, 1), &mut closed);
        assert_eq!(ios(&closed), [(1000, 3), (2000, 2)]);
        assert_eq!(closed[1].length_ns, 1001 * MS);
    }

    #[test]
    fn histograms_of_windows_add_up_to_the_whole() {
        use iosonde_stats::{CountersWriter, WhichLatencies};
        let dirs = PerDir([true, false, false]);
        let (writer, counters) = CountersWriter::new(&WhichLatencies {
            syncs: true,
            slat: false,
            clat: true,
            lat: false,
            response: dirs,
            dirs,
        });
        let add = |ns| {
            let lane = writer.counters().lane(Dir::Read);
            lane.clat_histogram.as_ref().unwrap().add_many(ns, 1);
        };
        let (mut windows, mut closed) = (HistogramWindows::new(1000), Vec::new());
        add(10);
        windows.close(1000, &counters, false, &mut closed);
        add(10);
        add(5000);
        windows.close(3000, &counters, false, &mut closed);
        add(70);
        windows.close(3500, &counters, true, &mut closed);
        let totals: Vec<(u64, u64)> =
            closed.iter().map(|window| (window.end_ns, window.of[Dir::Read].total())).collect();
        assert_eq!(totals, [(1000, 1), (2000, 2), (3000, 0), (3500, 1)]);
    }
}
