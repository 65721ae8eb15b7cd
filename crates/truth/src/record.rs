//! What a command printed and what was counted beside it: kept in a file, and judged again.

use crate::check::{Check, Outcome};
use crate::table::Case;
use crate::value::Truths;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// What the program shows to whoever called it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownOutput {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its exit code; `None` after a signal.
    pub code: Option<i32>,
}

/// A run of a case.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The command line, as it was called.
    pub line: String,
    /// What the program showed.
    pub printed: ShownOutput,
    pub(crate) truths: Truths,
    /// Others took processor time, so that findings of that are true.
    pub(crate) is_busy: bool,
    /// The kernel's name of the device right below; empty where there is none.
    pub(crate) device: String,
}

/// What came of a case.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The command line, as it was called.
    pub line: String,
    /// Each check and what it has shown.
    pub outcomes: Vec<(Check, Outcome)>,
}

impl CaseResult {
    /// Of a case that could not be tried, for this reason.
    pub fn not_tried(case: &Case, why: &str) -> CaseResult {
        let outcome = |check: &Check| (check.clone(), Outcome::NotTried(why.to_owned()));
        CaseResult { line: case.line.clone(), outcomes: case.checks.iter().map(outcome).collect() }
    }
}

impl Record {
    /// The checks of its case, held against it.
    pub fn judge(&self, case: &Case) -> CaseResult {
        self.judge_as(case, &self.printed)
    }

    /// The same of something else that was printed there.
    pub(crate) fn judge_as(&self, case: &Case, printed: &ShownOutput) -> CaseResult {
        let document = printed.document();
        let output = crate::catalogue::one_line(&format!("{} {}", printed.stdout, printed.stderr));
        let seen = crate::check::Evidence {
            document: &document,
            output: &output,
            code: printed.code,
            truths: &self.truths,
            is_busy: self.is_busy,
            device: &self.device,
        };
        let stale = self.is_of_another_time(&document);
        let judged = |check: &Check| match &stale {
            Some(why) => (check.clone(), Outcome::WrongFigure(why.clone())),
            None => (check.clone(), check.judge(&seen)),
        };
        CaseResult { line: self.line.clone(), outcomes: case.checks.iter().map(judged).collect() }
    }

    /// A result that was not made between the start and the end of the program.
    fn is_of_another_time(&self, document: &Value) -> Option<String> {
        let made = document.get("timestamp_ms")?.as_f64()?;
        let (began, ended) = (self.truths.get("began-ms")?, self.truths.get("ended-ms")?);
        // The report has whole milliseconds.
        let within = made >= began - 1.0 && made <= ended + 1.0;
        (!within).then(|| format!("timestamp_ms is {made}; the run was {began:.0} to {ended:.0}"))
    }

    /// Keep it in this directory.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, directory: &Path, case: &Case) -> Result<(), String> {
        let document = json!({
            "title": case.title, "line": self.line, "stdout": self.printed.stdout,
            "stderr": self.printed.stderr, "code": self.printed.code, "truths": self.truths,
            "is_busy": self.is_busy, "device": self.device,
        });
        let path = path(directory, case);
        let written = fs::create_dir_all(directory)
            .and_then(|()| fs::write(&path, format!("{document:#}\n")));
        written.map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The one that was kept there.
    ///
    /// # Errors
    /// If there is none of this case.
    pub fn load(directory: &Path, case: &Case) -> Result<Record, String> {
        let path = path(directory, case);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| failed(&error))?;
        let document: Value = serde_json::from_str(&text).map_err(|error| failed(&error))?;
        let word = |key: &str| document[key].as_str().unwrap_or_default().to_owned();
        let truths = document["truths"].as_object().ok_or_else(|| failed(&"no truths"))?;
        let truth = |(name, value): (&String, &Value)| Some((name.clone(), value.as_f64()?));
        Ok(Record {
            line: word("line"),
            printed: ShownOutput {
                stdout: word("stdout"),
                stderr: word("stderr"),
                code: document["code"].as_i64().and_then(|code| code.try_into().ok()),
            },
            truths: truths.iter().filter_map(truth).collect(),
            is_busy: document["is_busy"] == true,
            device: word("device"),
        })
    }
}

/// A case is known by its title: lines are added above it.
fn path(directory: &Path, case: &Case) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    directory.join(format!("{}.json", case.title.chars().map(plain).collect::<String>()))
}

impl ShownOutput {
    /// Its standard output as JSON; `null` if it is none.
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{TableFile, cases};

    fn case() -> Case {
        let text = "== one: two/three\nrun: x\n- /a = disk.read within 1\n- says not kept\n";
        cases(&[TableFile { name: "t", text }]).unwrap().remove(0)
    }

    fn record(timestamp: u64) -> Record {
        let truths = [("disk.read", 7.0), ("began-ms", 1e3), ("ended-ms", 2e3)];
        Record {
            line: "x".into(),
            printed: ShownOutput {
                stdout: format!("{{\"a\": 7, \"timestamp_ms\": {timestamp}}}"),
                stderr: "note".into(),
                code: Some(3),
            },
            truths: truths.map(|(name, value)| (name.to_owned(), value)).into(),
            is_busy: true,
            device: "loop7".into(),
        }
    }

    #[test]
    fn what_was_kept_is_judged_again_with_the_same_outcome() {
        let folder = iosonde_testing::Folder::temporary("records");
        record(1500).save(folder.path(), &case()).unwrap();
        let again = Record::load(folder.path(), &case()).unwrap();
        assert_eq!((&again.printed, again.is_busy), (&record(1500).printed, true));
        assert_eq!(again.device, "loop7");
        let result = again.judge(&case());
        assert!(result.outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Right));
    }

    #[test]
    fn a_result_of_another_time_is_wrong_whatever_it_says() {
        for stamp in [900, 2100] {
            let result = record(stamp).judge(&case());
            let wrong = |outcome: &Outcome| matches!(outcome, Outcome::WrongFigure(_));
            assert!(result.outcomes.iter().all(|(_, outcome)| wrong(outcome)));
        }
    }
}
