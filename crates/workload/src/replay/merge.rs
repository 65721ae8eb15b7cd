//! Several traces of block devices made one, in the order of time (fio(1), "I/O
//! replay - merging traces").

use super::LogError;
use super::blktrace::{Event, events, write};

/// A trace to be merged.
#[derive(Clone, Copy, Debug)]
pub struct Strand<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// How long it takes, in percent of the time recorded; 50 is half the time
    /// (`merge_blktrace_scalars`).
    pub time_percent: f64,
    /// How often it is done, one time after the other
    /// (`merge_blktrace_iters`).
    pub times: u32,
}

/// One trace with the queued I/Os of all, which begin together, at zero. Those
/// of one moment are in the order of the traces.
///
/// # Errors
/// The number of the file that is no trace, and why.
pub fn merge(strands: &[Strand<'_>]) -> Result<Vec<u8>, (usize, LogError)> {
    let mut all: Vec<Event> = Vec::new();
    for (index, strand) in strands.iter().enumerate() {
        let mut events = events(strand.bytes).map_err(|error| (index, error))?;
        events.retain(Event::is_queued);
        let times = || events.iter().map(|event| event.time_ns);
        let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        let scaled = |ns: u64| (ns as f64 * strand.time_percent / 100.0).round() as u64;
        let span = scaled(last - first);
        for turn in 0..u64::from(strand.times) {
            let began = turn.saturating_mul(span);
            all.extend(events.iter().map(|event| Event {
                time_ns: began.saturating_add(scaled(event.time_ns - first)),
                ..*event
            }));
        }
    }
    // Stable, so that each trace keeps its order.
    all.sort_by_key(|event| event.time_ns);
    let mut bytes = Vec::with_capacity(all.len() * super::blktrace::RECORD_BYTES);
    all.iter().zip(1..).for_each(|(event, sequence)| write(event, sequence, &mut bytes));
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUED: u32 = 1;

    /// A trace of I/Os at these moments, at sectors from `sector` on.
    fn trace(moments: &[u64], sector: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (n, &time_ns) in (0..).zip(moments) {
            let event = Event {
                time_ns,
                sector: sector + n,
                bytes: 512,
                action: QUEUED,
                ..Event::default()
            };
            write(&event, n as u32, &mut bytes);
        }
        bytes
    }

    fn times(merged: &[u8]) -> Vec<(u64, u64)> {
        events(merged).unwrap().iter().map(|event| (event.time_ns, event.sector)).collect()
    }

    fn strand(bytes: &[u8], time_percent: f64, times: u32) -> Strand<'_> {
        Strand { bytes, time_percent, times }
    }

    #[test]
    fn all_begin_together_and_are_put_in_order() {
        let (one, other) = (trace(&[1000, 1010, 1020], 0), trace(&[5, 15, 16], 100));
        let merged = merge(&[strand(&one, 100.0, 1), strand(&other, 100.0, 1)]).unwrap();
        let wanted = [(0, 0), (0, 100), (10, 1), (10, 101), (11, 102), (20, 2)];
        assert_eq!(times(&merged), wanted);
    }

    #[test]
    fn half_the_time_twice_takes_as_long() {
        let (one, other) = (trace(&[100, 200], 0), trace(&[0, 100], 100));
        let merged = merge(&[strand(&one, 50.0, 2), strand(&other, 100.0, 1)]).unwrap();
        let wanted = [(0, 0), (0, 100), (50, 1), (50, 0), (100, 1), (100, 101)];
        assert_eq!(times(&merged), wanted);
    }

    #[test]
    fn what_is_no_trace_is_named() {
        let one = trace(&[1], 0);
        let error = merge(&[strand(&one, 100.0, 1), strand(b"text", 100.0, 1)]).unwrap_err();
        assert_eq!(error.0, 1);
        assert!(merge(&[]).unwrap().is_empty());
    }
}
