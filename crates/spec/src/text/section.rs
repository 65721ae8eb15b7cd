//! A job file as sections, includes read in, variables replaced.

use std::sync::Arc;

use iosonde_options::Origin;

use crate::text::expand::{self, Host};
use crate::text::include::{Includes, JobFiles};
use crate::text::lex::{self, Body, JobLine};

/// One section of a job file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What stood between the brackets.
    pub name: String,
    /// The header's.
    pub place: Origin,
    /// In the order they were written, those of included files where the include stood.
    pub entries: Vec<OptionLine>,
}

impl Section {
    /// Whether it sets defaults for the sections after it. Like fio, any name that begins with
    /// `global` says so.
    pub fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// One `name=value` or `name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionLine {
    /// As written, variables replaced.
    pub name: String,
    /// As written, variables and keywords replaced; `None` when the name stood alone.
    pub value: Option<String>,
    /// The line as it was written, without blanks around it: what fio's messages quote.
    pub written: String,
    /// Where the name stands.
    pub place: Origin,
}

/// Something wrong in a job file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where; [`Origin::Default`] for a job file as a whole.
    pub place: Origin,
    /// What.
    pub what: FaultKind,
}

/// What is wrong in a job file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The job file cannot be opened or read.
    File {
        /// The file.
        path: String,
        /// The system's reason.
        why: String,
    },
    /// A line that is no text, or too long.
    Line(lex::BadLineReason),
    /// An option before the first section.
    Outside {
        /// The line.
        written: String,
    },
    /// An `include` that cannot be followed.
    Include {
        /// Where it was looked for.
        path: String,
        /// Why it cannot.
        why: String,
    },
    /// A line with `$ncpus` or its like that is arithmetic and has no result,
    /// or with a `${VARIABLE}` that is not text.
    Sum {
        /// The line.
        written: String,
        /// What is wrong with it.
        why: String,
        /// The section it stands in.
        section: String,
    },
    /// A section inside an included file.
    SectionInInclude {
        /// Its name.
        name: String,
        /// The included file.
        path: String,
    },
    /// `[name` without an end: read, one character short, as fio reads it. A warning.
    Unclosed {
        /// The name that came of it.
        name: String,
    },
}

impl FaultKind {
    /// Whether the job file can be used in spite of it.
    pub fn is_warning(&self) -> bool {
        matches!(self, FaultKind::Unclosed { .. })
    }

    /// What to say of it, in our words, without the place.
    pub fn message(&self) -> String {
        match self {
            FaultKind::File { path, why } => format!("cannot read job file {path}: {why}"),
            FaultKind::Line(why) => why.to_string(),
            FaultKind::Outside { written } => {
                format!("option {written} is outside of a [section]")
            }
            FaultKind::Include { path, why } => format!("cannot include {path}: {why}"),
            FaultKind::Sum { written, why, .. } => {
                format!("invalid expression in {written}: {why}")
            }
            FaultKind::SectionInInclude { name, path } => {
                format!(
                    "section [{name}] in included file {path}: included files hold options only"
                )
            }
            FaultKind::Unclosed { name } => {
                format!("section header does not end in ]: it is interpreted as [{name}]")
            }
        }
    }

    /// The lines fio prints in this place; ours where it would say nothing of an error.
    pub fn in_fios_words(&self) -> Vec<String> {
        match self {
            FaultKind::File { path, .. } => vec![format!("fio: unable to open '{path}' job file")],
            FaultKind::Outside { written } => {
                vec![format!("fio: option <{written}> outside of [] job section")]
            }
            FaultKind::Include { path, .. } => vec![
                format!("fio: unable to open '{path}' job file"),
                format!("Error 1 while parsing include file {path}"),
            ],
            FaultKind::Sum { written, section, .. } => vec![
                format!("fio: failed parsing {written}"),
                format!("fio: job {section} dropped"),
            ],
            FaultKind::SectionInInclude { path, .. } => vec![
                "No new sections in included files".to_string(),
                format!("Error 1 while parsing include file {path}"),
            ],
            FaultKind::Line(_) => vec![format!("fio: {}", self.message())],
            // fio takes it in silence, and programs take any word for a failure.
            FaultKind::Unclosed { .. } => Vec::new(),
        }
    }
}

