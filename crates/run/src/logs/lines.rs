//! Lines of logs, in fio's form: `time, value, direction, block size[, offset],
//! priority[, issue time]`.

use super::windows::{Counts, HistogramWindow, LatencySum, LogWindow};
use super::{HistogramPlan, LogColumns, LogKind, Value};
use iosonde_base::text::{put_next_number, put_number};
use iosonde_base::{DIRS, PerDir};
use iosonde_engine::Record;

/// fio's bins of a histogram.
const FIO_BINS: usize = 1856;

/// One I/O, its times in nanoseconds since the job's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedIo {
    pub end_ns: u64,
    pub offset: u64,
    pub slat_ns: u64,
    pub clat_ns: u64,
    pub len: u32,
    pub dir: u16,
    /// Its own priority; 0 for the job's.
    pub prio: u16,
}

/// The entries of a chunk; `ns` makes nanoseconds since the start of ticks.
pub fn entries(chunk: &[Record], ns: impl Fn(u64) -> u64) -> impl Iterator<Item = LoggedIo> {
    let mut rest = chunk.iter();
    std::iter::from_fn(move || {
        let &Record { end, offset, slat, clat, len, dir, prio } = rest.next()?;
        let (slat_ns, clat_ns) = match clat {
            Record::TOO_LONG => {
                let long = rest.next()?;
                (long.end, long.offset)
            }
            _ => (slat.into(), clat.into()),
        };
        Some(LoggedIo { end_ns: ns(end), offset, slat_ns, clat_ns, len, dir, prio })
    })
}

/// The line of one I/O. `epoch_ms` is added to its time.
pub fn of_io(
    out: &mut Vec<u8>,
    kind: LogKind,
    entry: &LoggedIo,
    epoch_ms: u64,
    columns: &LogColumns,
) {
    let &LoggedIo { end_ns, offset, slat_ns, clat_ns, len, dir, prio } = entry;
    let value = match kind {
        // fio's unit for one I/O is not that of a window: kB/s.
        LogKind::Bandwidth => u64::from(len).saturating_mul(1_000_000) / clat_ns.max(1),
        LogKind::Iops => 1,
        LogKind::Slat => slat_ns,
        LogKind::Clat => clat_ns,
        LogKind::Lat => slat_ns + clat_ns,
    };
    // fio knows it where it is logged with the latency it begins or ends.
    let issued_ns = match kind {
        LogKind::Slat | LogKind::Clat => end_ns.saturating_sub(clat_ns),
        _ => 0,
    };
    put_number(out, end_ns / 1_000_000 + epoch_ms);
    put_next_number(out, value);
    let priority = if prio == 0 { columns.priority } else { prio };
    ending(out, [dir.into(), len.into(), offset, issued_ns], &LogColumns { priority, ..*columns });
}

/// The lines of one window, one for each direction of the job.
pub fn of_window(
    out: &mut Vec<u8>,
    kind: LogKind,
    window: &LogWindow,
    (dirs, value): (&PerDir<bool>, Value),
    epoch_ms: u64,
    columns: &LogColumns,
) {
    for dir in DIRS.into_iter().filter(|&dir| dirs[dir]) {
        let [mean, max] = values(kind, &window.of[dir], window.length_ns);
        put_number(out, window.end_ns.div_ceil(1_000_000) + epoch_ms);
        put_next_number(out, if value == Value::Max { max } else { mean });
        if value == Value::Both {
            put_next_number(out, max);
        }
        ending(out, [dir as u64, 0, 0, 0], columns);
    }
}

/// A window's mean and largest. A rate is the same throughout a window.
fn values(kind: LogKind, counts: &Counts, length_ns: u64) -> [u64; 2] {
    let rate = |count: u64, unit: u64| {
        let per_second = u128::from(count) * 1_000_000_000;
        let length = u128::from(length_ns.max(1)) * u128::from(unit);
        ((per_second + length / 2) / length) as u64
    };
    let latency =
        |span: &LatencySum| [(span.sum + span.n / 2).checked_div(span.n).unwrap_or(0), span.max];
    match kind {
        LogKind::Bandwidth => [rate(counts.bytes, 1024); 2],
        LogKind::Iops => [rate(counts.ios, 1); 2],
        LogKind::Slat => latency(&counts.slat),
        LogKind::Clat => latency(&counts.clat),
        // With two stamps the total is the completion latency.
        LogKind::Lat if counts.lat.n == 0 => latency(&counts.clat),
        LogKind::Lat => latency(&counts.lat),
    }
}

