//! Writes that were still in memory when the clock stopped.

use super::{Found, Rule, bytes, percent};
use iosonde_report::ledger::{Ledger, Observed, Severity};

pub(super) const RULE: Rule = Rule {
    id: "not-durable",
    severity: Severity::Wrong,
    condition: "more than 1 % of the bytes written had not been written back when the clock stopped (warning from 5 %, wrong from 25 %)",
    meaning: "A buffered write is done when memory has it. What the device had not got when the clock \
              stopped is in the told rate and not in the device's. The ledger tells the rate to \
              durability: what it would have been had the clock run until all was safe.",
    remedy: "set end_fsync=1, so that the clock runs until the data is safe; or direct=1; or quote \
             the rate to durability",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    let Some(writes) = &ledger.writes else { return Vec::new() };
    let Some(share) = writes.unwritten_share().filter(|&share| share > 0.01) else {
        return Vec::new();
    };
    let severity = match share {
        share if share >= 0.25 => Severity::Wrong,
        share if share >= 0.05 => Severity::Warning,
        _ => Severity::Note,
    };
    let rate = |value: f64| format!("{}/s", bytes(value as u64));
    let durable = match &writes.durable_bytes_per_s {
        Observed::Is(durable) => format!("{} to durability", rate(*durable)),
        Observed::Unknown(why) => format!("the rate to durability is unknown: {why}"),
    };
    let unwritten = writes.unwritten_bytes.get().copied().unwrap_or(0);
    Found::of_run(
        severity,
        format!(
            "{} of {} written ({}) was not on the device when the clock stopped: {} as told, {durable}",
            bytes(unwritten.min(writes.asked_bytes)),
            bytes(writes.asked_bytes),
            percent(share),
            rate(writes.told_bytes_per_s)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;

    #[test]
    fn the_remainder_and_both_rates_are_told() {
        let mut ledger = writer();
        assert_eq!(says(RULE.id, &ledger), None);
        let writes = ledger.writes.as_mut().unwrap();
        writes.unwritten_bytes = Observed::Is(30 << 30);
        writes.durable_bytes_per_s = Observed::Is(5e8);
        let (severity, sentence) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Wrong);
        assert!(sentence.contains("30.0 GiB of 60.0 GiB written (50.0 %)"), "{sentence}");
        assert!(sentence.contains("476.8 MiB/s to durability"), "{sentence}");
        ledger.writes.as_mut().unwrap().unwritten_bytes = Observed::unknown("overlayfs");
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