/// The sections of the job file at `path`, and everything that is wrong with its text.
///
/// What can be read is read, whatever else is wrong.
pub fn read(
    path: &str,
    files: &dyn JobFiles,
    host: &dyn Host,
    faults: &mut Vec<Fault>,
) -> Vec<Section> {
    let text = match files.read(path) {
        Ok(text) => text,
        Err(error) => {
            let what = FaultKind::File { path: path.into(), why: reason(&error) };
            faults.push(Fault { place: Origin::Default, what });
            return Vec::new();
        }
    };
    let includes = Includes::of(path);
    let mut reader = SectionReader { files, host, faults, includes, sections: Vec::new() };
    reader.file(path, &text);
    reader.sections
}

struct SectionReader<'a> {
    files: &'a dyn JobFiles,
    host: &'a dyn Host,
    faults: &'a mut Vec<Fault>,
    includes: Includes,
    sections: Vec<Section>,
}

impl SectionReader<'_> {
    fn file(&mut self, path: &str, text: &[u8]) {
        let path: Arc<str> = path.into();
        let place = |line, column| Origin::File { path: path.clone(), line, column };
        for line in lex::lines(text) {
            match line {
                Ok(line) => self.line(&line, &path, &place),
                Err(bad) => {
                    let place = place(bad.number, bad.column);
                    self.faults.push(Fault { place, what: FaultKind::Line(bad.why) });
                }
            }
        }
    }

    fn line(&mut self, line: &JobLine<'_>, path: &str, place: &dyn Fn(u32, u32) -> Origin) {
        let here = place(line.number, line.column);
        match line.body {
            Body::Section { name, .. } if self.includes.depth() > 1 => {
                let what = FaultKind::SectionInInclude { name: name.into(), path: path.into() };
                self.faults.push(Fault { place: here, what });
            }
            Body::Section { name, closed } => {
                if !closed {
                    let what = FaultKind::Unclosed { name: name.into() };
                    self.faults.push(Fault { place: here.clone(), what });
                }
                let entries = Vec::new();
                self.sections.push(Section { name: name.into(), place: here, entries });
            }
            Body::Include { .. } if self.sections.is_empty() => {
                self.outside(here, line.text.to_string());
            }
            Body::Include { path } => self.include(here, path),
            Body::Setting { name, value, value_column } => {
                let written = line.text.to_string();
                let Some(section) = self.sections.last_mut() else {
                    return self.outside(here, written);
                };
                match expanded(name, value, self.host) {
                    Ok((name, value)) => {
                        section.entries.push(OptionLine { name, value, written, place: here })
                    }
                    Err(why) => {
                        let section = section.name.clone();
                        let what = FaultKind::Sum { written, why, section };
                        let place = place(line.number, value_column);
                        self.faults.push(Fault { place, what });
                    }
                }
            }
        }
    }

    fn outside(&mut self, place: Origin, written: String) {
        self.faults.push(Fault { place, what: FaultKind::Outside { written } });
    }

    fn include(&mut self, here: Origin, written: &str) {
        let path = self.includes.locate(written);
        let entered = match written {
            "" => Err(crate::text::include::IncludeRefused::Nameless),
            _ => self.includes.enter(&path),
        };
        let text = match entered {
            Err(refused) => Err(refused.to_string()),
            Ok(()) => self.files.read(&path).map_err(|error| {
                self.includes.leave();
                reason(&error)
            }),
        };
        match text {
            Ok(text) => {
                self.file(&path, &text);
                self.includes.leave();
            }
            Err(why) => {
                let what = FaultKind::Include { path, why };
                self.faults.push(Fault { place: here, what });
            }
        }
    }
}

/// The system's words without the number that Rust appends.
fn reason(error: &std::io::Error) -> String {
    let words = error.to_string();
    match words.split_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => words,
    }
}

