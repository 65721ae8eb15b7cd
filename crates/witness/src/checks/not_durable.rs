//! Writes that were still dirty in the page cache at the end of the run.

use iosonde_base::text::{bytes, percent, rate};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::{Fact, Ledger, Writes};

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "not-durable",
    severity: Severity::Wrong,
    condition: "more than 1 % of the bytes written were still dirty in the page cache at the end of \
                the run (warning from 5 %, wrong from 25 %); or, where that is not reported, the \
                durable rate was below 90 % of the reported one (wrong below 75 %)",
    meaning: "A buffered write completes when the data is in memory. Data that had not reached \
              the device when the clock stopped counts in the reported rate. The durable rate \
              includes the time until write-back had finished.",
    remedy: "set end_fsync=1 to include write-back; or set direct=1; or quote the durable rate",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let Some(writes) = &ledger.writes else { return Vec::new() };
    let Some(share) = writes.dirty_at_end_share() else { return by_rate(writes) };
    if share <= 0.01 {
        return Vec::new();
    }
    let severity = match share {
        share if share >= 0.25 => Severity::Wrong,
        share if share >= 0.05 => Severity::Warning,
        _ => Severity::Note,
    };
    let durable = match &writes.durable_bytes_per_s {
        Fact::Known(durable) => {
            format!("durable rate {} (write-back included)", rate(*durable))
        }
        Fact::Unknown(why) => format!("durable rate unknown: {why}"),
    };
    let dirty = writes.dirty_at_end_bytes.get().unwrap_or(0);
    let least = if writes.dirty_at_least { "at least " } else { "" };
    Statement::one(
        severity,
        format!(
            "{least}{} of {} written ({}) was still dirty in the page cache at the end of the run: reported \
             rate {}, {durable}",
            bytes(dirty.min(writes.completed_bytes)),
            bytes(writes.completed_bytes),
            percent(share),
            rate(writes.reported_bytes_per_s)
        ),
    )
}

/// Where dirty pages are not reported, the durable rate shows them.
fn by_rate(writes: &Writes) -> Vec<Statement> {
    let (reported, Some(durable)) = (writes.reported_bytes_per_s, writes.durable_bytes_per_s.get())
    else {
        return Vec::new();
    };
    // The last sync takes a moment, which counts in a short run.
    let moment = writes.until_durable_ns.get().is_none_or(|ns| ns < 500_000_000);
    let severity = match durable / reported.max(1.0) {
        _ if moment => return Vec::new(),
        share if share < 0.75 => Severity::Wrong,
        share if share < 0.9 => Severity::Warning,
        _ => return Vec::new(),
    };
    let text = format!(
        "the reported rate {} is not durable: with write-back it is {}",
        rate(reported),
        rate(durable)
    );
    Statement::one(severity, text)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;

    #[test]
    fn the_remainder_and_both_rates_are_reported() {
        let mut ledger = writer();
        assert_eq!(says(RULE.id, &ledger), None);
        let writes = ledger.writes.as_mut().unwrap();
        writes.dirty_at_end_bytes = Fact::Known(30 << 30);
        writes.durable_bytes_per_s = Fact::Known(5e8);
        let (severity, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Wrong);
        assert!(text.starts_with("30 GiB of 60 GiB written (50.0 %)"), "{text}");
        assert!(text.contains("durable rate 477 MiB/s"), "{text}");
        ledger.writes.as_mut().unwrap().dirty_at_least = true;
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert!(text.starts_with("at least 30 GiB of 60 GiB written"), "{text}");
        ledger.writes.as_mut().unwrap().dirty_at_end_bytes = Fact::unknown("overlayfs");
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn the_share_that_is_dirty_decides() {
        let mut ledger = writer();
        let mut with = |dirty: u64| {
            let writes = ledger.writes.as_mut().unwrap();
            writes.completed_bytes = 100 << 20;
            writes.dirty_at_end_bytes = Fact::Known(dirty);
            says(RULE.id, &ledger).map(|(severity, _)| severity)
        };
        assert_eq!(with(1 << 20), None);
        assert_eq!(with((1 << 20) + 4096), Some(Severity::Note));
        assert_eq!(with((5 << 20) - 4096), Some(Severity::Note));
        assert_eq!(with(5 << 20), Some(Severity::Warning));
        assert_eq!(with((25 << 20) - 4096), Some(Severity::Warning));
        assert_eq!(with(25 << 20), Some(Severity::Wrong));
    }

    #[test]
    fn where_dirty_pages_are_not_known_the_durable_rate_decides() {
        let mut ledger = writer();
        let writes = ledger.writes.as_mut().unwrap();
        writes.dirty_at_end_bytes = Fact::unknown("overlayfs");
        writes.until_durable_ns = Fact::Known(500_000_000);
        let mut with = |durable: f64| {
            ledger.writes.as_mut().unwrap().durable_bytes_per_s = Fact::Known(durable);
            says(RULE.id, &ledger)
        };
        assert_eq!(with(0.9e9), None);
        assert_eq!(with(0.89e9).unwrap().0, Severity::Warning);
        assert_eq!(with(0.75e9).unwrap().0, Severity::Warning);
        let (severity, text) = with(0.5e9).unwrap();
        assert_eq!(severity, Severity::Wrong);
        assert!(text.ends_with("with write-back it is 477 MiB/s"), "{text}");
        // A sync that took a moment shows nothing.
        ledger.writes.as_mut().unwrap().until_durable_ns = Fact::Known(499_999_999);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.writes.as_mut().unwrap().until_durable_ns = Fact::unknown("overlayfs");
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
