//! Logs that are written and read back: what is in them, and nothing else.

#[path = "../../../fuzz/src/logs.rs"]
mod fuzzed;

use fuzzed::read_log;
use iosonde_base::Dir;
use iosonde_logs::{DotSample, LogContent, LogReadError, LogSum, LogType, TimeWindows};
use iosonde_testing::Mutations;
use proptest::prelude::*;
use std::fmt::Write;

fn sum() -> LogSum {
    LogSum { windows: TimeWindows::new(0, 1, 600), dots: DotSample::default() }
}

fn content(text: &str, log_type: LogType, sum: &mut LogSum) -> LogContent {
    read_log(text.as_bytes(), log_type, sum).unwrap().unwrap()
}

/// 90 % of 100 us, 10 % of 10 ms; in microseconds, as the reader is set.
fn bimodal(rows: u64) -> String {
    let mut text = String::new();
    for row in 0..rows {
        let us = if row % 10 == 9 { 10_000 } else { 100 };
        writeln!(text, "{}, {us}, 0, 4096, {}, 0", row / 10, row * 4096).unwrap();
    }
    text
}

#[test]
fn two_modes_are_two_bands_and_p95_is_the_slow_one() {
    let mut sum = sum();
    let content = content(&bimodal(20_000), LogType::Clat, &mut sum);
    let latency = content.dirs[Dir::Read].latency.as_ref().unwrap();
    assert_eq!((latency.n, latency.max_ns), (20_000, 10_000_000));
    let near = |ns: u64, wanted: u64| ns.abs_diff(wanted) * 100 < wanted;
    assert!(near(latency.at(95.0).unwrap(), 10_000_000), "{:?}", latency.at(95.0));
    assert!(near(latency.at(50.0).unwrap(), 100_000), "{:?}", latency.at(50.0));
    for window in sum.windows.series().windows {
        assert!(window.sampled);
        let bands: Vec<usize> = window.dirs[Dir::Read].latency.iter().map(|cell| cell.0).collect();
        assert_eq!(bands.len(), 2, "{bands:?}");
    }
    assert_eq!(sum.dots.dots().last().unwrap().offset, Some(19_999 * 4096));
}

/// Time, direction, and bins with their counts.
type HistogramRow = (u64, u64, Vec<(usize, u64)>);

fn histograms(rows: &[HistogramRow], coarseness: u32) -> String {
    let mut text = String::new();
    for (time, dir, counts) in rows {
        let mut bins = vec![0u64; 1856 >> coarseness];
        counts.iter().for_each(|(bin, count)| bins[bin >> coarseness] += count);
        write!(text, "{time}, {dir}, 4096").unwrap();
        bins.iter().for_each(|count| write!(text, ", {count}").unwrap());
        text.push('\n');
    }
    text
}

#[test]
fn the_sum_of_two_histogram_logs_is_their_union() {
    let one = [(1000, 0, vec![(300, 5), (900, 1)]), (2000, 0, vec![(301, 7)])];
    let other = [(1000, 0, vec![(300, 2)]), (2001, 1, vec![(40, 3)])];
    let both: Vec<_> = one.iter().chain(&other).cloned().collect();
    let mut together = sum();
    content(&histograms(&one, 0), LogType::Histogram, &mut together);
    content(&histograms(&other, 0), LogType::Histogram, &mut together);
    let mut union = sum();
    let all = content(&histograms(&both, 0), LogType::Histogram, &mut union);
    assert_eq!(together.windows.latencies()[Dir::Read], union.windows.latencies()[Dir::Read]);
    assert_eq!(together.windows.latencies()[Dir::Write], union.windows.latencies()[Dir::Write]);
    assert_eq!(all.dirs[Dir::Read].latency.as_ref().unwrap().n, 15);
    let coarse = content(&histograms(&both, 3), LogType::Histogram, &mut sum());
    let p50 = |content: &LogContent| content.dirs[Dir::Read].latency.as_ref().unwrap().at(50.0);
    let (fine, joined) = (p50(&all).unwrap(), p50(&coarse).unwrap());
    assert!(fine.abs_diff(joined) * 8 < fine, "{fine} {joined}");
}

#[test]
fn a_window_without_a_row_is_a_gap() {
    let rows: Vec<_> = [1000, 2000, 5000, 6000].map(|time| (time, 0, vec![(300, 5)])).into();
    let mut sum = LogSum { windows: TimeWindows::new(0, 1000, 600), dots: DotSample::default() };
    content(&histograms(&rows, 0), LogType::Histogram, &mut sum);
    let known: Vec<bool> = sum.windows.series().windows.iter().map(|one| one.sampled).collect();
    assert_eq!(known, [true, true, false, false, true, true]);
}

#[test]
fn broken_rows_are_skipped_and_told_and_many_are_refused() {
    let mut text = bimodal(1000);
    text.push_str("100, 17\n100, x, 0, 4096, 0, 0\n\n100, 1, 7, 4096, 0, 0\n");
    let content = content(&text, LogType::Clat, &mut sum());
    assert_eq!((content.rows, content.broken.count), (1000, 3));
    let told: Vec<String> =
        content.broken.first.iter().map(|row| format!("{}: {}", row.line, row.fault)).collect();
    assert_eq!(
        told,
        [
            "1001: 2 columns, not 6",
            "1002: column 2 is not a whole number: \"x\"",
            "1004: direction 7: 0 is read, 1 write, 2 trim",
        ]
    );
    text.push_str(&"broken\n".repeat(20));
    match read_log(text.as_bytes(), LogType::Clat, &mut sum()) {
        Err(LogReadError::Broken { broken: 23, rows: 1023, first }) => assert_eq!(first.line, 1001),
        other => panic!("{other:?}"),
    }
}

#[test]
fn any_bytes_are_a_log_or_are_refused() {
    let hist = histograms(&[(1000, 0, vec![(300, 5)]), (2000, 1, vec![(900, 1)])], 6);
    let seeds = [bimodal(30), hist, "252, 9, 0, 0, 0\n502, 8, 80, 1, 0, 0\n".to_owned()];
    let seeds = seeds.map(String::into_bytes);
    let pieces = ["0", "9", ", ", "x", "\n", "99999999999999999999"];
    Mutations { seeds: &seeds, pieces: &pieces, count: 3000 }.run(fuzzed::log);
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        rows in prop::collection::vec((0u64..100_000, 0u64..1 << 40, 0u64..3, 1u64..1 << 20), 1..300),
    ) {
        let mut text = String::new();
        for (time, value, dir, block) in &rows {
            writeln!(text, "{time}, {value}, {dir}, {block}, 0").unwrap();
        }
        let mut sum = sum();
        let content = content(&text, LogType::Lat, &mut sum);
        prop_assert_eq!(content.rows, rows.len() as u64);
        for dir in iosonde_base::DIRS {
            let of: Vec<_> = rows.iter().filter(|row| row.2 == dir as u64).collect();
            let moments = content.dirs[dir].moments;
            prop_assert_eq!(moments.n, of.len() as u64);
            prop_assert_eq!(moments.sum, of.iter().map(|row| u128::from(row.1) * 1000).sum::<u128>() % (1 << 64));
            prop_assert_eq!(moments.max, of.iter().map(|row| row.1 * 1000).max().unwrap_or(0));
            let series = sum.windows.series();
            let bytes: u64 = series.windows.iter().map(|window| window.dirs[dir].bytes).sum();
            prop_assert_eq!(bytes, of.iter().map(|row| row.3).sum::<u64>());
        }
    }
}
