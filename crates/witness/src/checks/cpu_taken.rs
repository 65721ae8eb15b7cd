//! Processor time that the hypervisor, a control group or other programs took.

use iosonde_base::text::{counted, duration, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::{JobLedger, Ledger, Throttling};

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "cpu-taken",
    severity: Severity::Warning,
    condition: "the hypervisor took more than 2 % of the processor time in a run of 1 s or more, a \
                control group's CPU limit throttled the process, or the thread of a job of 0.5 s or \
                more was ready to run and had no processor for more than 5 % of its time",
    meaning: "While a thread is off its processor its I/Os wait with it: tail latencies grow and \
              rates fall for reasons unrelated to the storage.",
    remedy: "repeat on a less loaded host, run fewer jobs than processors, or raise cpu.max of the \
             control group",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let mut parts = Vec::new();
    if let Some(steal) = ledger.machine.steal_share.get()
        && steal > 0.02
        // Counted in ticks of ten milliseconds: too coarse for a shorter run.
        && ledger.machine.wall_ns >= 1_000_000_000
    {
        parts.push(format!("the hypervisor took {} of the processor time (steal)", percent(steal)));
    }
    if let Some(Throttling { periods, ns }) = ledger.machine.throttled.get()
        && periods > 0
    {
        let limit = match ledger.environment.cgroup_cpus {
            Some(cpus) => format!("the control group's limit of {cpus} processors"),
            None => "a control group".to_owned(),
        };
        parts.push(format!(
            "{limit} throttled the process {}, for {}",
            counted(periods, "time"),
            duration(ns)
        ));
    }
    // A moment of waiting is much of a short run.
    let long = |(job, _): &(&JobLedger, String)| job.runtime_ns >= 500_000_000;
    let named = ledger.jobs.iter().zip(ledger.job_names()).filter(long);
    let waited = named.filter_map(|(job, name)| Some((name, job.cpu.waited_share.get()?)));
    let waited = waited.filter(|(_, share)| *share > 0.05);
    if let Some((name, share)) = waited.max_by(|one, other| one.1.total_cmp(&other.1)) {
        parts.push(format!(
            "the thread of job {name} was ready to run and waited for a processor for {} of its time",
            percent(share)
        ));
    }
    if parts.is_empty() { Vec::new() } else { Statement::one(Severity::Warning, parts.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Fact;

    #[test]
    fn steal_and_throttling_are_reported() {
        let mut ledger = clean();
        ledger.machine.steal_share = Fact::Known(0.01);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.machine.steal_share = Fact::Known(0.1);
        ledger.machine.throttled = Fact::Known(Throttling { periods: 7, ns: 3_000_000 });
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert!(text.contains("10.0 %") && text.contains("7 times, for 3.00 ms"), "{text}");
    }

    #[test]
    fn the_job_that_waited_most_for_a_processor_is_named() {
        let mut ledger = clean();
        let waited = |ledger: &mut Ledger, job: usize, ms: u64, share: f64| {
            ledger.jobs[job].runtime_ns = ms * 1_000_000;
            ledger.jobs[job].cpu.waited_share = Fact::Known(share);
        };
        let second = ledger.jobs[0].clone();
        ledger.jobs.push(second);
        ledger.jobs[1].name = "second".to_owned();
        waited(&mut ledger, 0, 499, 0.9);
        waited(&mut ledger, 1, 500, 0.05);
        assert_eq!(says(RULE.id, &ledger), None, "too short, and not more than 5 %");
        waited(&mut ledger, 0, 500, 0.06);
        waited(&mut ledger, 1, 500, 0.3);
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert!(text.contains("job second") && text.contains("30.0 %"), "{text}");
    }

    #[test]
    fn two_percent_of_steal_in_a_second_are_the_least() {
        let mut ledger = clean();
        let mut with = |share: f64, ms: u64| {
            ledger.machine.steal_share = Fact::Known(share);
            ledger.machine.wall_ns = ms * 1_000_000;
            says(RULE.id, &ledger).is_some()
        };
        assert!(with(0.021, 1000) && !with(0.02, 1000) && !with(0.021, 999));
    }
}
