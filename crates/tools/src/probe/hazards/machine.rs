//! Hazards of the machine: other programs, limits, the hypervisor.

use super::super::survey::PathSurvey;
use iosonde_base::text::{bytes, count, counted, duration, percent};
use iosonde_direct::Tristate;
use iosonde_report::finding::{FindingRule, Severity, Statement};

/// The rules.
pub(super) static RULES: &[FindingRule<PathSurvey>] = &[
    FindingRule {
        id: "other-traffic",
        severity: Severity::Warning,
        condition: "other programs use a disk below the path",
        meaning: "The disk's time is shared.",
        remedy: "find the program (iotop, or /proc/PID/io), and test when the disk is idle",
        check: other_traffic,
    },
    FindingRule {
        id: "busy-processors",
        severity: Severity::Warning,
        condition: "other programs use more than 25 % of the processors",
        meaning: "Fast devices are limited by the processors.",
        remedy: "test when the machine is idle",
        check: busy_processors,
    },
    FindingRule {
        id: "cpu-steal",
        severity: Severity::Warning,
        condition: "the hypervisor takes 2 % or more of the processor time",
        meaning: "Threads wait for a processor, and their I/Os with them.",
        remedy: "repeat at other times, or use a machine with dedicated processors",
        check: cpu_steal,
    },
    FindingRule {
        id: "virtual-machine",
        severity: Severity::Note,
        condition: "the machine is virtual",
        meaning: "Caches, limits and neighbours of the host cannot be seen from inside.",
        remedy: "find out the disk's cache mode and limits on the host; repeat at other times",
        check: virtual_machine,
    },
    FindingRule {
        id: "cpu-governor",
        severity: Severity::Note,
        condition: "the frequency governor is not performance",
        meaning: "Latencies include the time in which a processor raises its frequency.",
        remedy: "use cpupower frequency-set -g performance",
        check: cpu_governor,
    },
    FindingRule {
        id: "few-processors",
        severity: Severity::Note,
        condition: "the process has two processors or fewer",
        meaning: "Jobs, the tester and the kernel's threads share them.",
        remedy: "use few jobs and no sqthread_poll; check the cpu line of the report",
        check: few_processors,
    },
    FindingRule {
        id: "cpu-limit",
        severity: Severity::Warning,
        condition: "a control group limits the processor time",
        meaning: "The process is throttled when it has used up its share.",
        remedy: "raise cpu.max",
        check: cpu_limit,
    },
    FindingRule {
        id: "memory-limit",
        severity: Severity::Warning,
        condition: "a control group limits memory",
        meaning: "The limit includes the page cache: buffered I/O is throttled by it.",
        remedy: "raise memory.max, or set direct=1",
        check: memory_limit,
    },
    FindingRule {
        id: "io-limit",
        severity: Severity::Warning,
        condition: "a control group limits I/O",
        meaning: "Where the limit is below the device's speed, a test measures the limit.",
        remedy: "raise io.max, or test outside the container",
        check: io_limit,
    },
    FindingRule {
        id: "no-io-uring",
        severity: Severity::Note,
        condition: "io_uring is unavailable",
        meaning: "The fastest engine cannot be used.",
        remedy: "use ioengine=libaio with direct=1, or several jobs",
        check: no_io_uring,
    },
];

fn other_traffic(survey: &PathSurvey) -> Vec<Statement> {
    let observed = duration(survey.others.observed.as_nanos() as u64);
    let busy = |(name, requests): &(String, iosonde_direct::Fact<u64>)| {
        // A journal's commit is no traffic.
        let requests = requests.get().filter(|&requests| requests >= 5)?;
        let requests = counted(requests, "request");
        Some(format!("{name} did {requests} for other programs in {observed}"))
    };
    let found = survey.others.requests.iter().filter_map(busy);
    found.flat_map(|text| Statement::one(Severity::Warning, text)).collect()
}

fn busy_processors(survey: &PathSurvey) -> Vec<Statement> {
    match survey.others.cpu_percent.get() {
        Some((used, _)) if used > 25.0 => Statement::one(
            Severity::Warning,
            format!("other programs use {} of the processors", percent(used / 100.0)),
        ),
        _ => Vec::new(),
    }
}

fn cpu_steal(survey: &PathSurvey) -> Vec<Statement> {
    match survey.others.cpu_percent.get() {
        Some((_, stolen)) if stolen >= 2.0 => Statement::one(
            Severity::Warning,
            format!("the hypervisor takes {} of the processor time", percent(stolen / 100.0)),
        ),
        _ => Vec::new(),
    }
}

fn virtual_machine(survey: &PathSurvey) -> Vec<Statement> {
    match &survey.machine.virtual_machine {
        Some(kind) => Statement::one(Severity::Note, format!("this is a virtual machine ({kind})")),
        None => Vec::new(),
    }
}

fn cpu_governor(survey: &PathSurvey) -> Vec<Statement> {
    match &survey.machine.governor {
        Some(governor) if governor != "performance" => Statement::one(
            Severity::Note,
            format!("the processors' frequency governor is {governor}"),
        ),
        _ => Vec::new(),
    }
}

fn few_processors(survey: &PathSurvey) -> Vec<Statement> {
    match u64::from(survey.machine.cpus) {
        few @ 0..=2 => Statement::one(
            Severity::Note,
            format!("this process has {}", counted(few, "processor")),
        ),
        _ => Vec::new(),
    }
}

fn cpu_limit(survey: &PathSurvey) -> Vec<Statement> {
    match survey.limits.cpus {
        Some(cpus) => Statement::one(
            Severity::Warning,
            format!("the control group allows {} processors", count(cpus)),
        ),
        None => Vec::new(),
    }
}

fn memory_limit(survey: &PathSurvey) -> Vec<Statement> {
    match survey.limits.memory_bytes {
        Some(memory) => Statement::one(
            Severity::Warning,
            format!("the control group allows {} of memory, page cache included", bytes(memory)),
        ),
        None => Vec::new(),
    }
}

fn io_limit(survey: &PathSurvey) -> Vec<Statement> {
    match survey.limits.io.as_slice() {
        [] => Vec::new(),
        limits => Statement::one(
            Severity::Warning,
            format!("the control group limits I/O ({})", limits.join("; ")),
        ),
    }
}

fn no_io_uring(survey: &PathSurvey) -> Vec<Statement> {
    // Nobody looks for it where no kernel has it.
    let may_be = iosonde_engine::elsewhere("io_uring").is_none();
    match survey.trials.of("io_uring").filter(|trial| may_be && trial.verdict == Tristate::No) {
        Some(ring) => {
            Statement::one(Severity::Note, format!("io_uring is unavailable: {}", ring.detail))
        }
        None => Vec::new(),
    }
}
