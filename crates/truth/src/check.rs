//! One check: a statement that must be there, must not be there, or a figure.

use crate::catalogue::Catalogue;
use crate::counters::COUNTED;
use crate::value::{Truths, at, of_words};
use serde_json::Value;

/// A check, as the table has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its words.
    pub words: String,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// `finds RULE [or RULE ...] [SEVERITY]`
    Finds { rules: Vec<String>, severity: Option<String> },
    /// `never RULE`
    Never(String),
    /// `no accusation [but RULE ...]`: no finding above a note.
    NoAccusation(Vec<String>),
    /// `unknown [TEXT]`: the report names what it could not see.
    Unknown(String),
    /// `known`: it could see all.
    Known,
    /// `exit CODE`
    Exit(i32),
    /// `says TEXT`, in any output.
    Says(String),
    /// `says not TEXT`
    SaysNot(String),
    /// `PATH is TEXT`, a value as JSON has it; `unknown` for a value with a reason.
    Is { path: String, text: String },
    /// `PATH = WORDS within TOLERANCE [or unknown]`, `PATH > WORDS`, `PATH < WORDS`
    Figure(Figure),
}

/// A figure of the program and what it must be.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    path: String,
    order: char,
    words: String,
    tolerance: f64,
    in_percent: bool,
    /// An honest `unknown` is right as well.
    may_be_unknown: bool,
}

/// What a check has shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// As it must be.
    Right,
    /// The statement is missing, or the figure unknown.
    Silent(String),
    /// A statement that is not true.
    Accused(String),
    /// A figure that does not agree.
    WrongFigure(String),
    /// Why it could not be tried.
    NotTried(String),
}

/// What came of the command, and what is known without it.
pub(crate) struct Evidence<'a> {
    pub(crate) document: &'a Value,
    pub(crate) output: &'a str,
    pub(crate) code: Option<i32>,
    pub(crate) truths: &'a Truths,
    /// Others took processor time, so that findings of that are true.
    pub(crate) is_busy: bool,
    /// `{dev}`
    pub(crate) device: &'a str,
}

/// True of any run on a machine whose processors others use.
const OF_BUSY_MACHINES: [&str; 4] =
    ["cpu-taken", "not-steady", "rate-not-reached", "depth-not-reached"];

/// They stand out from the scatter of a run, which is large where others use the
/// processors.
const BESIDE_SCATTER: [&str; 2] = ["closed-loop", "not-steady"];

/// A run that takes longer is none of `short-run`.
const SHORT_RUN_NS: f64 = 5e9;

/// Whether a busy machine may hide this finding.
fn may_be_hidden(rule: &str, seen: &Evidence<'_>) -> bool {
    let runtime = || at("jobs.0.runtime_ns", seen.document).and_then(Value::as_f64);
    let is_long = || runtime().is_some_and(|ns| ns >= SHORT_RUN_NS);
    seen.is_busy && (BESIDE_SCATTER.contains(&rule) || rule == "short-run" && is_long())
}

/// `RULE [or RULE ...] [SEVERITY]`
fn finds_of(words: &[&str]) -> What {
    let (rules, severity) = match words {
        [rules @ .., _, severity] if *severity != "or" && words.len().is_multiple_of(2) => {
            (&words[..=rules.len()], Some((*severity).to_owned()))
        }
        words => (words, None),
    };
    let rules = rules.iter().step_by(2).map(|rule| (*rule).to_owned()).collect();
    What::Finds { rules, severity }
}

impl Figure {
    fn parse(path: &str, order: &str, words: &[&str]) -> Result<Figure, String> {
        let (words, may_be_unknown) = match words {
            [words @ .., "or", "unknown"] => (words, true),
            words => (words, false),
        };
        let (words, tolerance, in_percent) = match (order, words) {
            ("=", [words @ .., "within", tolerance]) => {
                let (digits, in_percent) = tolerance
                    .strip_suffix('%')
                    .map_or((*tolerance, false), |digits| (digits, true));
                let tolerance =
                    crate::value::number(digits).ok_or(format!("{tolerance:?} is no tolerance"))?;
                (words, tolerance, in_percent)
            }
            ("=", _) => return Err("a figure is equal within a tolerance".to_owned()),
            (_, words) => (words, 0.0, false),
        };
        Ok(Figure {
            path: path.to_owned(),
            order: order.chars().next().unwrap_or('='),
            words: words.join(" "),
            tolerance,
            in_percent,
            may_be_unknown,
        })
    }

