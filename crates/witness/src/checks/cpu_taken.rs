//! Processor time that the hypervisor or a control group took.

use iosonde_base::text::{duration, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "cpu-taken",
    severity: Severity::Warning,
    condition: "the hypervisor took more than 2 % of the processor time in a run of 1 s or more, or \
                a control group's CPU limit throttled the process",
    meaning: "While a thread is off its processor its I/Os wait with it: tail latencies grow and \
              rates fall for reasons unrelated to the storage.",
    remedy: "repeat on a less loaded host, or raise cpu.max of the control group",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let mut parts = Vec::new();
    if let Some(&steal) = ledger.machine.steal_share.get()
        && steal > 0.02
        // Counted in ticks of ten milliseconds: too coarse for a shorter run.
        && ledger.machine.wall_ns >= 1_000_000_000
    {
        parts.push(format!("the hypervisor took {} of the processor time (steal)", percent(steal)));
    }
    if let Some(&(periods, ns)) = ledger.machine.throttled.get()
        && periods > 0
    {
        let limit = match ledger.environment.cgroup_cpus {
            Some(cpus) => format!("the control group's limit of {cpus} processors"),
            None => "a control group".to_owned(),
        };
        parts.push(format!("{limit} throttled the process {periods} times, for {}", duration(ns)));
    }
    match parts.is_empty() {
        true => Vec::new(),
        false => Statement::one(Severity::Warning, parts.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Observed;

    #[test]
    fn steal_and_throttling_are_reported() {
        let mut ledger = clean();
        ledger.machine.steal_share = Observed::Is(0.01);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.machine.steal_share = Observed::Is(0.1);
        ledger.machine.throttled = Observed::Is((7, 3_000_000));
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert!(text.contains("10 %") && text.contains("7 times, for 3 ms"), "{text}");
    }
}
