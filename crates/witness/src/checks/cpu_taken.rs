//! Processors that somebody else took away.

use super::{Found, Rule, percent, time};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "cpu-taken",
    severity: Severity::Warning,
    condition: "the hypervisor took more than 2 % of processor time in a run of a second or more, or a control group's limit stopped the process",
    meaning: "While a thread is held off its processor its I/Os wait with it: latencies grow tails and \
              rates fall for reasons that have nothing to do with the storage.",
    remedy: "repeat on a quieter host, or raise cpu.max of the control group",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    let mut said = Vec::new();
    if let Some(&steal) = ledger.meanwhile.steal_share.get()
        && steal > 0.02
        // Counted in ticks of ten milliseconds: of a moment it says nothing.
        && ledger.meanwhile.wall_ns >= 1_000_000_000
    {
        said.push(format!("the hypervisor took {} of processor time", percent(steal)));
    }
    if let Some(&(periods, ns)) = ledger.meanwhile.throttled.get()
        && periods > 0
    {
        let limit = match ledger.environment.group_cpus {
            Some(cpus) => format!("the control group's limit of {cpus} processors"),
            None => "a control group".to_owned(),
        };
        said.push(format!("{limit} stopped the process {periods} times, for {}", time(ns as f64)));
    }
    match said.is_empty() {
        true => Vec::new(),
        false => Found::of_run(Severity::Warning, said.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Observed;

    #[test]
    fn steal_and_throttling_are_told() {
        let mut ledger = clean();
        ledger.meanwhile.steal_share = Observed::Is(0.01);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.meanwhile.steal_share = Observed::Is(0.1);
        ledger.meanwhile.throttled = Observed::Is((7, 3_000_000));
        let (_, sentence) = says(RULE.id, &ledger).unwrap();
        assert!(
            sentence.contains("10.0 %") && sentence.contains("7 times, for 3.0 ms"),
            "{sentence}"
        );
    }
}
