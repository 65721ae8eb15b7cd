//! What act judges: the share of reads above 1, 8 and 64 ms, hour by hour.

use iosonde_base::Dir;
use iosonde_run::conductor::RunView;
use std::fmt::Write;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A latency in milliseconds, and the greatest share of reads above it in percent.
const LIMITS: [(u64, f64); 3] = [(1, 5.0), (8, 1.0), (64, 0.1)];

const HOUR: Duration = Duration::from_secs(3600);

/// Counts the reads of each hour of a run.
#[derive(Debug, Default)]
pub struct ActHours {
    counting: Option<(Sender<()>, JoinHandle<Vec<ReadCounts>>)>,
}

/// Reads since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ReadCounts {
    all: u64,
    /// Those above each limit.
    above: [u64; 3],
}

/// What the hours of a run were like.
#[derive(Debug, PartialEq)]
pub struct ActVerdict {
    /// fio's table: a line for each hour.
    pub table: String,
    /// For each limit that an hour exceeds, a line.
    pub failures: Vec<String>,
}

impl ActHours {
    /// The run of so many jobs begins.
    pub fn begin(&mut self, view: &RunView, jobs: usize) {
        let (view, (end, ended)) = (view.clone(), channel());
        let began = Instant::now();
        let count = move || {
            let mut counts = Vec::new();
            loop {
                let next = HOUR * (counts.len() as u32 + 1);
                let left = next.saturating_sub(began.elapsed());
                let waited = ended.recv_timeout(left);
                counts.push(ReadCounts::of(&view, jobs));
                if waited != Err(RecvTimeoutError::Timeout) {
                    return counts;
                }
            }
        };
        let thread = std::thread::Builder::new().name("act".to_owned()).spawn(count);
        self.counting = thread.ok().map(|thread| (end, thread));
    }

    /// All jobs have ended. None if nothing could be counted.
    pub fn finish(&mut self) -> Option<ActVerdict> {
        let (end, thread) = self.counting.take()?;
        drop(end);
        thread.join().ok().map(|counts| verdict(&counts))
    }
}

impl ReadCounts {
    fn of(view: &RunView, jobs: usize) -> ReadCounts {
        let mut counts = ReadCounts::default();
        for job in 0..jobs {
            let Some(histogram) = &view.counters(job).lane(Dir::Read).clat_histogram else {
                continue;
            };
            for (ns, count) in histogram.snapshot().bins() {
                counts.all += count;
                for (above, (limit_ms, _)) in counts.above.iter_mut().zip(LIMITS) {
                    *above += if ns > limit_ms * 1_000_000 { count } else { 0 };
                }
            }
        }
        counts
    }

    fn percent_since(&self, before: &ReadCounts) -> [f64; 3] {
        let all = self.all.saturating_sub(before.all).max(1);
        [0, 1, 2].map(|at| {
            let above = self.above[at].saturating_sub(before.above[at]);
            above as f64 * 100.0 / all as f64
        })
    }
}

/// Of what was counted at the end of each hour.
fn verdict(counts: &[ReadCounts]) -> ActVerdict {
    let mut table = String::from(
        "        trans                   device\n\
         \u{20}       %>(ms)                  %>(ms)\n\
         \u{20}slice\t  1\t  8\t 64\t  1\t  8\t 64\n\
         \u{20}-----  -----   -----  ------   -----   -----  ------\n",
    );
    let (mut failures, mut before) = (Vec::new(), ReadCounts::default());
    for (hour, now) in counts.iter().enumerate() {
        // The run may end as an hour does.
        if hour > 0 && *now == before {
            break;
        }
        let percents = now.percent_since(&before);
        let [a, b, c] = percents;
        // Writing to a String does not fail.
        let _ = writeln!(table, "{:5}\t{a:.2}\t{b:.2}\t{c:.2}\t{a:.2}\t{b:.2}\t{c:.2}", hour + 1);
        for (percent, (_, most)) in percents.into_iter().zip(LIMITS) {
            if percent > most {
                let line = format!("act: {percent:.2}% exceeds pass criteria of {most:.2}%");
                failures.push(line);
            }
        }
        before = *now;
    }
    ActVerdict { table, failures }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hour_is_judged_by_its_own_reads() {
        let hours = [
            ReadCounts { all: 1000, above: [50, 10, 1] },
            ReadCounts { all: 3000, above: [170, 30, 5] },
        ];
        let ActVerdict { table, failures } = verdict(&hours);
        let rows: Vec<&str> = table.lines().skip(4).collect();
        assert_eq!(
            rows,
            [
                "    1\t5.00\t1.00\t0.10\t5.00\t1.00\t0.10",
                "    2\t6.00\t1.00\t0.20\t6.00\t1.00\t0.20"
            ]
        );
        assert_eq!(
            failures,
            [
                "act: 6.00% exceeds pass criteria of 5.00%",
                "act: 0.20% exceeds pass criteria of 0.10%"
            ]
        );
    }

    #[test]
    fn a_run_without_reads_has_one_hour_and_passes() {
        let ActVerdict { table, failures } = verdict(&[ReadCounts::default(); 2]);
        assert_eq!(table.lines().count(), 5);
        assert_eq!(failures, [""; 0]);
    }
}
