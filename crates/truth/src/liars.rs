//! Programs that lie: what each of them makes of a true output. A table that does not notice
//! them says nothing about a program that passes it.

use crate::catalogue::Catalogue;
use crate::check::Outcome;
use crate::record::{CaseResult, Record, ShownOutput};
use crate::table::Case;
use serde_json::{Map, Value, json};

/// A way to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Liar {
    /// It finds nothing, knows everything and ends with 0.
    NothingFound,
    /// Every rule finds something.
    AllFound,
    /// All bytes came from the device or are there, nothing else was counted.
    AllFromDevice,
    /// Every figure is larger by 30 %.
    Scaled,
    /// The result of another run, under today's date.
    Yesterday,
}

impl Liar {
    /// All of them.
    pub const ALL: [Liar; 5] =
        [Liar::NothingFound, Liar::AllFound, Liar::AllFromDevice, Liar::Scaled, Liar::Yesterday];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Liar::NothingFound => "nothing-found",
            Liar::AllFound => "all-found",
            Liar::AllFromDevice => "all-from-device",
            Liar::Scaled => "scaled",
            Liar::Yesterday => "yesterday",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Liar> {
        Liar::ALL.into_iter().find(|liar| liar.name() == name)
    }

    /// What it shows instead of `printed`; `other` is what another run showed.
    ///
    /// # Errors
    /// If the rules cannot be read.
    pub fn falsify(
        self,
        printed: &ShownOutput,
        other: &ShownOutput,
    ) -> Result<ShownOutput, String> {
        let mut document = printed.document();
        let is_json = !document.is_null();
        let mut lie = printed.clone();
        match self {
            Liar::NothingFound if is_json => find_nothing(&mut document),
            Liar::NothingFound => lie.stdout = without_findings(&lie.stdout),
            Liar::AllFound if is_json => find_all(&mut document, Catalogue::get()?),
            Liar::AllFound => lie.stdout.push_str(&all_findings(Catalogue::get()?)),
            Liar::AllFromDevice if is_json => move_to_device(&mut document),
            Liar::AllFromDevice => lie.stdout = all_at_the_device(&lie.stdout),
            Liar::Scaled if is_json => scale(&mut document),
            Liar::Scaled => lie.stdout = scaled_text(&lie.stdout),
            Liar::Yesterday => {
                lie = other.clone();
                let date = ["timestamp", "timestamp_ms", "time"];
                let date = date.map(|key| (key, document.get(key).cloned()));
                document = other.document();
                for (key, value) in date {
                    if let (Some(old), Some(value)) = (document.get_mut(key), value) {
                        *old = value;
                    }
                }
            }
        }
        if self == Liar::NothingFound {
            lie.stderr = without_findings(&lie.stderr);
            lie.code = Some(0);
        }
        if !document.is_null() {
            lie.stdout = format!("{document:#}\n");
        }
        Ok(lie)
    }

    /// For each case, whether its checks notice this liar; yesterday's result is that of the
    /// case before it that is called in the same way.
    ///
    /// # Errors
    /// If the rules cannot be read.
    pub fn noticed_by(self, tried: &[(Case, Record)]) -> Result<Vec<bool>, String> {
        let noticed = |at: usize| {
            let (case, record) = &tried[at];
            let before = tried[..at].iter().rev().chain(tried[at..].iter().rev());
            let other = before.clone().find(|(other, _)| other.call == case.call);
            let (_, other) = other.unwrap_or(&tried[at]);
            let lie = self.falsify(&record.printed, &other.printed)?;
            Ok(is_noticed(&record.judge(case), &record.judge_as(case, &lie)))
        };
        (0..tried.len()).map(noticed).collect()
    }
}

/// Whether a check that held does not any more.
pub fn is_noticed(before: &CaseResult, after: &CaseResult) -> bool {
    let fails = |outcome: &Outcome| !matches!(outcome, Outcome::Right | Outcome::NotTried(_));
    let mut pairs = before.outcomes.iter().zip(&after.outcomes);
    pairs.any(|((_, before), (_, after))| *before == Outcome::Right && fails(after))
}

