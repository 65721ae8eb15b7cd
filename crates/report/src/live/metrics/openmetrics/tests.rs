//! The text of OpenMetrics, and what `promtool` says of it.

use super::super::*;
use std::io::Write;
use std::process::{Command, Stdio};

const HOSTILE: &str = "</script>\"} 1\n# EOF\n\\ \u{202e}x{job=\"";

fn durations() -> Durations {
    let mut durations = Durations { sum_ns: 12_500_000_000, ..Durations::default() };
    durations.counts[0] = 3;
    durations.counts[7] = 4;
    durations.counts[OCTAVES - 1] = 1;
    durations
}

fn job(name: &str) -> JobMetrics {
    let dir = DirMetrics {
        ios: 8,
        bytes: 32768,
        errors: 1,
        service: Some(durations()),
        response: Some(durations()),
    };
    JobMetrics {
        name: name.to_owned(),
        dirs: PerDir([Some(dir.clone()), Some(dir), None]),
        syncs: Some(durations()),
        only_in_memory_bytes: Some(4096),
        depth_requested: 8,
        depth_observed: Some(7.5),
    }
}

fn metrics() -> RunMetrics {
    RunMetrics {
        run: RunLabels { tool: "iosonde 0.1.0".into(), ..RunLabels::default() },
        state: RunState::Done,
        progress: Some(0.5),
        started_unix_s: 1_700_000_000.25,
        jobs: vec![job("db.0"), job(HOSTILE)],
        devices: vec![DeviceMetrics {
            name: "vda".into(),
            bytes: [1, 2, 3],
            flushes: 4,
            depth: Some(2.5),
        }],
        result: Some(ResultMetrics {
            findings: vec![("not-direct".into(), "wrong".into())],
            durable_bytes_per_s: Some(1e8),
            percentiles: vec![(HOSTILE.into(), "read", "99.9", 1_500_000)],
        }),
    }
}

/// The value of the only sample that begins so.
fn value(text: &str, begins: &str) -> f64 {
    let mut found = text.lines().filter_map(|line| line.strip_prefix(begins));
    let value = found.next().unwrap_or_else(|| panic!("no {begins} in\n{text}"));
    assert_eq!(found.next(), None, "{begins}");
    value.trim().parse().unwrap()
}

#[test]
fn samples_have_base_units_and_their_labels() {
    let text = metrics().openmetrics();
    let read = "{job=\"db.0\",direction=\"read\"}";
    assert_eq!(value(&text, &format!("iosonde_io_operations_total{read}")), 8.0);
    assert_eq!(value(&text, &format!("iosonde_io_bytes_total{read}")), 32768.0);
    assert_eq!(value(&text, &format!("iosonde_io_errors_total{read}")), 1.0);
    assert_eq!(value(&text, "iosonde_run_state{state=\"done\"}"), 1.0);
    assert_eq!(value(&text, "iosonde_run_state{state=\"running\"}"), 0.0);
    assert_eq!(value(&text, "iosonde_run_start_timestamp_seconds"), 1_700_000_000.25);
    assert_eq!(value(&text, "iosonde_device_flushes_total{device=\"vda\"}"), 4.0);
    let place = "iosonde_queue_depth{job=\"db.0\",place=\"observed\"}";
    assert_eq!(value(&text, place), 7.5);
    assert_eq!(value(&text, "iosonde_finding{rule=\"not-direct\",severity=\"wrong\"}"), 1.0);
    assert!(text.ends_with("\n# EOF\n"));
    assert!(!text.contains("direction=\"trim\"} 0\n"), "an unused direction has no series");
}

#[test]
fn the_buckets_of_a_histogram_add_up_to_its_count() {
    let text = metrics().openmetrics();
    let labels = "job=\"db.0\",direction=\"read\"}";
    let buckets: Vec<f64> = text
        .lines()
        .filter(|line| line.starts_with("iosonde_io_duration_seconds_bucket"))
        .filter(|line| line.contains(labels))
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(buckets.len(), OCTAVES);
    assert!(buckets.is_sorted(), "{buckets:?}");
    let count = value(&text, &format!("iosonde_io_duration_seconds_count{{{labels}"));
    assert_eq!((buckets[0], *buckets.last().unwrap()), (3.0, count));
    assert_eq!(value(&text, &format!("iosonde_io_duration_seconds_sum{{{labels}")), 12.5);
    assert!(text.contains("le=\"+Inf\"") && text.contains("le=\"16.777216\""), "{text}");
}

#[test]
fn a_hostile_name_is_a_label_and_nothing_else() {
    let text = metrics().openmetrics();
    assert_eq!(text.matches("\n# EOF\n").count(), 1, "{text}");
    let escaped = "job=\"</script>\\\"} 1\\n# EOF\\n\\\\ \u{202e}x{job=\\\"\"";
    assert!(text.contains(escaped), "{text}");
}

#[test]
fn the_rest_of_the_jobs_is_their_sum() {
    let mut rest = JobMetrics { name: REST.into(), ..JobMetrics::default() };
    rest.merge(&job("a"));
    rest.merge(&job("b"));
    let read = rest.dirs.0[0].as_ref().unwrap();
    assert_eq!((read.ios, read.service.as_ref().unwrap().counts[7]), (16, 8));
    assert_eq!((rest.depth_requested, rest.depth_observed), (16, Some(15.0)));
    assert_eq!(rest.only_in_memory_bytes, Some(8192));
}

#[test]
fn promtool_finds_nothing_wrong() {
    if !iosonde_testing::has("promtool", "prometheus") {
        return;
    }
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    promtool.stdin.take().unwrap().write_all(metrics().classic().as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}\n{}", metrics().classic());
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn the_page_of_docs_and_the_dashboard_name_metrics_that_exist() {
    let text = metrics().openmetrics();
    let docs = include_str!("../../../../../../docs/metrics.md");
    let dashboard = include_str!("../../../../../../contrib/grafana/iosonde.json");
    let is_of_name = |c: char| c == '_' || c.is_ascii_lowercase();
    for named in [docs, dashboard] {
        let names = named.split(|c| !is_of_name(c)).filter(|word| word.starts_with("iosonde_"));
        let missing: Vec<&str> = names.filter(|name| !text.contains(name)).collect();
        assert_eq!(missing, [""; 0]);
    }
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for family in families.filter_map(|typed| typed.split(' ').next()) {
        assert!(docs.contains(family), "{family} is not in docs/metrics.md");
    }
}
