//! I/Os that completed one by one and are not counted yet: counting some of one
//! kind at once takes half the work of counting each.

use iosonde_base::RING;
use iosonde_stats::{Counters, Lane, Moments};

/// How long an I/O took, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Took {
    /// From start to issue.
    pub(super) slat: u64,
    /// From issue.
    pub(super) clat: u64,
    /// From start.
    pub(super) lat: u64,
    /// From the moment it was due.
    pub(super) response: u64,
}

/// Which I/Os are counted alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Alike {
    pub(super) lane: usize,
    pub(super) len: u32,
    /// That they were issued is counted with them, not before.
    pub(super) with_issue: bool,
}

/// I/Os that are counted alike.
#[derive(Debug)]
pub(super) struct Noted {
    took: Box<[Took; RING]>,
    count: usize,
    alike: Alike,
}

impl Default for Noted {
    fn default() -> Noted {
        Noted { took: Box::new([Took::default(); RING]), count: 0, alike: Alike::default() }
    }
}

impl Noted {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Note one; those before it are counted if they are of another kind, or many.
    #[inline(always)]
    pub(super) fn add(&mut self, counters: &Counters, alike: Alike, took: Took) {
        if self.alike != alike || self.count == RING {
            self.count(counters);
            self.alike = alike;
        }
        self.took[self.count] = took;
        self.count += 1;
    }

    /// Count those that are noted.
    #[inline(never)]
    pub(super) fn count(&mut self, counters: &Counters) {
        let took = &self.took[..self.count];
        if took.is_empty() {
            return;
        }
        let (lane, ios) = (&counters.lanes[self.alike.lane], took.len() as u64);
        if self.alike.with_issue {
            lane.issued.add(ios);
            count_all(&lane.slat, &lane.slat_histogram, took.iter().map(|one| one.slat));
        }
        lane.ios.add(ios);
        lane.bytes.add(ios * u64::from(self.alike.len));
        count_all(&lane.clat, &lane.clat_histogram, took.iter().map(|one| one.clat));
        count_all(&lane.lat, &lane.lat_histogram, took.iter().map(|one| one.lat));
        self.count_responses(lane);
        self.count = 0;
    }

    fn count_responses(&self, lane: &Lane) {
        if lane.response_histogram.is_some() {
            let responses = self.took[..self.count].iter().map(|one| one.response);
            count_all(&lane.response, &lane.response_histogram, responses);
        }
    }
}

#[inline(always)]
#[allow(clippy::manual_inspect)] // It is slower.
fn count_all(
    moments: &Moments,
    histogram: &Option<iosonde_stats::Histogram>,
    values: impl Iterator<Item = u64>,
) {
    match histogram {
        None => moments.add_all(values),
        Some(histogram) => {
            let count = histogram.counter();
            moments.add_all(values.map(|value| {
                count(value);
                value
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::PerDir;
    use iosonde_stats::{CountersWriter, WhichLatencies};

    #[test]
    fn what_is_noted_is_counted_in_its_lane_with_its_length() {
        let which = WhichLatencies {
            slat: false,
            clat: true,
            lat: true,
            response: PerDir([true, false, false]),
            dirs: PerDir([true, true, false]),
            syncs: false,
        };
        let (writer, counters) = CountersWriter::new(&which);
        let mut noted = Noted::default();
        let took = |n: u64| Took { slat: 10, clat: n, lat: n + 10, response: n + 100 };
        let mut add = |lane, len, with_issue, n| {
            noted.add(writer.counters(), Alike { lane, len, with_issue }, took(n));
        };
        (0..70).for_each(|n| add(0, 4096, false, n));
        (0..3).for_each(|n| add(0, 512, true, n));
        add(1, 512, false, 7);
        assert!(!noted.is_empty());
        noted.count(writer.counters());
        noted.count(writer.counters());
        assert!(noted.is_empty());
        let [read, write, _] = counters.snapshot().lanes;
        assert_eq!((read.ios, read.bytes), (73, 70 * 4096 + 3 * 512));
        assert_eq!((read.issued, read.slat.n, read.slat.max), (3, 3, 10));
        assert_eq!((read.clat.n, read.clat.max, read.lat.min), (73, 69, 10));
        assert_eq!(read.response.max, 169);
        for histogram in [read.clat_histogram, read.lat_histogram, read.response_histogram] {
            assert_eq!(histogram.unwrap().total(), 73);
        }
        assert_eq!((write.ios, write.bytes, write.lat.max, write.response.n), (1, 512, 17, 0));
    }
}
