//! Hazards of a file that exists.

use super::super::survey::PathSurvey;
use iosonde_base::text::{bytes, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};

/// The rules.
pub(super) static RULES: &[FindingRule<PathSurvey>] = &[
    FindingRule {
        id: "holes",
        severity: Severity::Warning,
        condition: "the file has holes or extents that were never written",
        meaning: "Reads of such ranges return zeros and access no device.",
        remedy: "write the file once before reading it",
        check: holes,
    },
    FindingRule {
        id: "compressed-file",
        severity: Severity::Warning,
        condition: "extents of the file are compressed or encoded",
        meaning: "Fewer bytes reach the device than the job reads or writes.",
        remedy: "test a file that is not compressed",
        check: compressed_file,
    },
    FindingRule {
        id: "cached-file",
        severity: Severity::Note,
        condition: "part of the file is in the page cache",
        meaning: "Buffered reads of that part come from memory.",
        remedy: "drop it with iosonde cache --drop, or leave invalidate at 1",
        check: cached_file,
    },
    FindingRule {
        id: "journalled-file",
        severity: Severity::Warning,
        condition: "the data of the file is journalled",
        meaning: "Everything is written twice, and direct I/O is not direct.",
        remedy: "clear the flag (chattr -j)",
        check: journalled_file,
    },
];

fn holes(survey: &PathSurvey) -> Vec<Statement> {
    let Some(extents) = survey.file.as_ref().and_then(|file| file.extents.known()) else {
        return Vec::new();
    };
    match extents.empty_share() {
        share if share > 0.0 => Statement::one(
            Severity::Warning,
            format!("{} of the file is holes or was never written", percent(share)),
        ),
        _ => Vec::new(),
    }
}

fn compressed_file(survey: &PathSurvey) -> Vec<Statement> {
    let extents = survey.file.as_ref().and_then(|file| file.extents.known());
    match extents.map_or(0, |extents| extents.encoded_bytes) {
        0 => Vec::new(),
        encoded => Statement::one(
            Severity::Warning,
            format!("{} of the file are compressed or encoded", bytes(encoded)),
        ),
    }
}

fn cached_file(survey: &PathSurvey) -> Vec<Statement> {
    let cached = survey.file.as_ref().and_then(|file| file.cached.known());
    match cached.map_or(0, |cached| cached.cached_bytes()) {
        0 => Vec::new(),
        cached => Statement::one(
            Severity::Note,
            format!("{} of the file are in the page cache", bytes(cached)),
        ),
    }
}

fn journalled_file(survey: &PathSurvey) -> Vec<Statement> {
    let attributes = survey.file.as_ref().and_then(|file| file.attributes.known());
    match attributes {
        Some(attributes) if attributes.journalled => {
            Statement::one(Severity::Warning, "the data of the file is journalled")
        }
        _ => Vec::new(),
    }
}