/// Lists of findings, in the ledger and in what audit and probe print.
const FINDINGS: [&str; 3] = ["verdict", "findings", "hazards"];

/// `change` of each object of a document and each that is in it.
fn each_object(value: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(members) => {
            change(members);
            members.values_mut().for_each(|value| each_object(value, change));
        }
        Value::Array(all) => all.iter_mut().for_each(|value| each_object(value, change)),
        _ => {}
    }
}

/// Findings that bytes were not at the device.
const OF_MEMORY: [&str; 6] =
    ["page-cache-reads", "holes-read", "not-durable", "no-sync", "memory-files", "cached-file"];

fn find_nothing(document: &mut Value) {
    each_object(document, &mut |members| {
        for (key, value) in members {
            if value.is_array() && (FINDINGS.contains(&&**key) || key == "unknown") {
                *value = json!([]);
            }
        }
    });
}

fn find_all(document: &mut Value, catalogue: &Catalogue) {
    each_object(document, &mut |members| {
        for (key, value) in members {
            let Some(found) = value.as_array_mut().filter(|_| FINDINGS.contains(&&**key)) else {
                continue;
            };
            for (id, severity) in catalogue.rules() {
                if found.iter().all(|finding| finding["id"] != id) {
                    found.push(json!({"id": id, "severity": severity, "statement": "found"}));
                }
            }
        }
    });
}

/// What it does not look at, counters of requests among it, is 0. A ledger keeps its findings:
/// they would give the lie away. Where only findings can lie, as in an audit, those on memory
/// go.
fn move_to_device(document: &mut Value) {
    if document.pointer("/iosonde/ledger").is_none() {
        let on_memory = |finding: &Value| OF_MEMORY.iter().any(|id| finding["id"] == *id);
        each_object(document, &mut |members| {
            for (key, value) in members {
                if let Some(found) = value.as_array_mut().filter(|_| FINDINGS.contains(&&**key)) {
                    found.retain(|finding| !on_memory(finding));
                }
            }
        });
    }
    each_object(document, &mut |members| {
        let completed = members.get("completed_bytes").cloned();
        for (key, value) in members {
            let is_object = value.is_object() && value.get("unknown").is_none();
            match key.as_str() {
                "device_bytes" => *value = completed.clone().unwrap_or(json!(0)),
                "cache_bytes" | "hole_bytes" | "dirty_at_end_bytes" | "dirty_below_bytes" => {
                    *value = json!(0)
                }
                "in_volatile_cache" | "in_memory" => *value = json!(false),
                "honoured" => *value = json!(true),
                "requests_per_read" | "device_bytes_per_byte" => *value = json!(1.0),
                "counters" if is_object => each_number(value, &mut |_| 0.0),
                "files" | "totals" if value.is_array() || is_object => {
                    each_object(value, &mut |file| {
                        for (key, value) in file {
                            if key.contains("cached") || key.contains("dirty") {
                                each_number(value, &mut |_| 0.0);
                            }
                        }
                    });
                }
                _ => {}
            }
        }
    });
}

fn scale(document: &mut Value) {
    let date = document.get("timestamp_ms").cloned();
    each_number(document, &mut |number| number * SCALE);
    if let (Some(now), Some(date)) = (document.get_mut("timestamp_ms"), date) {
        *now = date;
    }
}

/// By how much [`Liar::Scaled`] is too high.
const SCALE: f64 = 1.3;

fn each_number(value: &mut Value, change: &mut dyn FnMut(f64) -> f64) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(|value| each_number(value, change));
        }
        Value::Array(all) => all.iter_mut().for_each(|value| each_number(value, change)),
        Value::Number(number) => {
            let changed = change(number.as_f64().unwrap_or(0.0));
            *value = if number.is_f64() { json!(changed) } else { json!(changed.round() as i64) };
        }
        _ => {}
    }
}

