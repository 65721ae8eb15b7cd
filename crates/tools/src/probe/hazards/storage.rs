//! Hazards of the file system a path is on.

use super::super::survey::{PathSurvey, Space};
use iosonde_base::text::{bytes, percent_of};
use iosonde_direct::{Fact, Tristate};
use iosonde_report::finding::{FindingRule, Severity, Statement};

/// The rules.
pub(super) static RULES: &[FindingRule<PathSurvey>] = &[
    FindingRule {
        id: "memory-files",
        severity: Severity::Wrong,
        condition: "the path is on tmpfs, ramfs, devtmpfs or hugetlbfs",
        meaning: "The file system keeps its files in memory: no result is of a device.",
        remedy: "test a directory on a disk",
        check: memory_files,
    },
    FindingRule {
        id: "not-direct",
        severity: Severity::Wrong,
        condition: "a read or write with direct=1 went through the page cache",
        meaning: "The file system accepts O_DIRECT and ignores it.",
        remedy: "use another file system, or read the results as those of buffered I/O with fsync",
        check: not_direct,
    },
    FindingRule {
        id: "remote",
        severity: Severity::Warning,
        condition: "the path is on NFS, CIFS, Ceph, 9p, virtiofs or Lustre",
        meaning: "Another machine serves the file system: its page cache answers reads, and the network is part of each latency.",
        remedy: "test on the server too, with files larger than its memory",
        check: remote,
    },
    FindingRule {
        id: "fuse",
        severity: Severity::Warning,
        condition: "the path is on a FUSE file system",
        meaning: "A program serves the file system: it may cache data in memory, and it takes processor time.",
        remedy: "test the file system below it too",
        check: fuse,
    },
    FindingRule {
        id: "overlay",
        severity: Severity::Warning,
        condition: "the path is on overlayfs",
        meaning: "overlayfs copies a file of a lower layer up at its first write, and does not show what is cached.",
        remedy: "test in a volume or a bind mount of the disk's own file system",
        check: overlay,
    },
    FindingRule {
        id: "nearly-full",
        severity: Severity::Warning,
        condition: "the file system is full to 90 % or more",
        meaning: "The file system must search for free space, and flash has fewer free blocks to work with.",
        remedy: "free some space, to a quarter or more",
        check: nearly_full,
    },
    FindingRule {
        id: "smaller-than-memory",
        severity: Severity::Note,
        condition: "the free space is less than twice the machine's memory",
        meaning: "A file that fits here may be cached as a whole.",
        remedy: "set direct=1, or use invalidate=1 and read each block once",
        check: smaller_than_memory,
    },
];

/// The type of the file system.
fn filesystem(survey: &PathSurvey) -> Option<&str> {
    survey.facts.mount().map(|mount| mount.filesystem.as_str())
}

/// Room on a file system that is not in memory.
fn space(survey: &PathSurvey) -> Option<&Space> {
    match &survey.space {
        Some(Fact::Known(space)) if !super::is_memory(survey) => Some(space),
        _ => None,
    }
}

fn memory_files(survey: &PathSurvey) -> Vec<Statement> {
    match survey.facts.mount() {
        Some(mount) if super::is_memory(survey) => Statement::one(
            Severity::Wrong,
            format!("{} keeps its files in memory: no result is of a device", mount.filesystem),
        ),
        _ => Vec::new(),
    }
}

fn not_direct(survey: &PathSurvey) -> Vec<Statement> {
    if super::is_memory(survey) {
        return Vec::new();
    }
    let ways = [("direct_read", "reads"), ("direct_write", "writes")];
    let lost = |(id, what): (&str, &str)| {
        let trial = survey.trials.of(id).filter(|trial| trial.verdict == Tristate::No)?;
        Some(format!("{what} with direct=1 go through the page cache: {}", trial.detail))
    };
    let found = ways.into_iter().filter_map(lost);
    found.flat_map(|text| Statement::one(Severity::Wrong, text)).collect()
}

fn remote(survey: &PathSurvey) -> Vec<Statement> {
    const REMOTE: [&str; 8] = ["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "virtiofs", "lustre"];
    match filesystem(survey) {
        Some(kind) if REMOTE.contains(&kind) => {
            Statement::one(Severity::Warning, format!("{kind} is served by another machine"))
        }
        _ => Vec::new(),
    }
}

fn fuse(survey: &PathSurvey) -> Vec<Statement> {
    match filesystem(survey) {
        Some(kind) if kind.starts_with("fuse") => {
            Statement::one(Severity::Warning, format!("{kind} is served by a program"))
        }
        _ => Vec::new(),
    }
}

fn overlay(survey: &PathSurvey) -> Vec<Statement> {
    match filesystem(survey) {
        Some("overlay") => Statement::one(
            Severity::Warning,
            "overlayfs copies a file up at its first write and hides what is cached",
        ),
        _ => Vec::new(),
    }
}

fn nearly_full(survey: &PathSurvey) -> Vec<Statement> {
    let Some(space) = space(survey).filter(|space| space.bytes > 0 && space.fill_percent() >= 90)
    else {
        return Vec::new();
    };
    let used = percent_of(space.used_bytes(), space.bytes);
    let text = format!("the file system is {used} full ({} free)", bytes(space.free_bytes));
    Statement::one(Severity::Warning, text)
}

fn smaller_than_memory(survey: &PathSurvey) -> Vec<Statement> {
    let memory = survey.machine.memory_bytes;
    match space(survey) {
        Some(space) if space.available_bytes < memory.saturating_mul(2) => Statement::one(
            Severity::Note,
            format!(
                "{} available, less than twice the memory of {}",
                bytes(space.available_bytes),
                bytes(memory)
            ),
        ),
        _ => Vec::new(),
    }
}
