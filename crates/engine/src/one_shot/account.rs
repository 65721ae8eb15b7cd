//! Counting I/Os that were done one at a time.

use crate::tape::Taping;
use iosonde_base::{Planned, RING};
use iosonde_stats::{BriefLatencies, Counters, Histogram, LANES, Lane, Moments};
use iosonde_sys::clock::Clock;

/// Record an I/O that was done whole, for logs.
#[inline(always)]
pub(super) fn tape_whole<T: Taping>(
    tape: &mut T,
    clock: &Clock,
    entry: &Planned,
    [issue, end]: [u64; 2],
) {
    let clat = clock.ticks_to_ns(end.wrapping_sub(issue));
    tape.add(end, entry.offset, entry.len, entry.op as u32, [0, clat]);
}

/// Count an I/O that was done whole, and took so many ticks. The total is the
/// service, with two stamps; account() knows.
#[inline(always)]
pub(super) fn count_whole(lane: &Lane, clock: &Clock, len: u32, took: u64) {
    lane.ios.add(1);
    lane.bytes.add(u64::from(len));
    let clat = clock.ticks_to_ns(took);
    lane.clat.add(clat);
    if let Some(histogram) = &lane.clat_histogram {
        histogram.add_many(clat, 1);
    }
}

/// So few are counted one by one: a loop over many begins and ends with more work.
pub(super) const FEW: usize = 8;

/// Count I/Os that were done whole: `took` is how many ticks lay between the
/// stamps of each. All entries are of one kind and size, if `alike`.
#[inline(always)]
pub(super) fn count_all(
    counters: &Counters,
    clock: &Clock,
    entries: &[Planned],
    alike: bool,
    took: &[u64],
    brief: &mut BriefLatencies,
) {
    let Some(first) = entries.first() else { return };
    if !alike || entries.len() < FEW {
        return count_any(counters, clock, entries, took, brief);
    }
    let (lane, ios) = (&counters.lanes[first.op as usize], entries.len() as u64);
    lane.ios.add(ios);
    lane.bytes.add(ios * u64::from(first.len));
    count_ticks(&lane.clat, &lane.clat_histogram, clock, took, brief);
}

/// The same of any entries.
#[inline(never)]
fn count_any(
    counters: &Counters,
    clock: &Clock,
    entries: &[Planned],
    took: &[u64],
    brief: &mut BriefLatencies,
) {
    if entries.len() < FEW || !clock.brief_ns(took, brief.ns_mut()) {
        for (entry, &took) in entries.iter().zip(took) {
            let lane = &counters.lanes[entry.op as usize];
            count_whole(lane, clock, entry.len, took);
        }
        return;
    }
    let (mut kinds, mut bytes) = (0u32, 0);
    for entry in entries {
        kinds |= 1 << entry.op as u32;
        bytes += u64::from(entry.len);
    }
    if kinds.is_power_of_two() {
        let lane = &counters.lanes[kinds.trailing_zeros() as usize];
        lane.ios.add(entries.len() as u64);
        lane.bytes.add(bytes);
        return brief.count(entries.len(), &lane.clat, lane.clat_histogram.as_ref());
    }
    // Each goes to the place after the last of its kind: without a branch that nobody could
    // foretell. The lanes, and one more, so that no index is checked.
    let mut apart = [[0; RING]; LANES + 1];
    let mut of_kind = [(0usize, 0u64); LANES + 1];
    for (entry, ns) in entries.iter().zip(brief.ns_mut()) {
        let kind = entry.op as usize % (LANES + 1);
        let (ios, bytes) = &mut of_kind[kind];
        apart[kind][*ios % RING] = *ns;
        *ios += 1;
        *bytes += u64::from(entry.len);
    }
    for ((lane, &(ios, bytes)), apart) in counters.lanes.iter().zip(&of_kind).zip(&apart) {
        if ios > 0 {
            lane.ios.add(ios as u64);
            lane.bytes.add(bytes);
            brief.ns_mut()[..ios].copy_from_slice(&apart[..ios]);
            brief.count(ios, &lane.clat, lane.clat_histogram.as_ref());
        }
    }
}

/// Count latencies of I/Os of one kind, given in ticks.
#[inline(always)]
pub(super) fn count_ticks(
    moments: &Moments,
    histogram: &Option<Histogram>,
    clock: &Clock,
    ticks: &[u64],
    brief: &mut BriefLatencies,
) {
    if clock.brief_ns(ticks, brief.ns_mut()) {
        brief.count(ticks.len(), moments, histogram.as_ref())
    } else {
        count_long(moments, histogram, clock, ticks)
    }
}

/// The same where one of them is long.
#[inline(never)]
#[allow(clippy::manual_inspect)] // It is slower.
fn count_long(moments: &Moments, histogram: &Option<Histogram>, clock: &Clock, ticks: &[u64]) {
    let clock = *clock;
    let latencies = ticks.iter().map(|&ticks| clock.ticks_to_ns(ticks));
    match histogram {
        None => moments.add_all(latencies),
        Some(histogram) => {
            let count = histogram.counter();
            // Not `inspect`, for which the compiler runs out of registers.
            moments.add_all(latencies.map(|ns| {
                count(ns);
                ns
            }));
        }
    }
}
