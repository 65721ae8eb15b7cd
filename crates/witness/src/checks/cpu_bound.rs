//! A job's thread that hardly waited.

use super::worst_job;
use iosonde_base::text::{duration, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "cpu-bound",
    severity: Severity::Warning,
    condition: "a job that used storage had its thread on a processor for more than 95 % of the \
                time",
    meaning: "The thread hardly waited for the device: the processor, in the kernel or in the \
              tester, set the rate. The device could have done more.",
    remedy: "use more jobs, or larger blocks, or an engine with less work per I/O (io_uring with \
             fixedbufs and registerfiles)",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        let cached = ledger.reads.as_ref().and_then(|reads| reads.cache_share()).unwrap_or(0.0);
        let uses_storage = !job.files.devices.is_empty() && cached < 0.5;
        let polls = job.options.polled_by_kernel;
        (job.cpu.busy_share > 0.95 && uses_storage && !polls && job.runtime_ns > 500_000_000).then(|| {
            let text = format!(
                "the job's thread was on a processor for {} of the time: {} of tester CPU and {} of \
                 kernel CPU per I/O",
                percent(job.cpu.busy_share),
                duration(job.cpu.user_ns_per_io as u64),
                duration(job.cpu.system_ns_per_io as u64)
            );
            (Severity::Warning, text)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn a_thread_that_never_waits_is_reported() {
        let mut ledger = clean();
        ledger.jobs[0].cpu.busy_share = 0.94;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].cpu.busy_share = 0.99;
        assert!(says(RULE.id, &ledger).unwrap().1.contains("99.0 %"));
        ledger.jobs[0].files.devices.clear();
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn the_limits_are_of_a_run_that_is_long_and_not_half_cached() {
        let mut ledger = clean();
        let mut with = |busy: f64, ms: u64, cached: u64| {
            ledger.jobs[0].cpu.busy_share = busy;
            ledger.jobs[0].runtime_ns = ms * 1_000_000;
            let reads = ledger.reads.as_mut().unwrap();
            reads.cache_bytes = iosonde_report::ledger::Fact::Known(cached);
            says(RULE.id, &ledger).is_some()
        };
        assert!(with(0.96, 501, (30 << 30) - 1));
        assert!(!with(0.95, 501, 0) && !with(0.96, 500, 0) && !with(0.96, 501, 30 << 30));
    }
}
