//! Rates: no request comes before its moment, by the clock of the storage.

use super::job::{EXACT, Job};
use super::{Findings, SeedResult, Stage};
use crate::Target;
use std::time::Instant;

/// A schedule that gains more than this is too fast. Requests are late on a busy machine,
/// and what is late by turns gains nothing here.
const GAIN_MOST: f64 = 0.03;
/// How long a job takes, in seconds.
const SECONDS: f64 = 1.5;
/// A schedule that is too fast is so in each run; one that begins late, as the machine is
/// busy, and makes up for it is not.
const RUNS: usize = 4;

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let mut job = Job::draw(&mut stage, &EXACT, &[512, 4096, 16384]);
    let pattern = stage.dice.pick(&["write", "randwrite", "read", "randread"]);
    let rate = job.blocks as f64 / SECONDS;
    let option = if stage.dice.happens(500) {
        format!("--rate_iops={}", rate as u64)
    } else {
        format!("--rate={}", rate as u64 * job.block as u64)
    };
    job.add(&format!("--rw={pattern} {option}"));
    let (store, before) = stage.store(&job, Vec::new());
    let mount = stage.serve(store, &job)?;
    let target = if pattern.ends_with("read") { Target::Read } else { Target::Write };
    let (mut seen, mut gains, mut found) = (0, Vec::new(), Vec::new());
    loop {
        let ended = stage.program.run(&job.arguments(""));
        let store = mount.store();
        let arrivals = store.arrivals(target).split_off(seen);
        seen += arrivals.len();
        let mut findings = Findings::of(&ended);
        findings.must(ended.code == Some(0), || format!("it ended with {:?}", ended.code));
        findings.must(arrivals.len() >= job.blocks, || {
            format!("{} requests came of {}", arrivals.len(), job.blocks)
        });
        let gain = gain_of_blocks(&arrivals, job.blocks, (rate as u64) as f64);
        gains.push(format!("{:.1} %", gain * 100.0));
        let is_last = gain < GAIN_MOST || gains.len() == RUNS;
        if is_last {
            let gains = gains.join(", ");
            findings.must(gain < GAIN_MOST, || format!("{option}: it is {gains} too fast"));
            before.compare(&store, pattern, &mut findings);
        }
        found.extend(findings.end());
        if is_last {
            return Ok(SeedResult { injected: 0, findings: found, skipped: None });
        }
    }
}

/// The gain of a schedule of so many requests, among which there may be others: a read more,
/// before the run or after it, is none of the schedule's and would pass for one that came
/// early.
fn gain_of_blocks(arrivals: &[Instant], blocks: usize, rate: f64) -> f64 {
    let schedules = arrivals.windows(blocks.min(arrivals.len()).max(1));
    schedules.map(|schedule| gain(schedule, rate)).min_by(f64::total_cmp).unwrap_or(0.0)
}

/// By how much requests come faster than so many in a second: 0.05 for 5 % less time
/// between them. How late a request is, is known but for a constant; the least late of the
/// first third and of the last are compared, as those that had to wait for nobody.
fn gain(arrivals: &[Instant], rate: f64) -> f64 {
    let Some(first) = arrivals.first() else { return 0.0 };
    let late = |(at, arrival): (usize, &Instant)| {
        arrival.duration_since(*first).as_secs_f64() - at as f64 / rate
    };
    let late: Vec<f64> = arrivals.iter().enumerate().map(late).collect();
    let third = late.len() / 3;
    let least = |part: &[f64]| {
        let (at, least) = part.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((at as f64, least))
    };
    let (Some(early), Some(end)) = (least(&late[..third]), least(&late[late.len() - third..]))
    else {
        return 0.0;
    };
    let between = (late.len() - third) as f64 + end.0 - early.0;
    (early.1 - end.1) * rate / between
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Arrivals at this rate, each late by what `late` says of it, in milliseconds.
    fn arrivals(rate: f64, late: impl Fn(u32) -> u64) -> Vec<Instant> {
        let began = Instant::now();
        let at = |n: u32| Duration::from_secs_f64(f64::from(n) / rate);
        (0..100).map(|n| began + at(n) + Duration::from_millis(late(n))).collect()
    }

    #[test]
    fn a_rate_five_per_cent_too_fast_shows_and_late_requests_do_not() {
        assert!(gain(&arrivals(105.0, |_| 0), 100.0) > GAIN_MOST);
        assert!(gain(&arrivals(105.0, |n| u64::from(n % 7 * 3)), 100.0) > GAIN_MOST);
        assert!(gain(&arrivals(100.0, |_| 0), 100.0) < 0.001);
        assert!(gain(&arrivals(100.0, |n| u64::from(n % 7 * 20)), 100.0) < GAIN_MOST);
        // A stall of half a second, made up for.
        let stall = |n: u32| 500u64.saturating_sub(u64::from(n.saturating_sub(10)) * 10);
        let stalled = |n: u32| if n < 10 { 0 } else { stall(n) };
        assert!(gain(&arrivals(100.0, stalled), 100.0) < GAIN_MOST);
        assert!(gain(&[], 100.0) == 0.0);
    }

    #[test]
    fn a_read_more_after_the_run_does_not_pass_for_an_early_one() {
        let mut arrivals = arrivals(100.0, |_| 0);
        arrivals.truncate(24);
        arrivals.push(arrivals[23] + Duration::from_millis(1));
        assert!(gain(&arrivals[1..], 100.0) > GAIN_MOST);
        assert!(gain_of_blocks(&arrivals, 24, 100.0) < 0.001);
        assert!(gain_of_blocks(&[], 24, 100.0) == 0.0);
    }
}
