//! Latencies: the histogram and the percentiles of a report are those of the I/Os that its
//! log has one by one, and none took less time than the storage held it back.

use super::job::{EXACT, Job};
use super::report::Report;
use super::{Findings, SeedResult, Stage};
use crate::{Fault, Rule, Target};
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let mut job = Job::draw(&mut stage, &EXACT, &[512, 4096, 16384]);
    let (pattern, lane) = stage.dice.pick(&[
        ("write", "write"),
        ("randwrite", "write"),
        ("read", "read"),
        ("randread", "read"),
    ]);
    let log = stage.aside.join("log");
    job.add(&format!("--rw={pattern} --write_lat_log={}", log.display()));
    let per_mille = stage.dice.pick(&[0, 100, 1000]);
    let rule = |target| Rule { target, fault: Fault::Delay, per_mille };
    let (store, before) = stage.store(&job, vec![rule(Target::Read), rule(Target::Write)]);
    let mount = stage.serve(store, &job)?;
    let ended = stage.program.run(&job.arguments("--output-format=json+"));

    let store = mount.store();
    let mut findings = Findings::of(&ended);
    findings.must(ended.code == Some(0), || format!("it ended with {:?}", ended.code));
    let text = |kind: &str| {
        let path = stage.aside.join(format!("log_{kind}.1.log"));
        std::fs::read_to_string(path).unwrap_or_default()
    };
    let (total, completion) = (values(&text("lat")), values(&text("clat")));
    match Report::of(&ended) {
        Some(report) => {
            let compared = compare(&completion, job.blocks, report.latencies(lane));
            compared.unwrap_or_else(|why| findings.must(false, || why));
        }
        None => findings.must(false, || "there is no report".to_owned()),
    }
    let (sum, held) = (total.iter().sum::<u64>(), store.held_ms() * 1_000_000);
    findings.must(sum >= held, || format!("{sum} ns in all, and {held} ns were held back"));
    let most = ended.took.as_nanos() as u64 * job.depth;
    findings.must(sum <= most, || format!("{sum} ns in all, and the run took {:?}", ended.took));
    before.compare(&store, pattern, &mut findings);
    Ok(SeedResult { injected: store.count(Fault::Delay), findings: findings.end(), skipped: None })
}

/// The second column of a log.
fn values(log: &str) -> Vec<u64> {
    let value = |line: &str| line.split(", ").nth(1)?.parse().ok();
    log.lines().filter_map(value).collect()
}

/// Compare the latencies of the log with what a report has of them.
fn compare(logged: &[u64], ios: usize, reported: &Value) -> Result<(), String> {
    let number = |key: &str| reported[key].as_u64().unwrap_or(0);
    let mut sorted = logged.to_vec();
    sorted.sort_unstable();
    let (least, most) = (sorted.first().copied(), sorted.last().copied());
    let seen = (number("N"), Some(number("min")), Some(number("max")), logged.len());
    if seen != (ios as u64, least, most, ios) {
        return Err(format!("{ios} I/Os from {least:?} to {most:?} ns, and reported {seen:?}"));
    }
    let mut wanted: BTreeMap<u64, u64> = BTreeMap::new();
    sorted.iter().for_each(|&ns| *wanted.entry(bucket(ns)).or_default() += 1);
    let mut found: BTreeMap<u64, u64> = BTreeMap::new();
    for (ns, count) in reported["bins"].as_object().into_iter().flatten() {
        *found.entry(bucket(ns.parse().unwrap_or(0))).or_default() += count.as_u64().unwrap_or(0);
    }
    if wanted != found {
        return Err(format!("the log has, by buckets, {wanted:?} and the report {found:?}"));
    }
    for (percent, ns) in reported["percentile"].as_object().into_iter().flatten() {
        let (percent, ns) = (percent.parse::<f64>().unwrap_or(0.0), ns.as_u64().unwrap_or(0));
        // The least that so many per cent of all are at or below; by a hair, as the share is
        // no exact number.
        let rank = (percent / 100.0 * sorted.len() as f64 - 1e-9).ceil() as usize;
        let at = sorted[rank.clamp(1, sorted.len()) - 1];
        if bucket(at) != bucket(ns) {
            return Err(format!("the {percent}th percentile is {at} ns, and reported {ns}"));
        }
    }
    Ok(())
}

/// The bucket of a latency: 64 for each power of two, one for each nanosecond below 128.
/// The first latency of it.
fn bucket(ns: u64) -> u64 {
    let coarse = (u64::BITS - ns.leading_zeros()).saturating_sub(7);
    ns >> coarse << coarse
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_bucket_is_a_64th_of_its_power_of_two() {
        assert_eq!((bucket(0), bucket(127), bucket(128), bucket(129)), (0, 127, 128, 128));
        assert_eq!(
            (bucket(8575), bucket(8576), bucket(8640), bucket(8703)),
            (8448, 8576, 8576, 8576)
        );
        assert_eq!(bucket(u64::MAX), u64::MAX << 57);
    }

    #[test]
    fn a_report_that_is_one_bucket_high_is_not_that_of_its_log() {
        let report = |shift: u64| {
            json!({
                "N": 3, "min": 1000, "max": 9000,
                "percentile": {"50.000000": 2000 + 32 * shift, "99.000000": 9000},
                "bins": {"1000": 1, "2000": 1, "9024": 1},
            })
        };
        assert_eq!(compare(&[1000, 9000, 2000], 3, &report(0)), Ok(()));
        assert!(compare(&[1000, 9000, 2000], 3, &report(1)).unwrap_err().contains("percentile"));
        let mut high = report(0);
        high["bins"] = json!({"1016": 1, "2000": 1, "9024": 1});
        assert!(compare(&[1000, 9000, 2000], 3, &high).unwrap_err().contains("buckets"));
        assert!(compare(&[1000, 9000, 2001], 3, &report(0)).is_ok(), "within its bucket");
        assert!(compare(&[1000, 9000], 3, &report(0)).is_err(), "an I/O is missing");
        assert_eq!(values("1, 77, 0, 4096, 0\n2, 78, 0, 4096, 0\n"), [77, 78]);
    }
}
