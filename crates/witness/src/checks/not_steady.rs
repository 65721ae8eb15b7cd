//! A rate that changed during the run.

use iosonde_base::text::{bytes, counted, duration, percent, rate};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;
use iosonde_report::series::RateChange;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "not-steady",
    severity: Severity::Warning,
    condition: "the mean of the rate moved by 5 % or more during the run, by more than its scatter \
                explains (a change of the mean of ln(rate), with the correlation of neighbouring \
                windows taken into account; 1 in 60 steady runs is flagged), or each second near an \
                end of the run had less than a quarter of each second of the rest, or fell below 5 % of the \
                mean for a second or more in the middle of a run without syncs",
    meaning: "The mean covers two different rates. A drop after a number of bytes is the end of a \
              fast cache in the drive, heat, or the end of a cloud volume's burst credit; a rise \
              is a warm-up or a cache that fills. The bytes moved before the change are the size \
              of that cache.",
    remedy: "run until the rate is steady (ramp_time, steadystate), and report what comes after \
             the change",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let size = |change: &RateChange| {
        (change.after_bytes_per_s.max(1.0) / change.before_bytes_per_s.max(1.0)).ln().abs()
    };
    let largest = ledger.changes.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
    let Some(change) = largest else { return Vec::new() };
    let (before, after) = (change.before_bytes_per_s, change.after_bytes_per_s);
    let verb = if after < before { "fell" } else { "rose" };
    let more = match ledger.changes.len() as u64 - 1 {
        0 => String::new(),
        others => format!(" ({})", counted(others, "more change")),
    };
    // Of next to nothing, a share says nothing.
    let by = match after / before.max(1.0) {
        ratio if ratio < 100.0 => format!(" by {},", percent((ratio - 1.0).abs())),
        _ => String::new(),
    };
    let text = format!(
        "the rate {verb}{by} from {} to {}, after {} and {}{more}",
        rate(before),
        rate(after),
        bytes(change.at_bytes),
        duration(change.at_ns)
    );
    Statement::one(Severity::Warning, text)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says, series};
    use super::*;

    fn found(bytes: &[u64]) -> Option<String> {
        let mut ledger = clean();
        ledger.series = series(bytes);
        ledger.changes = crate::ledger::changes(&ledger);
        says(RULE.id, &ledger).map(|(_, text)| text)
    }

    #[test]
    fn a_drop_is_reported_with_the_bytes_before_it() {
        let text = found(&[vec![1 << 30; 20], vec![1 << 28; 40]].concat()).unwrap();
        assert!(text.starts_with("the rate fell by 75.0 %"), "{text}");
        assert!(text.ends_with("after 20 GiB and 20.0 s"), "{text}");
    }

    #[test]
    fn a_warm_up_at_the_beginning_is_reported_too() {
        let text = found(&[vec![1 << 29; 10], vec![1 << 30; 50]].concat()).unwrap();
        assert!(text.starts_with("the rate rose by 100 %"), "{text}");
    }

    #[test]
    fn noise_and_few_samples_are_not() {
        let noise: Vec<u64> =
            (0..60).map(|at| if at % 2 == 0 { 1 << 30 } else { 1 << 28 }).collect();
        assert_eq!(found(&noise), None);
        assert_eq!(found(&[vec![1 << 30; 4], vec![1 << 28; 4]].concat()), None);
    }

    #[test]
    fn a_paced_run_changes_as_its_pace_does() {
        let mut ledger = clean();
        ledger.series = series(&[vec![1 << 30; 20], vec![1 << 28; 40]].concat());
        ledger.jobs[0].options.paced = true;
        assert_eq!(crate::ledger::changes(&ledger), []);
    }

    /// What is said of changes from one rate to another.
    fn of(changes: &[(f64, f64)]) -> String {
        let mut ledger = clean();
        let change = |&(before_bytes_per_s, after_bytes_per_s)| RateChange {
            before_bytes_per_s,
            after_bytes_per_s,
            ..RateChange::default()
        };
        ledger.changes = changes.iter().map(change).collect();
        says(RULE.id, &ledger).unwrap().1
    }

    #[test]
    fn the_largest_of_several_changes_is_reported() {
        const MIB: f64 = 1_048_576.0;
        let text = of(&[(100.0 * MIB, 80.0 * MIB), (80.0 * MIB, 8.0 * MIB)]);
        assert!(text.starts_with("the rate fell by 90.0 %, from 80.0 MiB/s"), "{text}");
        assert!(text.ends_with("(1 more change)"), "{text}");
        // A fall to a third is more than a rise to the double.
        let text = of(&[(10.0 * MIB, 20.0 * MIB), (30.0 * MIB, 10.0 * MIB)]);
        assert!(text.starts_with("the rate fell by 66.7 %"), "{text}");
    }

    #[test]
    fn of_next_to_nothing_no_share_is_reported() {
        assert!(of(&[(1000.0, 99_900.0)]).starts_with("the rate rose by"));
        let text = of(&[(1000.0, 100_000.0)]);
        assert!(text.starts_with("the rate rose from"), "{text}");
        assert!(of(&[(0.0, 1e9)]).starts_with("the rate rose from"), "from nothing");
    }
}
