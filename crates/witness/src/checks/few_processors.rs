//! A kernel thread that polls, on a machine without a processor to spare.

use super::{Found, Rule, worst_job};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "sqpoll-few-cores",
    severity: Severity::Warning,
    condition: "sqthread_poll=1 with fewer than two processors for each such job",
    meaning: "The kernel's polling thread takes a processor for itself. Where the job and its poller \
              share one they take turns, and the rate falls by an order of magnitude (56.6 k to 3.9 k \
              IOPS measured on two processors).",
    remedy: "leave sqthread_poll out, or give each job two processors",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    let pollers = ledger.jobs.iter().filter(|job| job.asked.polled_by_kernel).count() as u64;
    let cpus = u64::from(ledger.environment.cpus);
    // One more for the rest of the machine.
    if pollers == 0 || cpus > 2 * pollers {
        return Vec::new();
    }
    worst_job(ledger, |job| {
        let told =
            format!("{pollers} polling kernel thread(s) and their jobs share {cpus} processors");
        job.asked.polled_by_kernel.then_some((Severity::Warning, told))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn processors_are_counted() {
        let mut ledger = clean();
        ledger.jobs[0].asked.polled_by_kernel = true;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.environment.cpus = 2;
        assert!(says(RULE.id, &ledger).is_some());
        ledger.jobs[0].asked.polled_by_kernel = false;
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
