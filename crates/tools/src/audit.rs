//! `iosonde audit FILE.json`: check a fio result against its own disk counters;
//! described in docs/tools.md.

use clap::{Args, ValueHint};
use iosonde_base::exit;
use iosonde_command::CommandAnswer;
use iosonde_command::definition::{CommandEntry, arguments};
use iosonde_report::finding::{Finding, Severity};
use iosonde_result::audit::{self, FioResult};
use serde_json::{Value, json};
use std::fmt::Write;

/// What `--help` says below the summary.
const DETAILS: &str = "\
Reads results of fio (--output-format=json or json+, 2.x and 3.x) and checks them
against the disk counters that they contain: reads served from memory, writes
that had not reached the device, a queue depth that the device never saw.";

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "audit",
    summary: "check a fio result against its own disk counters",
    details: DETAILS,
    usage: None,
    arguments: AuditArgs::augment_args,
    takes_jobs: false,
    run: |words| answer(words).print(),
};

/// The command line of `iosonde audit`.
#[derive(Args, Clone, Debug)]
pub struct AuditArgs {
    /// Results of fio; - is standard input
    #[arg(value_name = "FILE.json", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<String>,
    /// Print one JSON object; docs/tools.md describes its keys
    #[arg(long)]
    json: bool,
    /// Exit with code 3 after a warning
    #[arg(long)]
    strict: bool,
}

/// What the words after `audit` ask for.
pub fn answer(words: &[String]) -> CommandAnswer {
    let AuditArgs { files, json: as_json, strict } = match arguments(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(answer) => return answer,
    };
    let (mut answer, mut results) = (CommandAnswer::default(), Vec::new());
    for file in &files {
        let stored = match iosonde_command::stored::read(file) {
            Ok(stored) => stored,
            Err(why) => {
                answer.errors.push(format!("iosonde: audit: {file}: {why}"));
                answer.code = exit::REFUSED;
                continue;
            }
        };
        let (run, findings) = (FioResult::of(&stored), audit::findings(&stored));
        let misleads = findings.iter().any(|finding| finding.severity > Severity::Note);
        if strict && misleads && answer.code == exit::OK {
            answer.code = exit::MISLEADING;
        }
        if as_json {
            results.push(document(file, &run, &findings))
        } else {
            answer.text.push_str(&text(file, &run, &findings));
        }
    }
    if as_json {
        let version = format!("iosonde {}", env!("CARGO_PKG_VERSION"));
        let whole =
            json!({ "iosonde": version, "report": "audit", "schema": 1, "results": results });
        answer.text = format!("{whole:#}\n");
    }
    answer
}

fn text(file: &str, run: &FioResult, findings: &[Finding]) -> String {
    let mut out = format!("{}: {}\n\n", iosonde_command::format::printable(file), run.what());
    out.push_str(&iosonde_command::format::findings(findings));
    if findings.is_empty() {
        let _ = writeln!(out, "  the disk counters agree with the results of the jobs");
    }
    out.push('\n');
    out
}

fn document(file: &str, run: &FioResult, findings: &[Finding]) -> Value {
    json!({ "file": file, "what": run.what(), "findings": findings })
}
