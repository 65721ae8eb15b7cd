//! Hazards of mount options.

use super::super::survey::PathSurvey;
use iosonde_report::finding::{FindingRule, Severity, Statement};

/// The rules.
pub(super) static RULES: &[FindingRule<PathSurvey>] = &[
    FindingRule {
        id: "read-only",
        severity: Severity::Note,
        condition: "the file system is mounted read-only",
        meaning: "Jobs that write fail.",
        remedy: "test reads, or remount it with rw",
        check: read_only,
    },
    FindingRule {
        id: "no-barrier",
        severity: Severity::Warning,
        condition: "the file system is mounted with nobarrier or barrier=0",
        meaning: "fsync does not flush the device's write cache and is faster than it should be.",
        remedy: "remount it with barrier=1",
        check: no_barrier,
    },
    FindingRule {
        id: "sync-mount",
        severity: Severity::Warning,
        condition: "the file system is mounted with sync or dirsync",
        meaning: "Every write waits for the device, with or without fsync.",
        remedy: "remount it with async",
        check: sync_mount,
    },
    FindingRule {
        id: "journalled-mount",
        severity: Severity::Warning,
        condition: "the file system is mounted with data=journal",
        meaning: "Everything is written twice, and direct I/O is not direct.",
        remedy: "remount it with data=ordered",
        check: journalled_mount,
    },
    FindingRule {
        id: "compressing-mount",
        severity: Severity::Warning,
        condition: "the file system compresses or may compress data",
        meaning: "Data that compresses well does not reach the device as a whole.",
        remedy: "use data that does not compress (refill_buffers=1), or turn compression off",
        check: compressing_mount,
    },
];

fn read_only(survey: &PathSurvey) -> Vec<Statement> {
    match survey.facts.mount() {
        Some(mount) if mount.has_option("ro") => {
            Statement::one(Severity::Note, "the file system is mounted read-only")
        }
        _ => Vec::new(),
    }
}

fn no_barrier(survey: &PathSurvey) -> Vec<Statement> {
    match survey.facts.mount() {
        Some(mount) if mount.has_option("nobarrier") || mount.option("barrier") == Some("0") => {
            Statement::one(
                Severity::Warning,
                "the file system is mounted without barriers: fsync does not flush the device",
            )
        }
        _ => Vec::new(),
    }
}

fn sync_mount(survey: &PathSurvey) -> Vec<Statement> {
    match survey.facts.mount() {
        Some(mount) if mount.has_option("sync") || mount.has_option("dirsync") => Statement::one(
            Severity::Warning,
            "the file system is mounted sync: every write waits for the device",
        ),
        _ => Vec::new(),
    }
}

fn journalled_mount(survey: &PathSurvey) -> Vec<Statement> {
    match survey.facts.mount() {
        Some(mount) if mount.option("data") == Some("journal") => Statement::one(
            Severity::Warning,
            "the file system is mounted with data=journal: everything is written twice",
        ),
        _ => Vec::new(),
    }
}

fn compressing_mount(survey: &PathSurvey) -> Vec<Statement> {
    match survey.facts.mount() {
        Some(mount)
            if ["compress", "compress-force"].iter().any(|name| mount.has_option(name))
                || mount.filesystem == "zfs" =>
        {
            Statement::one(
                Severity::Warning,
                format!("{} compresses or may compress data here", mount.filesystem),
            )
        }
        _ => Vec::new(),
    }
}
