//! Findings and notes that several hosts have, each once.

use iosonde_report::finding::Finding;
use iosonde_report::hosts::SharedFinding;
use std::collections::HashMap;

/// Notes printed at most: a note that each host has in its own words is no news.
const NOTES_MOST: usize = 20;

/// Texts of hosts, each with who has it.
#[derive(Debug, Default)]
pub(super) struct SharedTexts {
    findings: Vec<SharedFinding>,
    finding_at: HashMap<String, usize>,
    notes: Vec<(String, Vec<String>)>,
    note_at: HashMap<String, usize>,
}

impl SharedTexts {
    /// Add the findings of a host.
    pub fn findings(&mut self, host: &str, verdict: &[Finding]) {
        for finding in verdict {
            let at = *self.finding_at.entry(finding.id.to_string()).or_insert_with(|| {
                self.findings.push(SharedFinding {
                    id: finding.id.to_string(),
                    severity: finding.severity.clone(),
                    statement: finding.statement.clone(),
                    hosts: Vec::new(),
                });
                self.findings.len() - 1
            });
            let shared = &mut self.findings[at];
            if finding.severity > shared.severity {
                shared.severity = finding.severity.clone();
            }
            if shared.hosts.last().is_none_or(|last| last != host) {
                shared.hosts.push(host.to_owned());
            }
        }
    }

    /// Add the notes of a host.
    pub fn notes<'a>(&mut self, host: &str, notes: impl Iterator<Item = &'a String>) {
        for note in notes {
            let known = self.note_at.get(note).copied();
            match known {
                Some(at) => self.notes[at].1.push(host.to_owned()),
                None if self.notes.len() <= NOTES_MOST => {
                    self.note_at.insert(note.clone(), self.notes.len());
                    self.notes.push((note.clone(), vec![host.to_owned()]));
                }
                None => {}
            }
        }
    }

    /// The notes, each with its hosts.
    pub fn note_lines(&mut self, hosts: usize) -> Vec<String> {
        let more = self.notes.len() > NOTES_MOST;
        self.notes.truncate(NOTES_MOST);
        let line = |(note, of): (String, Vec<String>)| match of.len() {
            1 => format!("{}: {note}", of[0]),
            all if all == hosts => note,
            some => format!("{some} hosts ({}, ...): {note}", of[0]),
        };
        let mut lines: Vec<String> =
            std::mem::take(&mut self.notes).into_iter().map(line).collect();
        if more {
            lines.push("further notes are in the results of the hosts".to_owned());
        }
        lines
    }

    /// The findings, the most severe first.
    pub fn into_findings(mut self) -> Vec<SharedFinding> {
        iosonde_base::sort_by(&mut self.findings, |one, other| {
            other.severity.cmp(&one.severity).then_with(|| one.id.cmp(&other.id))
        });
        self.findings
    }
}
