//! `iosonde audit FILE.json`: what a result of fio proves about itself, by the
//! counts of the disks below that it carries. docs/tools.md tells all.

mod result;
mod rules;

use super::words::wrapped;
use crate::exit;
use crate::output::{complain, say};
use result::Run;
use rules::{Finding, Severity};
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::Read;

const HELP: &str = "\
iosonde audit FILE.json... [--json] [--strict]

Read results of fio (--output-format=json or json+, any 3.x; - is standard
input) and say what the disk counts in them prove: reads that came from
memory, writes that were not on the device, a queue that the device never saw.

  --json     one object instead of text
  --strict   exit code 3 if something is misleading
";

/// Do what the arguments ask.
pub fn run(arguments: &[String]) -> u8 {
    let (mut as_json, mut strict, mut files) = (false, false, Vec::new());
    for argument in arguments {
        match argument.as_str() {
            "--json" => as_json = true,
            "--strict" => strict = true,
            "--help" | "-h" => {
                say(HELP);
                return exit::OK;
            }
            option if option.starts_with("--") => {
                return refuse(&format!("{option}: there is no such option; see --help"));
            }
            file => files.push(file),
        }
    }
    if files.is_empty() {
        return refuse("name a file with a result: fio --output-format=json --output=FILE ...");
    }
    let (mut code, mut told) = (exit::OK, Vec::new());
    for file in files {
        let run = match read(file).and_then(|text| Run::parse(&text)) {
            Ok(run) => run,
            Err(why) => {
                complain(&format!("iosonde: audit: {file}: {why}"));
                code = exit::REFUSED;
                continue;
            }
        };
        let findings = rules::judge(&run);
        let misleads = findings.iter().any(|finding| finding.severity == Severity::Misleading);
        if strict && misleads && code == exit::OK {
            code = exit::MISLEADING;
        }
        match as_json {
            true => told.push(document(file, &run, &findings)),
            false => say(&text(file, &run, &findings)),
        }
    }
    if as_json {
        let version = format!("iosonde {}", env!("CARGO_PKG_VERSION"));
        let whole = json!({ "iosonde": version, "report": "audit", "schema": 1, "results": told });
        say(&format!("{whole:#}\n"));
    }
    code
}

fn refuse(why: &str) -> u8 {
    complain(&format!("iosonde: audit: {why}"));
    exit::REFUSED
}

fn read(file: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    match file {
        "-" => std::io::stdin().read_to_end(&mut bytes).map(drop),
        path => std::fs::read(path).map(|read| bytes = read),
    }
    .map_err(|error| format!("read it: {error}"))?;
    String::from_utf8(bytes).map_err(|_| "it is not text, so no result of fio".to_owned())
}

fn text(file: &str, run: &Run, findings: &[Finding]) -> String {
    let mut out = format!("{}: {}\n\n", super::words::shown(file), run.what());
    for finding in findings {
        let lead = match finding.severity {
            Severity::Misleading => "  warning   ",
            Severity::Unknown => "  unknown   ",
            Severity::Note => "  note      ",
        };
        wrapped(&mut out, lead, &format!("{} [{}]", finding.says, finding.id));
        if !finding.remedy.is_empty() {
            wrapped(&mut out, "            -> ", &finding.remedy);
        }
    }
    if findings.is_empty() {
        let _ = writeln!(out, "  the disks' counts agree with what the jobs say");
    }
    out.push('\n');
    out
}

fn document(file: &str, run: &Run, findings: &[Finding]) -> Value {
    let findings: Vec<Value> = findings
        .iter()
        .map(|finding| {
            json!({
                "id": finding.id,
                "severity": finding.severity.word(),
                "says": finding.says,
                "remedy": finding.remedy,
            })
        })
        .collect();
    json!({ "file": file, "what": run.what(), "findings": findings })
}
