//! I/Os of a log to be drawn one by one: all of the longest, and some of the others.

use iosonde_base::Dir;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The longest that are kept: of ten million I/Os one in a thousand.
const LONGEST: usize = 10_000;
/// Others that are kept.
const OTHERS: usize = 10_000;

/// One I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogDot {
    /// Its latency.
    pub ns: u64,
    /// When, since the origin.
    pub time_ms: u64,
    /// Where, if the log has offsets.
    pub offset: Option<u64>,
    /// Its direction.
    pub dir: Dir,
}

/// A sample of the I/Os of some logs. The same logs give the same sample.
#[derive(Clone, Debug, Default)]
pub struct DotSample {
    seen: u64,
    others: Vec<LogDot>,
    longest: BinaryHeap<Reverse<LogDot>>,
    random: u64,
}

impl DotSample {
    /// Add an I/O.
    pub fn add(&mut self, dot: LogDot) {
        self.seen += 1;
        if self.longest.len() < LONGEST {
            self.longest.push(Reverse(dot));
        } else if let Some(mut shortest) = self.longest.peek_mut()
            && dot.ns > shortest.0.ns
        {
            *shortest = Reverse(dot);
        }
        // Vitter, 1985, algorithm R: each I/O is kept with the same chance.
        if self.others.len() < OTHERS {
            self.others.push(dot);
        } else {
            let place = self.draw() % self.seen;
            if let Some(kept) = usize::try_from(place).ok().and_then(|at| self.others.get_mut(at)) {
                *kept = dot;
            }
        }
    }

    /// splitmix64 (Steele et al., 2014).
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// How many I/Os there were.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The shortest of those that are all there; `None` if all I/Os are.
    pub fn all_from_ns(&self) -> Option<u64> {
        (self.seen > OTHERS as u64).then(|| self.longest.peek().map_or(0, |dot| dot.0.ns))
    }

    /// The I/Os that are kept, the longest last.
    pub fn dots(&self) -> Vec<LogDot> {
        let from = self.all_from_ns().unwrap_or(u64::MAX);
        let mut dots: Vec<LogDot> =
            self.others.iter().copied().filter(|dot| dot.ns < from).collect();
        if from < u64::MAX {
            dots.extend(self.longest.iter().map(|dot| dot.0));
        }
        iosonde_base::sort(&mut dots);
        dots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(ns: u64) -> LogDot {
        LogDot { ns, time_ms: 0, offset: None, dir: Dir::Read }
    }

    #[test]
    fn all_of_the_longest_are_there_and_the_others_from_everywhere() {
        let mut sample = DotSample::default();
        let total = 200_000u64;
        (0..total).for_each(|n| sample.add(dot((n * 7919) % total)));
        let dots = sample.dots();
        assert!(dots.len() <= LONGEST + OTHERS, "{}", dots.len());
        let longest: Vec<u64> = dots[dots.len() - 200..].iter().map(|dot| dot.ns).collect();
        assert_eq!(longest, (total - 200..total).collect::<Vec<_>>());
        let low = dots.iter().filter(|dot| dot.ns < total / 2).count();
        assert!((4000..6000).contains(&low), "{low}");
    }

    #[test]
    fn few_are_all_there_once() {
        let mut sample = DotSample::default();
        (0..500).for_each(|ns| sample.add(dot(ns)));
        assert_eq!(sample.dots().len(), 500);
        assert_eq!(sample.all_from_ns(), None);
    }
}
