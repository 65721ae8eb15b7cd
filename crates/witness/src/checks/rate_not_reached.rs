//! A rate that was set and not reached.

use super::worst_job;
use iosonde_base::text::{count, percent, rate};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "rate-not-reached",
    severity: Severity::Warning,
    condition: "a job with rate or rate_iops reached less than 95 % of it in a second or more",
    meaning: "The storage or the tester was slower than the load that was set. The job is then no \
              longer paced: I/Os are late, and response times grow for as long as it runs.",
    remedy: "set a rate that is reached; or quote the reached rate, and the response times as those \
             of an overload",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        let pace = job.options.pace.as_ref()?;
        let kept = pace.reached / pace.requested;
        // A few I/Os more or less are no rate.
        let counts = job.runtime_ns >= 1_000_000_000 && job.latency.ios >= 20;
        (counts && kept < 0.95).then(|| {
            let text = if pace.in_bytes {
                format!("{} of {} set", rate(pace.reached), rate(pace.requested))
            } else {
                format!("{} of {} IOPS set", count(pace.reached), count(pace.requested))
            };
            (Severity::Warning, format!("the rate was not reached: {text} ({})", percent(kept)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::PaceKept;

    #[test]
    fn a_rate_that_was_missed_is_found_and_one_that_was_kept_is_not() {
        let mut ledger = clean();
        ledger.jobs[0].options.paced = true;
        let pace = |reached| PaceKept { in_bytes: false, requested: 300_000.0, reached };
        ledger.jobs[0].options.pace = Some(pace(17_100.0));
        let (severity, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Warning);
        assert!(text.contains("not reached") && text.contains("5.7 %"), "{text}");
        ledger.jobs[0].options.pace = Some(pace(290_000.0));
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].options.pace = Some(PaceKept { in_bytes: true, ..pace(1e5) });
        assert!(says(RULE.id, &ledger).unwrap().1.contains("/s"));
        ledger.jobs[0].runtime_ns = 500_000_000;
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn ninety_five_percent_of_twenty_ios_in_a_second_are_enough_to_tell() {
        let mut ledger = clean();
        let pace = |reached| PaceKept { in_bytes: false, requested: 100_000.0, reached };
        let mut with = |reached: f64, ios: u64, ns: u64| {
            let job = &mut ledger.jobs[0];
            job.options.paced = true;
            job.options.pace = Some(pace(reached));
            (job.latency.ios, job.runtime_ns) = (ios, ns);
            says(RULE.id, &ledger).is_some()
        };
        assert!(!with(95_000.0, 100, 10_000_000_000) && with(94_999.0, 100, 10_000_000_000));
        assert!(!with(1.0, 19, 10_000_000_000) && with(1.0, 20, 10_000_000_000));
        assert!(!with(1.0, 100, 999_999_999) && with(1.0, 100, 1_000_000_000));
    }
}
