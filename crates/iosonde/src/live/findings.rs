//! Findings while jobs run: the rules of the verdict that hold for a part
//! of a run.

use iosonde_report::finding::Finding;
use iosonde_report::ledger::{DepthLedger, Fact, JobLedger, LatencySummary, Ledger, Reads};
use iosonde_report::live::screen::LiveFinding;
use iosonde_report::series::RateChange;
use iosonde_run::job::{JobPlan, Plan};
use iosonde_stats::mean_changes;
use iosonde_sys::counters::CpuTime;
use std::time::Duration;

/// Jobs of a larger run are not looked at one by one.
const JOBS_MOST: usize = 64;

/// What is known of a run so far.
pub struct LiveFacts {
    /// How long it was counted.
    pub elapsed: Duration,
    /// Bytes read.
    pub read_bytes: u64,
    /// I/Os of all directions.
    pub ios: u64,
    /// The share of reads from the page cache.
    pub reads_from_memory: Option<f64>,
    /// Mean requests in flight at the devices.
    pub depth_at_device: Option<f64>,
    /// Processor time of the machine.
    pub cpu: Option<CpuTime>,
    /// Bytes per second, a second each.
    pub rates: Vec<f64>,
    /// All jobs run.
    pub all_run: bool,
}

/// What the rules find, worst first.
pub fn findings(plan: &Plan, facts: &LiveFacts) -> Vec<LiveFinding> {
    let found = iosonde_witness::judge_while_running(&ledger(plan, facts)).into_iter();
    let shown = |finding: Finding| LiveFinding {
        id: finding.id.into_owned(),
        severity: finding.severity,
        text: finding.statement,
    };
    found.map(shown).collect()
}

/// A ledger of what is known; the rules find nothing in what is not.
fn ledger(plan: &Plan, facts: &LiveFacts) -> Ledger {
    let mut ledger = Ledger::default();
    if let Some(share) = facts.reads_from_memory {
        let cache_bytes = (facts.read_bytes as f64 * share) as u64;
        ledger.reads = Some(Reads {
            completed_bytes: facts.read_bytes,
            cache_bytes: Fact::Known(cache_bytes),
            device_bytes: Fact::Known(facts.read_bytes - cache_bytes),
            ..Reads::default()
        });
    }
    ledger.machine.wall_ns = facts.elapsed.as_nanos() as u64;
    if let Some(cpu) = facts.cpu.filter(|cpu| cpu.total > 0) {
        ledger.machine.steal_share = Fact::Known(cpu.stolen as f64 / cpu.total as f64);
    }
    let paced = plan.jobs.iter().any(is_paced);
    if plan.waves.len() == 1 && facts.all_run && !paced {
        ledger.changes = changes(&facts.rates);
    }
    if let Some(depth) = facts.depth_at_device.filter(|_| plan.jobs.len() <= JOBS_MOST) {
        let requested_by_all = plan.jobs.iter().map(|job| u64::from(job.window.depth)).sum();
        let job = |job: &JobPlan| JobLedger {
            name: job.name.clone(),
            depth: DepthLedger {
                requested: job.window.depth,
                observed_at_device: Fact::Known(depth),
                requested_by_all,
                ..DepthLedger::default()
            },
            latency: LatencySummary { ios: facts.ios, ..LatencySummary::default() },
            ..JobLedger::default()
        };
        if !paced && facts.all_run {
            ledger.jobs = plan.jobs.iter().map(job).collect();
        }
    }
    ledger
}

fn is_paced(job: &JobPlan) -> bool {
    job.source.pace.is_set() || job.pace.pause.is_some() || job.pace.flow.is_some()
}

/// Where the rate changed.
fn changes(rates: &[f64]) -> Vec<RateChange> {
    const SECOND_NS: u64 = 1_000_000_000;
    let change = |change: iosonde_stats::MeanChange| RateChange {
        at_ns: change.at as u64 * SECOND_NS,
        at_bytes: rates[..change.at].iter().sum::<f64>() as u64,
        before_bytes_per_s: change.before,
        after_bytes_per_s: change.after,
        stat: change.stat,
    };
    mean_changes(rates).into_iter().map(change).collect()
}
