//! The parts of a fingerprint that the system decides. The job's part is
//! added by whoever knows its options.

use iosonde_report::fingerprint::Fingerprint;
use iosonde_report::ledger::{DeviceLedger, Environment, FilesystemFacts, Ledger};

/// The parts, the job's empty.
pub(super) fn of(ledger: &Ledger) -> Fingerprint {
    let environment = &ledger.environment;
    Fingerprint {
        job: String::new(),
        machine: machine(environment),
        kernel: pairs(&[("release", Some(environment.kernel.clone()))]),
        device: each(&ledger.devices, device),
        filesystem: each(&environment.filesystems, filesystem),
        tool: pairs(&[("version", Some(environment.tool.clone()))]),
    }
}

/// `key=value` for each value that is known, joined.
fn pairs(all: &[(&str, Option<String>)]) -> String {
    let known = all.iter().filter_map(|(key, value)| Some(format!("{key}={}", value.as_ref()?)));
    known.collect::<Vec<_>>().join("; ")
}

/// Each thing as text, equal ones once, in an order that does not depend on
/// which was found first.
fn each<T>(things: &[T], text: fn(&T) -> String) -> String {
    let mut texts: Vec<String> = things.iter().map(text).collect();
    iosonde_base::sort(&mut texts);
    texts.dedup();
    texts.join(" | ")
}

fn machine(environment: &Environment) -> String {
    let text = |number: u64| Some(number.to_string());
    pairs(&[
        ("cpu", environment.cpu_model.clone()),
        ("cpus", text(environment.cpus.into())),
        ("governor", environment.governor.clone()),
        ("memory_bytes", text(environment.memory_bytes)),
        ("virtual_machine", environment.virtual_machine.clone()),
        ("container", environment.container.clone()),
        ("cgroup_cpus", environment.cgroup_cpus.map(|cpus| cpus.to_string())),
        ("cgroup_memory_bytes", environment.cgroup_memory_bytes.and_then(text)),
        ("cgroup_io", Some(environment.cgroup_io.join(", ")).filter(|io| !io.is_empty())),
    ])
}

/// A device by what it reports of itself; its name, which may be another after
/// the next start, only where it reports no model.
fn device(device: &DeviceLedger) -> String {
    let facts = &device.facts;
    let name = facts.model.is_none().then(|| device.name.clone());
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    pairs(&[
        ("kind", Some(device.kind.clone())),
        ("name", name),
        ("model", facts.model.clone()),
        ("firmware", facts.firmware.clone()),
        ("rotational", facts.rotational.map(|is| is.to_string())),
        ("scheduler", facts.scheduler.clone()),
        ("write_cache", facts.write_cache.clone()),
        ("fua", facts.fua.map(|has| has.to_string())),
        ("read_ahead_bytes", number(facts.read_ahead_bytes)),
        ("request_bytes_max", number(facts.request_bytes_max)),
    ])
}

fn filesystem(facts: &FilesystemFacts) -> String {
    pairs(&[
        ("type", Some(facts.kind.clone())),
        ("options", Some(facts.options.clone()).filter(|options| !options.is_empty())),
        ("bytes", Some(facts.bytes.to_string())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::fixture::clean;
    use iosonde_report::ledger::Fact;

    #[test]
    fn what_changes_from_run_to_run_is_not_in_it() {
        let one = clean();
        let mut other = clean();
        other.environment.available_memory_bytes = Some(7);
        other.jobs[0].runtime_ns += 1;
        other.devices[0].used = Fact::unknown("no counters");
        assert_eq!(of(&one), of(&other));
    }

    #[test]
    fn a_part_says_what_differs() {
        let one = of(&clean());
        let mut changed = clean();
        changed.environment.kernel = "6.19".into();
        changed.devices[0].facts.scheduler = Some("none".into());
        let other = of(&changed);
        let differs: Vec<&str> = one
            .parts()
            .into_iter()
            .zip(other.parts())
            .filter(|(one, other)| one != other)
            .map(|(part, _)| part.0)
            .collect();
        assert_eq!(differs, ["kernel", "device"]);
        assert!(other.device.contains("scheduler=none"), "{}", other.device);
    }
}
