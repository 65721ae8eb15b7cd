//! A polling kernel thread on a machine without a spare processor.

use super::worst_job;
use iosonde_base::text::counted;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "sqpoll-few-cores",
    severity: Severity::Warning,
    condition: "sqthread_poll=1 and fewer processors than two for each such job plus one for the \
                rest of the machine",
    meaning: "The kernel's polling thread occupies a processor, and so does the job. Where they \
              share one they take turns, and the rate falls by an order of magnitude (measured on \
              two processors: from 56.6k to 3.9k IOPS).",
    remedy: "leave sqthread_poll out, or run on a machine with two processors for each such job \
             and one more",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let pollers = ledger.jobs.iter().filter(|job| job.options.polled_by_kernel).count() as u64;
    let cpus = u64::from(ledger.environment.cpus);
    // One more for the rest of the machine.
    if pollers == 0 || cpus > 2 * pollers {
        return Vec::new();
    }
    worst_job(ledger, |job| {
        let text = format!(
            "{} and as many jobs share {}",
            counted(pollers, "polling kernel thread"),
            counted(cpus, "processor")
        );
        job.options.polled_by_kernel.then_some((Severity::Warning, text))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn processors_are_counted() {
        let mut ledger = clean();
        ledger.jobs[0].options.polled_by_kernel = true;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.environment.cpus = 3;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.environment.cpus = 1;
        assert!(says(RULE.id, &ledger).is_some());
        ledger.environment.cpus = 2;
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(text, "1 polling kernel thread and as many jobs share 2 processors");
        ledger.jobs[0].options.polled_by_kernel = false;
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn each_polling_thread_takes_a_processor_beside_its_job() {
        let mut ledger = clean();
        ledger.jobs[0].options.polled_by_kernel = true;
        ledger.jobs = vec![ledger.jobs[0].clone(); 3];
        ledger.environment.cpus = 6;
        assert!(says(RULE.id, &ledger).is_some());
        ledger.environment.cpus = 7;
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
