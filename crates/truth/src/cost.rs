//! What the ledger costs: processor time of the same paced job with it and without.

use std::path::Path;
use std::process::Command;

/// Processor time of a job of ten seconds, in seconds, the least of some runs.
#[derive(Clone, Copy, Debug)]
pub struct LedgerCost {
    /// With the ledger.
    pub with: f64,
    /// With the ledger, its own time for reading signals (`tool.counter_read_ns`).
    pub reading: f64,
    /// With `--ledger=no`.
    pub without: f64,
}

/// How long the job is measured.
pub const SECONDS: f64 = 10.0;
/// Others' caches and interrupts only ever add to it.
const RUNS: usize = 2;

impl LedgerCost {
    /// Both as shares of the job's time: all of it, after the clock too, and that
    /// for reading signals.
    pub fn shares(&self) -> (f64, f64) {
        ((self.with - self.without).max(0.0) / SECONDS, self.reading / SECONDS)
    }
}

/// Measure it with a job on `file` that does 100 reads a second.
///
/// # Errors
/// If the job fails.
pub fn measure(program: &Path, file: &Path) -> Result<LedgerCost, String> {
    let mut cost =
        LedgerCost { with: f64::INFINITY, reading: f64::INFINITY, without: f64::INFINITY };
    for _ in 0..RUNS {
        let (used, report) = run(program, file, "--ledger=yes")?;
        cost.with = cost.with.min(used);
        let read = report.pointer("/iosonde/ledger/tool/counter_read_ns");
        let read = read.and_then(serde_json::Value::as_f64).ok_or("the report has no ledger")?;
        cost.reading = cost.reading.min(read / 1e9);
        cost.without = cost.without.min(run(program, file, "--ledger=no")?.0);
    }
    Ok(cost)
}

/// Seconds of processor time, user and system, and the report.
fn run(program: &Path, file: &Path, more: &str) -> Result<(f64, serde_json::Value), String> {
    let line = format!(
        "--name=j --output-format=json --filename={} --rw=randread --bs=4k --size=16m --direct=1 \
         --rate_iops=100 --time_based --runtime={SECONDS} {more}",
        file.display()
    );
    // bash counts in milliseconds, and writes it to its standard error.
    let script = "TIMEFORMAT='cpu %3U %3S'; time \"$@\"";
    let output = Command::new("bash")
        .args(["-c", script, "bash"])
        .arg(program)
        .args(line.split_whitespace())
        .output()
        .map_err(|error| format!("bash: {error}"))?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let times = errors.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let times: Vec<f64> = times.split(' ').filter_map(|word| word.parse().ok()).collect();
    match (&times[..], serde_json::from_slice(&output.stdout)) {
        ([user, system], Ok(report)) if output.status.success() => Ok((user + system, report)),
        _ => Err(format!("the job of the ledger's cost failed: {errors}")),
    }
}
