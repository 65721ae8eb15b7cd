//! A job's thread that never waited.

use super::{Found, Rule, percent, time, worst_job};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "cpu-bound",
    severity: Severity::Warning,
    condition: "a job's thread was on a processor for more than 95 % of the time while it used storage",
    meaning: "The thread hardly waited for the device: the processor, in the kernel or in the tester, \
              set the pace. The device could have done more.",
    remedy: "use more jobs, or larger blocks, or an engine with less work for each I/O (io_uring with \
             fixedbufs and registerfiles)",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    worst_job(ledger, |job| {
        let cached = ledger.reads.as_ref().and_then(|reads| reads.cache_share()).unwrap_or(0.0);
        let uses_storage = !job.files.devices.is_empty() && cached < 0.5;
        let polls = job.asked.polled_by_kernel;
        (job.cpu.busy_share > 0.95 && uses_storage && !polls && job.runtime_ns > 500_000_000).then(|| {
            let told = format!(
                "the job's thread was busy {} of the time: {} of its own and {} of the kernel's for each I/O",
                percent(job.cpu.busy_share),
                time(job.cpu.user_ns_per_io),
                time(job.cpu.system_ns_per_io)
            );
            (Severity::Warning, told)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn a_thread_that_never_waits_is_told() {
        let mut ledger = clean();
        ledger.jobs[0].cpu.busy_share = 0.94;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].cpu.busy_share = 0.99;
        assert!(says(RULE.id, &ledger).unwrap().1.contains("99.0 %"));
        ledger.jobs[0].files.devices.clear();
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
