//! The tester itself as the limit.

use super::worst_job;
use iosonde_base::text::{count, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "tool-bound",
    severity: Severity::Warning,
    condition: "a job reached more than half of the IOPS that the same job reaches with the null \
                engine on this machine, and its thread was on a processor for more than half of the \
                time",
    meaning: "After each run iosonde runs the same job with the null engine for a moment. Close \
              to that upper bound the tester is a large part of what was measured.",
    remedy: "use more jobs, larger blocks, or fewer features (verify, refill_buffers, logs); \
             quote the upper bound with the results",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        let ceiling = job.cpu.upper_bound_iops.get()?;
        let share = job.cpu.iops / ceiling.max(1.0);
        // A thread that sleeps waits for something else.
        let works = job.cpu.busy_share > 0.5;
        // The null engine itself is there to show the ceiling.
        (share > 0.5 && works && job.options.engine != "null" && !job.options.paced).then(|| {
            let text = format!(
                "{} IOPS is {} of the upper bound without storage, {} IOPS",
                count(job.cpu.iops),
                percent(share.min(1.0)),
                count(ceiling)
            );
            (Severity::Warning, text)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Fact;

    #[test]
    fn near_the_upper_bound_is_reported_and_the_null_engine_is_not() {
        let mut ledger = clean();
        ledger.jobs[0].cpu.upper_bound_iops = Fact::Known(300_000.0);
        assert_eq!(says(RULE.id, &ledger), None, "its thread slept for 60 % of the time");
        ledger.jobs[0].cpu.busy_share = 0.9;
        assert!(says(RULE.id, &ledger).unwrap().1.contains("87.4 %"));
        ledger.jobs[0].options.engine = "null".into();
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn half_of_the_upper_bound_and_half_of_the_time_are_let_pass() {
        let mut ledger = clean();
        let mut with = |iops: f64, busy: f64| {
            let cpu = &mut ledger.jobs[0].cpu;
            cpu.upper_bound_iops = Fact::Known(100_000.0);
            (cpu.iops, cpu.busy_share) = (iops, busy);
            says(RULE.id, &ledger).is_some()
        };
        assert!(!with(50_000.0, 0.9) && with(50_001.0, 0.9));
        assert!(!with(90_000.0, 0.5) && with(90_000.0, 0.51));
    }
}
