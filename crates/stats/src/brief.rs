//! Many short latencies counted at once, in half the instructions.
//!
//! They fit 24 bits, so that sums need no carry, and a number in single precision
//! shows the bucket in its upper bits. Each step is a loop that the compiler makes
//! vectors of.

use crate::histogram::brief_bucket;
use crate::{Histogram, Moments};

/// Latencies in nanoseconds that are counted together. Each is shorter than
/// 16.7 ms.
#[derive(Debug)]
pub struct BriefLatencies {
    ns: [u32; BriefLatencies::MOST],
    buckets: [u32; BriefLatencies::MOST],
}

impl Default for BriefLatencies {
    fn default() -> BriefLatencies {
        let none = [0; BriefLatencies::MOST];
        BriefLatencies { ns: none, buckets: none }
    }
}

impl BriefLatencies {
    /// So many at a time at most.
    pub const MOST: usize = 64;

    /// Nanoseconds: 16.7 ms.
    pub(crate) const BOUND: u32 = 1 << 24;

    /// Where to put them: [`BriefLatencies::count`] counts the first of these.
    #[inline(always)]
    pub fn ns_mut(&mut self) -> &mut [u32; BriefLatencies::MOST] {
        &mut self.ns
    }

    /// Put one latency at place `at`, if it is short enough: whether it is.
    #[inline(always)]
    pub fn put(&mut self, at: usize, ns: u64) -> bool {
        self.ns[at % BriefLatencies::MOST] = ns as u32;
        ns < BriefLatencies::BOUND.into()
    }

    /// Count the first `count`, each once.
    ///
    /// # Panics
    /// If there are more than [`BriefLatencies::MOST`].
    #[inline(never)]
    pub fn count(&mut self, count: usize, moments: &Moments, histogram: Option<&Histogram>) {
        let ns = &self.ns[..count];
        debug_assert!(ns.iter().all(|ns| *ns < BriefLatencies::BOUND));
        moments.add_brief(ns);
        let Some(histogram) = histogram else { return };
        let buckets = &mut self.buckets[..count];
        for (bucket, ns) in buckets.iter_mut().zip(ns) {
            *bucket = brief_bucket(*ns);
        }
        histogram.add_brief(ns, buckets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::{BRIEF_BUCKETS, bucket};

    #[test]
    fn the_bucket_of_a_short_latency_is_that_of_any() {
        let edges = (0..24).flat_map(|bit| [(1u32 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        let all = (0..100_000).chain(edges).chain((0..1 << 24).step_by(997));
        for ns in all.chain([BriefLatencies::BOUND - 1]) {
            assert_eq!(brief_bucket(ns) as usize, bucket(ns.into()), "{ns}");
        }
        assert!(bucket((BriefLatencies::BOUND - 1).into()) < BRIEF_BUCKETS);
    }

    #[test]
    fn short_latencies_are_counted_as_any() {
        let [one, all] = [(); 2].map(|()| (Moments::default(), Histogram::default()));
        let mut brief = BriefLatencies::default();
        let mut ns = 1u32;
        for batch in 0..1000 {
            // Of every magnitude, above all at the borders of fio's classes.
            let count = batch % (BriefLatencies::MOST + 1);
            for place in &mut brief.ns_mut()[..count] {
                ns = ns.wrapping_mul(69069) + 1;
                *place = match ns >> 30 {
                    0 => crate::histogram::CLASS_BORDERS[ns as usize % 21] as u32 - (ns >> 8) % 2,
                    _ => (ns % BriefLatencies::BOUND) >> ((ns >> 24) % 24),
                };
                one.0.add((*place).into());
                one.1.add_many((*place).into(), 1);
            }
            brief.count(count, &all.0, Some(&all.1));
            assert_eq!(all.0.snapshot(), one.0.snapshot());
            assert_eq!(all.1.snapshot(), one.1.snapshot());
        }
    }
}
