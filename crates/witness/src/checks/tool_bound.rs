//! The tester itself as the limit.

use super::{Found, Rule, percent, worst_job};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "tool-bound",
    severity: Severity::Warning,
    condition: "a job reached more than half of what the same job reaches with an engine that does nothing, on this machine, and its thread worked for more than half of the time",
    meaning: "After each run the job's shape is tried with the null engine for a moment. Near that \
              ceiling the tester, not the storage, is a large part of what was measured.",
    remedy: "use more jobs, larger blocks, or fewer features (verify, refill_buffers, logs); quote \
             the ceiling with the figures",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    worst_job(ledger, |job| {
        let ceiling = *job.cpu.ceiling_iops.get()?;
        let share = job.cpu.iops / ceiling.max(1.0);
        // A thread that sleeps waits for something else.
        let works = job.cpu.busy_share > 0.5;
        // The null engine itself is there to show the ceiling.
        (share > 0.5 && works && job.asked.engine != "null" && !job.asked.paced).then(|| {
            let told = format!(
                "{:.0} IOPS are {} of the {ceiling:.0} that this tester reaches without storage",
                job.cpu.iops,
                percent(share.min(1.0))
            );
            (Severity::Warning, told)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Observed;

    #[test]
    fn near_the_ceiling_is_told_and_the_null_engine_is_not() {
        let mut ledger = clean();
        ledger.jobs[0].cpu.ceiling_iops = Observed::Is(300_000.0);
        assert_eq!(says(RULE.id, &ledger), None, "its thread slept for 60 % of the time");
        ledger.jobs[0].cpu.busy_share = 0.9;
        assert!(says(RULE.id, &ledger).unwrap().1.contains("87.4 %"));
        ledger.jobs[0].asked.engine = "null".into();
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