/// Without the lines that state a finding or something unknown.
fn without_findings(text: &str) -> String {
    let words = ["wrong", "warning", "note", "unknown", "verdict"];
    let stays = |line: &&str| !line.contains('[') && words.iter().all(|word| !line.contains(word));
    let left: Vec<&str> = text.lines().filter(stays).collect();
    left.join("\n") + "\n  verdict   clean: no finding\n"
}

fn all_findings(catalogue: &Catalogue) -> String {
    catalogue.rules().map(|(id, severity)| format!("  {severity}: found [{id}]\n")).collect()
}

fn all_at_the_device(text: &str) -> String {
    let words = ["cache", "dirty", "memory", "hole", "unknown", "volatile"];
    let stays = |line: &&str| words.iter().all(|word| !line.contains(word));
    let left: Vec<&str> = text.lines().filter(stays).collect();
    left.join("\n")
        + "\n  writes    100 % from the device; all at the device; direct I/O was honoured\n"
}

/// Each number of a text, larger.
fn scaled_text(text: &str) -> String {
    let mut scaled = String::new();
    let mut digits = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_digit() || c == '.' && !digits.is_empty() {
            digits.push(c);
            continue;
        }
        match digits.parse::<f64>() {
            Ok(number) => scaled.push_str(&format!("{}", (number * SCALE * 100.0).round() / 100.0)),
            Err(_) => scaled.push_str(&digits),
        }
        digits.clear();
        scaled.push(c);
    }
    scaled.pop();
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(stdout: &str, code: i32) -> ShownOutput {
        ShownOutput { stdout: stdout.to_owned(), stderr: String::new(), code: Some(code) }
    }

    fn lie(liar: Liar, stdout: &str) -> ShownOutput {
        let other = printed("{\"timestamp_ms\": 5, \"b\": 2}", 1);
        liar.falsify(&printed(stdout, 3), &other).unwrap()
    }

    const REPORT: &str = r#"{"timestamp_ms": 9, "a": 10, "ledger": {"verdict": [{"id": "not-durable"}],
        "unknown": ["x"], "reads": {"completed_bytes": 4, "device_bytes": {"unknown": "y"},
        "cache_bytes": 3}, "devices": [{"counters": {"read_bytes": 7}}]}}"#;

    #[test]
    fn each_liar_falsifies_a_report_in_its_way() {
        let nothing = lie(Liar::NothingFound, REPORT);
        let ledger = &nothing.document()["ledger"];
        assert_eq!((&ledger["verdict"], &ledger["unknown"]), (&json!([]), &json!([])));
        assert_eq!(nothing.code, Some(0));
        let all = lie(Liar::AllFound, REPORT).document();
        assert!(all["ledger"]["verdict"].as_array().unwrap().len() > 30);
        let device = lie(Liar::AllFromDevice, REPORT).document()["ledger"].clone();
        assert_eq!(device["reads"]["device_bytes"], 4);
        assert_eq!(
            (&device["reads"]["cache_bytes"], &device["devices"][0]["counters"]["read_bytes"]),
            (&json!(0), &json!(0))
        );
        let scaled = lie(Liar::Scaled, REPORT).document();
        assert_eq!((&scaled["a"], &scaled["timestamp_ms"]), (&json!(13), &json!(9)));
        let old = lie(Liar::Yesterday, REPORT);
        assert_eq!((old.document(), old.code), (json!({"timestamp_ms": 9, "b": 2}), Some(1)));
    }

    #[test]
    fn texts_are_falsified_as_well() {
        let text = "rate 10.5 MiB/s\n  warning: 64 MiB dirty in the page cache [not-durable]\n";
        assert!(!lie(Liar::NothingFound, text).stdout.contains("not-durable"));
        assert!(lie(Liar::AllFound, text).stdout.contains("[short-run]"));
        assert!(!lie(Liar::AllFromDevice, text).stdout.contains("dirty"));
        assert!(lie(Liar::Scaled, text).stdout.contains("rate 13.65 MiB/s"));
    }

    #[test]
    fn each_has_a_name_of_its_own() {
        for liar in Liar::ALL {
            assert_eq!(Liar::named(liar.name()), Some(liar));
        }
    }
}