    fn judge(&self, seen: &Evidence<'_>) -> Outcome {
        let Figure { path, order, words, tolerance, in_percent, may_be_unknown } = self;
        let truth = match of_words(words, seen.document, seen.truths) {
            Ok(truth) => truth,
            Err(why) => return Outcome::NotTried(why),
        };
        let found = at(path, seen.document);
        let Some(figure) = found.and_then(Value::as_f64) else {
            if *may_be_unknown && found.is_some_and(|found| found["unknown"].is_string()) {
                return Outcome::Right;
            }
            let shown = found.map_or("missing".to_owned(), Value::to_string);
            return Outcome::Silent(format!("{path} is {shown}; it is {truth}"));
        };
        let near = if *in_percent { truth.abs() * tolerance / 100.0 } else { *tolerance };
        let holds = match order {
            '<' => figure < truth,
            '>' => figure > truth,
            _ => (figure - truth).abs() <= near,
        };
        if holds {
            Outcome::Right
        } else {
            Outcome::WrongFigure(format!("{path} is {figure}; must be {order} {truth}"))
        }
    }
}

/// What a check wants of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// That it says something.
    Statement,
    /// That it does not.
    Silence,
    /// An exit code.
    Neither,
}

fn is_counted(word: &str) -> bool {
    COUNTED.iter().any(|name| word.starts_with(name))
}

impl What {
    /// `Err` if the program cannot say that: the check could never fail, or never hold.
    fn exists(&self, catalogue: &Catalogue) -> Result<(), String> {
        match self {
            What::Finds { rules, severity } => {
                let mut rules = rules.iter();
                rules.try_for_each(|rule| catalogue.has_rule(rule, severity.as_deref()))
            }
            What::Never(rule) => catalogue.has_rule(rule, None),
            What::NoAccusation(but) => {
                but.iter().try_for_each(|rule| catalogue.has_rule(rule, None))
            }
            What::Says(text) | What::SaysNot(text) | What::Unknown(text) => {
                catalogue.has_text(text)
            }
            What::Figure(Figure { path, .. }) if is_counted(path) => {
                Err(format!("{path} is a figure of the bench: put one of the program first"))
            }
            _ => Ok(()),
        }
    }
}

impl Check {
    /// The words of a check.
    ///
    /// # Errors
    /// What is accepted.
    pub fn parse(words: &str) -> Result<Check, String> {
        let all: Vec<&str> = words.split_whitespace().collect();
        let rest = |skip: usize| all[skip..].join(" ");
        let what = match all[..] {
            ["finds", ..] => finds_of(&all[1..]),
            ["never", rule] => What::Never(rule.to_owned()),
            ["no", "accusation"] => What::NoAccusation(Vec::new()),
            ["no", "accusation", "but", ..] => {
                What::NoAccusation(all[3..].iter().map(|rule| (*rule).to_owned()).collect())
            }
            ["unknown", ..] => What::Unknown(rest(1)),
            ["known"] => What::Known,
            ["exit", code] => {
                What::Exit(code.parse().map_err(|_| format!("{code:?} is no exit code"))?)
            }
            ["says", "not", ..] => What::SaysNot(rest(2)),
            ["says", ..] => What::Says(rest(1)),
            [path, "is", ..] => What::Is { path: path.to_owned(), text: rest(2) },
            [path, order @ ("<" | ">" | "="), ..] => {
                What::Figure(Figure::parse(path, order, &all[2..])?)
            }
            _ => return Err("no check: see table/README.md".to_owned()),
        };
        what.exists(Catalogue::get()?)?;
        Ok(Check { words: words.to_owned(), what })
    }

    /// Whether it wants something to be said, or something not to be.
    pub(crate) fn wants(&self) -> Wants {
        match self.what {
            What::Never(_) | What::NoAccusation(_) | What::SaysNot(_) | What::Known => {
                Wants::Silence
            }
            What::Exit(_) => Wants::Neither,
            _ => Wants::Statement,
        }
    }

    /// Of a figure: whether it is held against a counter that the bench reads itself.
    pub fn has_counter(&self) -> Option<bool> {
        let What::Figure(figure) = &self.what else { return None };
        Some(figure.words.split_whitespace().any(is_counted))
    }