/// The lines of one window's histograms, one for each direction of the job.
pub fn of_histograms(
    out: &mut Vec<u8>,
    window: &HistogramWindow,
    dirs: &PerDir<bool>,
    plan: &HistogramPlan,
    epoch_ms: u64,
) {
    for dir in DIRS.into_iter().filter(|&dir| dirs[dir]) {
        let mut bins = [0u64; FIO_BINS];
        for (at, count) in window.of[dir].counts().iter().enumerate() {
            // Ours go on past fio's last, which holds all that is longer.
            bins[at.min(FIO_BINS - 1)] += count;
        }
        put_number(out, window.end_ns.div_ceil(1_000_000) + epoch_ms);
        put_next_number(out, dir as u64);
        put_next_number(out, plan.block[dir].into());
        for joined in bins.chunks(1 << plan.coarseness) {
            put_next_number(out, joined.iter().sum());
        }
        out.push(b'\n');
    }
}

/// A line of `--bandwidth-log`.
pub fn of_all(out: &mut Vec<u8>, time_ms: u64, kib_per_s: u64, dir: u64) {
    put_number(out, time_ms);
    put_next_number(out, kib_per_s);
    [dir, 0, 0].into_iter().for_each(|value| put_next_number(out, value));
    out.push(b'\n');
}

fn ending(out: &mut Vec<u8>, [dir, block, offset, issued_ns]: [u64; 4], columns: &LogColumns) {
    put_next_number(out, dir);
    put_next_number(out, block);
    if columns.offset {
        put_next_number(out, offset);
    }
    if columns.whole_priority {
        out.extend_from_slice(format!(", 0x{:04x}", columns.priority).as_bytes())
    } else {
        put_next_number(out, u64::from(columns.priority >> 13 == 1))
    }
    if columns.issue_time {
        put_next_number(out, issued_ns);
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::Dir;

    const PLAIN: LogColumns =
        LogColumns { offset: false, issue_time: false, priority: 0, whole_priority: false };
    const ALL: LogColumns =
        LogColumns { offset: true, issue_time: true, priority: 0x4004, whole_priority: true };

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_of_an_io_has_fios_columns() {
        let entry = LoggedIo {
            end_ns: 2_500_000,
            offset: 8192,
            slat_ns: 84_019,
            clat_ns: 362_583,
            len: 4096,
            dir: 1,
            prio: 0,
        };
        let line = |kind, columns| text(|out| of_io(out, kind, &entry, 0, columns));
        // Values of `fio --ioengine=libaio --write_bw_log=y --write_lat_log=y`.
        assert_eq!(line(LogKind::Bandwidth, &PLAIN), "2, 11296, 1, 4096, 0\n");
        assert_eq!(line(LogKind::Lat, &PLAIN), "2, 446602, 1, 4096, 0\n");
        assert_eq!(line(LogKind::Iops, &PLAIN), "2, 1, 1, 4096, 0\n");
        assert_eq!(line(LogKind::Clat, &ALL), "2, 362583, 1, 4096, 8192, 0x4004, 2137417\n");
        assert_eq!(line(LogKind::Lat, &ALL), "2, 446602, 1, 4096, 8192, 0x4004, 0\n");
        let real_time = LogColumns { priority: 1 << 13 | 4, ..PLAIN };
        assert_eq!(line(LogKind::Slat, &real_time), "2, 84019, 1, 4096, 1\n");
    }

    #[test]
    fn a_window_has_a_line_for_each_direction_also_where_nothing_came() {
        let mut window =
            LogWindow { end_ns: 1_000_000_000, length_ns: 1_000_000_000, of: PerDir::default() };
        let clat = LatencySum { n: 3, sum: 100, max: 60 };
        window.of[Dir::Read] = Counts { ios: 3, bytes: 12288, clat, ..Counts::default() };
        let dirs = PerDir([true, true, false]);
        let lines =
            |kind, value| text(|out| of_window(out, kind, &window, (&dirs, value), 5000, &PLAIN));
        assert_eq!(
            lines(LogKind::Bandwidth, Value::Average),
            "6000, 12, 0, 0, 0\n6000, 0, 1, 0, 0\n"
        );
        assert_eq!(
            lines(LogKind::Lat, Value::Both),
            "6000, 33, 60, 0, 0, 0\n6000, 0, 0, 1, 0, 0\n"
        );
        assert_eq!(lines(LogKind::Clat, Value::Max), "6000, 60, 0, 0, 0\n6000, 0, 1, 0, 0\n");
    }

    #[test]
    fn long_latencies_come_out_whole() {
        let long = Record::TOO_LONG;
        let chunk = [
            Record { end: 5, offset: 6, slat: 1, clat: 2, len: 3, dir: 0, prio: 0 },
            Record { end: 7, offset: 8, slat: long, clat: long, len: 3, dir: 2, prio: 0x2002 },
            Record { end: 9, offset: 5 << 32, ..Record::default() },
        ];
        let read: Vec<(u64, u64, u64)> =
            entries(&chunk, |ticks| ticks).map(|e| (e.end_ns, e.slat_ns, e.clat_ns)).collect();
        assert_eq!(read, [(5, 1, 2), (7, 9, 5 << 32)]);
        assert_eq!(entries(&chunk, |ticks| ticks).map(|e| e.prio).max(), Some(0x2002));
    }
}
