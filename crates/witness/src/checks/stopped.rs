//! The process was stopped during the run.

use iosonde_base::text::duration;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "stopped",
    severity: Severity::Warning,
    condition: "the process was stopped and continued (SIGSTOP, SIGTSTP) for 50 ms or more while jobs \
                ran",
    meaning: "The clocks of the jobs go on while the process is stopped: rates are too low, and the \
              longest latencies are those of the stop, not of the storage.",
    remedy: "repeat without stopping it",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    const LEAST_NS: u64 = 50_000_000;
    match ledger.machine.stopped_ns {
        0..LEAST_NS => Vec::new(),
        ns => Statement::one(
            Severity::Warning,
            format!("the process was stopped during the run, for at least {}", duration(ns)),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn a_stop_of_50_ms_is_the_least() {
        let mut ledger = clean();
        ledger.machine.stopped_ns = 49_999_999;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.machine.stopped_ns = 50_000_000;
        assert!(says(RULE.id, &ledger).unwrap().1.ends_with("at least 50.0 ms"));
    }
}