/// A setting's name and value with what their words stand for put in; or why
/// that cannot be.
fn expanded(
    name: &str,
    value: Option<&str>,
    host: &dyn Host,
) -> Result<(String, Option<String>), String> {
    let named = |text: &str| expand::variables(text, host).map_err(|error| error.to_string());
    let value = value.map(named).transpose()?;
    let value = value.map(|value| expand::keywords(&value, host)).transpose();
    Ok((named(name)?, value.map_err(|error| error.to_string())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::env::VarError;

    struct TestHost;

    impl Host for TestHost {
        fn variable(&self, name: &str) -> Result<String, VarError> {
            if name == "BS" { Ok("8k".to_owned()) } else { Err(VarError::NotPresent) }
        }
        fn processors(&self) -> u64 {
            2
        }
        fn page_bytes(&self) -> u64 {
            4096
        }
        fn memory_mib(&self) -> u64 {
            1024
        }
    }

    fn read_all(files: &[(&'static str, &'static str)]) -> (Vec<Section>, Vec<Fault>) {
        let map: HashMap<&str, &str> = files.iter().copied().collect();
        let mut faults = Vec::new();
        let sections = read(files[0].0, &map, &TestHost, &mut faults);
        (sections, faults)
    }

    fn shown(sections: &[Section]) -> Vec<String> {
        let line = |section: &Section| {
            let entries: Vec<String> = section
                .entries
                .iter()
                .map(|entry| match &entry.value {
                    Some(value) => format!("{}={value}", entry.name),
                    None => entry.name.clone(),
                })
                .collect();
            format!("[{}] {}", section.name, entries.join(" "))
        };
        sections.iter().map(line).collect()
    }

    fn places(faults: &[Fault]) -> Vec<String> {
        faults.iter().map(|fault| format!("{}: {}", fault.place, fault.what.message())).collect()
    }

    #[test]
    fn sections_keep_their_order_and_their_entries() {
        let (sections, faults) =
            read_all(&[("a.fio", "[global]\nbs=4k\n[x]\nrw=read\ntime_based\n[x]\nbs=8k\n")]);
        assert_eq!(shown(&sections), ["[global] bs=4k", "[x] rw=read time_based", "[x] bs=8k"]);
        assert!(faults.is_empty());
        assert!(sections[0].is_global() && !sections[1].is_global());
    }

    #[test]
    fn an_include_stands_for_the_lines_of_its_file() {
        let (sections, faults) = read_all(&[
            ("d/a.fio", "[x]\nbs=4k\ninclude s/b\nrw=read"),
            ("d/s/b", "include c\niodepth=3"),
            ("d/s/c", "size=1m"),
        ]);
        assert_eq!(shown(&sections), ["[x] bs=4k size=1m iodepth=3 rw=read"]);
        assert!(faults.is_empty());
        assert_eq!(sections[0].entries[1].place.to_string(), "d/s/c:1:1");
    }

    #[test]
    fn variables_are_replaced_in_names_and_values_but_not_in_headers() {
        let (sections, _) = read_all(&[("a.fio", "[${BS}]\nbs=${BS}\nsize=$pagesize*2\n${BS}=1")]);
        assert_eq!(shown(&sections), ["[${BS}] bs=8k size=8192 8k=1"]);
        assert_eq!(sections[0].entries[0].written, "bs=${BS}");
    }

    #[test]
    fn every_fault_is_reported_with_its_place() {
        let (sections, faults) = read_all(&[
            ("a.fio", "bs=4k\ninclude b\n[x]\ninclude a.fio\n  include no\ninclude b\n[y\nrw=read"),
            ("b", "iodepth=1\n[z]\n"),
        ]);
        assert_eq!(shown(&sections), ["[x] iodepth=1", "[] rw=read"]);
        assert_eq!(
            places(&faults),
            [
                "a.fio:1:1: option bs=4k is outside of a [section]",
                "a.fio:2:1: option include b is outside of a [section]",
                "a.fio:4:1: cannot include a.fio: the file includes itself",
                "a.fio:5:3: cannot include no: entity not found",
                "b:2:1: section [z] in included file b: included files hold options only",
                "a.fio:7:1: section header does not end in ]: it is interpreted as []",
            ]
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_reported_in_fios_words() {
        let mut faults = Vec::new();
        let none: HashMap<&str, &str> = HashMap::new();
        assert_eq!(read("no.fio", &none, &TestHost, &mut faults), []);
        assert_eq!(faults[0].what.in_fios_words(), ["fio: unable to open 'no.fio' job file"]);
    }

    #[test]
    fn after_a_failed_include_another_may_follow() {
        let (sections, faults) =
            read_all(&[("a.fio", "[x]\ninclude no\ninclude no\ninclude b"), ("b", "bs=4k")]);
        assert_eq!(shown(&sections), ["[x] bs=4k"]);
        assert_eq!(faults.len(), 2);
    }
}
