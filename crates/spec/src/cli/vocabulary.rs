//! The options that may be named at one moment: those of every job, and those of its engine.

use iosonde_options::{Diagnostic, OptionDef, Origin, ParseContext, ValueError};

use crate::cli::given::Given;
use crate::cli::notice::Notice;
use crate::engine_options;
use crate::job::{self, JobSpec, SetError};
use crate::topics::engines::EngineTable;

/// The option of that name or alias; `engine` lends its own.
pub fn find(name: &str, engine: &str) -> Option<&'static OptionDef> {
    let private = || engine_options::rows(engine).into_iter().find(|row| row.is_called(name));
    job::lookup(name).or_else(private)
}

/// Every option, with `engine`'s own after them.
pub fn all(engine: &str) -> impl Iterator<Item = &'static OptionDef> {
    job::all().chain(engine_options::rows(engine))
}

/// Every name and alias, with `engine`'s own after them.
pub fn names(engine: &str) -> Vec<&'static str> {
    all(engine).flat_map(names_of).collect()
}

/// An option's name and its aliases.
pub fn names_of(def: &'static OptionDef) -> impl Iterator<Item = &'static str> {
    std::iter::once(def.name).chain(def.aliases.iter().copied())
}

/// Set the option in `spec`. Returns whether it was accepted; messages go to `notices`.
pub fn set(
    spec: &mut JobSpec,
    given: &Given<'_>,
    value: Option<&str>,
    notices: &mut Vec<Notice>,
) -> bool {
    let origin = &given.origin;
    let done = check_private(spec, given, value)
        .and_then(|()| spec.set(given.def.name, value, origin.clone()));
    match done {
        Ok(warnings) => {
            notices.extend(warnings.into_iter().map(|diagnostic| warning(diagnostic, given)));
            true
        }
        Err(error) => {
            let fio = in_fios_words(&error, given);
            notices.push(Notice { diagnostic: error.diagnostic(origin), fio });
            false
        }
    }
}

/// A job that begins a second job file waits for all jobs before it.
pub fn imply_stonewall(spec: &mut JobSpec) {
    if !spec.is_set("stonewall") {
        let by = Origin::Implied { by: "a job file after the first" };
        spec.set("stonewall", None, by).expect("stonewall is an option that may stand bare");
    }
}

/// Refuse an invalid value of an engine's option here: the spec keeps it as text until the
/// engine is made, and its line in the job file would be unknown then.
fn check_private(spec: &JobSpec, given: &Given<'_>, value: Option<&str>) -> Result<(), SetError> {
    let (name, engine) = (given.def.name, spec.engine.ioengine.get().name());
    if job::lookup(name).is_some() {
        return Ok(());
    }
    let takes = |table: &&EngineTable| table.engines.contains(&engine);
    let text = value.or(given.def.bare).unwrap_or("");
    for make in engine_options::tables().iter().filter(takes).filter_map(|table| table.make) {
        let mut topic = make();
        let mut context = ParseContext::new(given.def);
        if let Some(Err(error)) = topic.set(name, text, given.origin.clone(), &mut context) {
            return Err(refused(name, text, error));
        }
    }
    Ok(())
}

fn refused(name: &'static str, text: &str, error: ValueError) -> SetError {
    SetError::Value { name, text: text.to_string(), error }
}

fn warning(diagnostic: Diagnostic, given: &Given<'_>) -> Notice {
    let fio = match given.def.deprecated {
        Some(_) if diagnostic.message.contains("retired") => {
            vec![format!("Option {} is deprecated", given.def.name)]
        }
        _ if diagnostic.message.starts_with("the list exceeding") => {
            vec![diagnostic.message.clone()]
        }
        _ => Vec::new(),
    };
    Notice { diagnostic, fio }
}

/// The lines fio prints, with the option quoted as it was written.
fn in_fios_words(error: &SetError, given: &Given<'_>) -> Vec<String> {
    let quote = |line: &str| {
        if line.starts_with("fio: failed parsing ") {
            format!("fio: failed parsing {}", given.written)
        } else {
            line.to_string()
        }
    };
    error.fio().lines().map(quote).collect()
}
