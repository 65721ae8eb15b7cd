//! Pages of files that leave memory on somebody else's account.

use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::{JobLedger, Ledger};

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "page-out",
    severity: Severity::Note,
    condition: "buffered jobs read what was in the page cache, and DAMON drops idle pages on this \
                machine",
    meaning: "DAMON, a part of Linux, watches which pages are used and drops idle ones of files, \
              without a shortage of memory. What is in the page cache shrinks during a run and between \
              two, so that rates of cached reads differ from run to run.",
    remedy: "set direct=1; or switch the scheme off while you test \
             (/sys/kernel/mm/damon/admin/kdamonds/0/state)",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let Some(who) = &ledger.environment.pages_out else { return Vec::new() };
    let uses_cache = |job: &JobLedger| {
        let known = |reads: &iosonde_report::ledger::Reads| {
            [&reads.cache_bytes, &reads.cached_at_start_bytes]
                .iter()
                .any(|bytes| bytes.get().is_some_and(|bytes| bytes > 0))
        };
        !job.direct.requested && job.reads.as_ref().is_some_and(known)
    };
    if ledger.jobs.iter().any(uses_cache) {
        Statement::one(
            Severity::Note,
            format!("{who} drops idle pages on this machine: the page cache may shrink meanwhile"),
        )
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Fact;

    #[test]
    fn it_matters_to_reads_of_the_page_cache() {
        let mut ledger = clean();
        ledger.environment.pages_out = Some("DAMON".into());
        assert_eq!(says(RULE.id, &ledger), None, "direct I/O");
        ledger.jobs[0].direct.requested = false;
        assert_eq!(says(RULE.id, &ledger), None, "nothing was cached");
        ledger.jobs[0].reads.as_mut().unwrap().cached_at_start_bytes = Fact::Known(4096);
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("DAMON drops"));
        ledger.environment.pages_out = None;
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