    /// Whether it holds.
    pub(crate) fn judge(&self, seen: &Evidence<'_>) -> Outcome {
        let findings = || verdict(seen.document);
        if findings().is_none() && self.needs_verdict() {
            let head: String = seen.output.chars().take(300).collect();
            return Outcome::NotTried(format!("no ledger; exit {:?}: {head}", seen.code));
        }
        let find = |rule: &str| findings()?.iter().find(|one| one["id"] == rule);
        match &self.what {
            What::Finds { rules, severity } => {
                let found = rules.iter().find_map(|rule| find(rule));
                match rules.iter().find(|rule| may_be_hidden(rule, seen)) {
                    Some(rule) if found.is_none() => {
                        Outcome::NotTried(format!("other programs use the processors: no {rule}"))
                    }
                    _ => finds(found, severity.as_deref(), seen),
                }
            }
            What::Never(rule) => match find(rule) {
                None => Outcome::Right,
                Some(_) if seen.is_busy && OF_BUSY_MACHINES.contains(&rule.as_str()) => {
                    Outcome::NotTried(format!("other programs use the processors: {rule}"))
                }
                Some(found) => Outcome::Accused(statement(found)),
            },
            What::NoAccusation(but) => match accusations(but, seen) {
                all if all.is_empty() => Outcome::Right,
                all => Outcome::Accused(all.join(" | ")),
            },
            What::Unknown(text) => {
                let all = unknown(seen);
                if all.iter().any(|one| one.contains(text.as_str())) {
                    Outcome::Right
                } else {
                    Outcome::Silent(format!("unknown: {all:?}"))
                }
            }
            What::Known => match unknown(seen) {
                all if all.is_empty() => Outcome::Right,
                all => Outcome::Silent(format!("unknown: {all:?}")),
            },
            What::Exit(code) if seen.code == Some(*code) => Outcome::Right,
            // A true finding of a busy machine goes before it.
            What::Exit(_)
                if seen.is_busy && seen.code == Some(3) && accusations(&[], seen).is_empty() =>
            {
                Outcome::NotTried("other programs use the processors: exit 3 for that".to_owned())
            }
            What::Exit(_) => Outcome::WrongFigure(format!("exit {:?}", seen.code)),
            What::Says(text) if seen.output.contains(text.as_str()) => Outcome::Right,
            What::Says(_) => Outcome::Silent(seen.output.chars().take(600).collect()),
            What::SaysNot(text) if !seen.output.contains(text.as_str()) => Outcome::Right,
            What::SaysNot(text) => {
                let at = seen.output.find(text.as_str()).unwrap_or_default();
                let before = seen.output[..at].chars().rev().take(60).collect::<Vec<_>>();
                let after = seen.output[at..].chars().take(120);
                Outcome::Accused(before.into_iter().rev().chain(after).collect())
            }
            What::Is { path, text } => is(path, text, seen),
            What::Figure(figure) => figure.judge(seen),
        }
    }

    fn needs_verdict(&self) -> bool {
        !matches!(
            self.what,
            What::Exit(_) | What::Says(_) | What::SaysNot(_) | What::Is { .. } | What::Figure(_)
        )
    }
}

/// The findings of a run, of an audit or of a probe.
fn verdict(document: &Value) -> Option<&Vec<Value>> {
    const PLACES: [&str; 3] = ["/iosonde/ledger/verdict", "/results/0/findings", "/hazards"];
    PLACES.iter().find_map(|place| document.pointer(place)?.as_array())
}

/// Findings above a note that are not among `but`, nor true of a busy machine.
fn accusations(but: &[String], seen: &Evidence<'_>) -> Vec<String> {
    let findings = verdict(seen.document);
    let counts = |one: &&Value| {
        let rule = one["id"].as_str().unwrap_or_default();
        let of_machine = seen.is_busy && OF_BUSY_MACHINES.contains(&rule);
        one["severity"] != "note" && !of_machine && !but.iter().any(|known| known == rule)
    };
    findings.into_iter().flatten().filter(counts).map(statement).collect()
}

fn finds(found: Option<&Value>, severity: Option<&str>, seen: &Evidence<'_>) -> Outcome {
    match (found, severity) {
        (None, _) => {
            let ids: Vec<&str> = verdict(seen.document)
                .into_iter()
                .flatten()
                .filter_map(|one| one["id"].as_str())
                .collect();
            Outcome::Silent(format!("found {ids:?}, unknown {:?}", unknown(seen)))
        }
        (Some(found), Some(severity)) if found["severity"] != severity => {
            Outcome::WrongFigure(statement(found))
        }
        _ => Outcome::Right,
    }
}

fn is(path: &str, text: &str, seen: &Evidence<'_>) -> Outcome {
    let value = at(path, seen.document);
    let holds = match text {
        "{dev}" => value.is_some_and(|value| value == seen.device && !seen.device.is_empty()),
        "unknown" => value.is_some_and(|value| value["unknown"].is_string()),
        text => value.is_some_and(|value| match value.as_str() {
            Some(word) => word == text,
            None => serde_json::from_str::<Value>(text).is_ok_and(|text| text == *value),
        }),
    };
    let shown = value.map_or("missing".to_owned(), Value::to_string);
    match (holds, value.is_none_or(|value| value["unknown"].is_string())) {
        (true, _) => Outcome::Right,
        (false, true) => Outcome::Silent(format!("{path} is {shown}")),
        (false, false) => Outcome::WrongFigure(format!("{path} is {shown}")),
    }
}

fn unknown(seen: &Evidence<'_>) -> Vec<String> {
    let all = seen.document.pointer("/iosonde/ledger/unknown").and_then(Value::as_array);
    all.into_iter().flatten().filter_map(|one| Some(one.as_str()?.to_owned())).collect()
}

fn statement(finding: &Value) -> String {
    let text = |key: &str| finding[key].as_str().unwrap_or_default();
    format!("{} ({}): {}", text("id"), text("severity"), text("statement"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judged(words: &str, is_busy: bool) -> Outcome {
        let document = json!({
            "jobs": [{"read": {"bw_bytes": 100}, "on": "loop7"}],
            "iosonde": {"ledger": {
                "reads": {"device_bytes": {"unknown": "fuse"}, "completed_bytes": 105},
                "verdict": [
                    {"id": "not-direct", "severity": "wrong", "statement": "why"},
                    {"id": "cpu-taken", "severity": "warning", "statement": "others"},
                    {"id": "short-run", "severity": "note", "statement": "1 s"}],
                "unknown": ["whether direct I/O was honoured"],
            }},
        });
        let truths = Truths::from([("disk.read".to_owned(), 100.0)]);
        let output = "dirty in the page cache";
        let seen = Evidence {
            document: &document,
            output,
            code: Some(4),
            truths: &truths,
            is_busy,
            device: "loop7",
        };
        Check::parse(words).unwrap().judge(&seen)
    }

    #[test]
    fn what_is_as_it_must_be_is_right() {
        for words in [
            "finds not-direct",
            "finds not-direct wrong",
            "finds holes-read or not-direct",
            "finds holes-read or not-direct wrong",
            "reads.device_bytes = 5 within 1% or unknown",
            "never not-durable",
            "no accusation but not-direct cpu-taken",
            "unknown whether",
            "exit 4",
            "says dirty in the page cache",
            "says not all at the device",
            "reads.device_bytes is unknown",
            "reads.completed_bytes = disk.read within 5%",
            "reads.completed_bytes > 2 * 50",
            "reads.completed_bytes > disk.read - 1",
            "/jobs/0/read/bw_bytes is 100",
            "/jobs/0/on is {dev}",
        ] {
            assert_eq!(judged(words, false), Outcome::Right, "{words}");
        }
    }

    #[test]
    fn words_that_the_program_cannot_say_are_refused() {
        for (words, why) in [
            ("never not-durabel", "no rule"),
            ("finds short-run wrong", "note at most"),
            ("finds not-direct or not-there", "no rule"),
            ("reads.device_bytes = 5", "within a tolerance"),
            ("no accusation but not-direct cpu-taking", "no rule"),
            ("says not counts no I/O", "never prints"),
            ("says not use direct=1", "never prints"),
            ("unknown where it comes from", "never prints"),
            ("disk.written = 64m within 5%", "put one of the program first"),
        ] {
            assert!(Check::parse(words).unwrap_err().contains(why), "{words}");
        }
    }

    #[test]
    fn a_check_wants_a_statement_or_silence_and_its_figure_has_a_counter_or_not() {
        let of = |words: &str| Check::parse(words).unwrap();
        assert_eq!(of("never not-direct").wants(), Wants::Silence);
        assert_eq!(of("finds not-direct").wants(), Wants::Statement);
        assert_eq!(of("exit 0").wants(), Wants::Neither);
        assert_eq!(of("reads.device_bytes = disk.read within 5%").has_counter(), Some(true));
        assert_eq!(of("reads.device_bytes = 64m within 5%").has_counter(), Some(false));
        assert_eq!(of("known").has_counter(), None);
    }

    #[test]
    fn what_is_not_is_silent_accusing_or_a_wrong_figure() {
        assert!(matches!(judged("finds not-durable", false), Outcome::Silent(_)));
        assert!(matches!(judged("finds closed-loop", false), Outcome::Silent(_)));
        assert!(matches!(judged("finds closed-loop", true), Outcome::NotTried(_)));
        assert!(matches!(judged("known", false), Outcome::Silent(_)));
        assert!(matches!(judged("never not-direct", false), Outcome::Accused(_)));
        assert!(matches!(judged("no accusation but not-direct", false), Outcome::Accused(_)));
        assert_eq!(judged("no accusation but not-direct", true), Outcome::Right);
        assert!(matches!(judged("never cpu-taken", true), Outcome::NotTried(_)));
        assert!(matches!(judged("reads.device_bytes = 5 within 1%", false), Outcome::Silent(_)));
        let figure = judged("reads.completed_bytes = disk.read within 4%", false);
        assert!(matches!(figure, Outcome::WrongFigure(_)));
        assert!(matches!(judged("exit 0", false), Outcome::WrongFigure(_)));
    }
}
