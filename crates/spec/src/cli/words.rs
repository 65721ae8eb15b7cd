//! fio's messages about options that are refused.

use iosonde_options::{Diagnostic, Origin, nearest};

use crate::cli::getopt::BadWord;
use crate::cli::notice::Notice;
use crate::engine_options;

/// An unknown option in a job file.
///
/// `written` is the line, `name` what stands before its `=`.
pub fn bad_option(written: &str, name: &str, origin: &Origin, known: &[&'static str]) -> Notice {
    let near = nearest(name.trim_start_matches('-'), known.iter().copied());
    let mut fio = vec![format!("Bad option <{written}>")];
    fio.extend(near.map(did_you_mean));
    Notice { diagnostic: unknown(name, origin, near), fio }
}

/// fio's line after the errors of a section.
pub fn job_dropped(name: &str) -> String {
    format!("fio: job {name} dropped")
}

/// An argument that is no option, or one without its value.
pub fn bad_argument(text: &str, why: &BadWord, origin: &Origin, known: &[&'static str]) -> Notice {
    let dashes = if text.starts_with("--") { "--" } else { "-" };
    let name = text.trim_start_matches('-').split('=').next().unwrap_or("");
    let near = nearest(name, known.iter().copied());
    let first = match why {
        BadWord::Unknown => format!("fio: unrecognized option '{text}'"),
        BadWord::Ambiguous { names } => {
            let names: Vec<String> = names.iter().map(|n| format!("'{dashes}{n}'")).collect();
            format!("fio: option '{text}' is ambiguous; possibilities: {}", names.join(" "))
        }
        BadWord::WantsValue { name } if text.len() == 2 => {
            let letter = &text[1..];
            debug_assert!(!name.is_empty());
            format!("fio: option requires an argument -- '{letter}'")
        }
        BadWord::WantsValue { name } => {
            format!("fio: option '{dashes}{name}' requires an argument")
        }
        BadWord::TakesNoValue { name } => {
            format!("fio: option '{dashes}{name}' doesn't allow an argument")
        }
    };
    let mut fio = vec![first, format!("fio: unrecognized option '{text}'")];
    fio.extend(near.map(did_you_mean));
    let diagnostic = match why {
        BadWord::Unknown => unknown(name, origin, near),
        BadWord::Ambiguous { names } => {
            Diagnostic::error(format!("{text} is ambiguous: {}", names.join(", ")))
                .about("", origin)
                .help("use the full name")
        }
        BadWord::WantsValue { name } => {
            Diagnostic::error("needs a value, and none follows").about(name, origin)
        }
        BadWord::TakesNoValue { name } => Diagnostic::error("takes no value").about(name, origin),
    };
    Notice { diagnostic, fio }
}

fn unknown(name: &str, origin: &Origin, near: Option<&str>) -> Diagnostic {
    let owners = engine_options::tables()
        .iter()
        .filter(|table| table.options.iter().any(|row| row.is_called(name)));
    let owners: Vec<&str> = owners.flat_map(|table| table.engines.iter().copied()).collect();
    if !owners.is_empty() {
        let diagnostic = format!("option {name:?} belongs to another engine");
        let help = format!("set ioengine to one of {}", owners.join(", "));
        return Diagnostic::error(diagnostic).about("", origin).help(help);
    }
    let diagnostic = Diagnostic::error(format!("unknown option {name:?}")).about("", origin);
    match near {
        Some(near) => diagnostic.help(format!("did you mean {near}?")),
        None => diagnostic,
    }
}

fn did_you_mean(near: &str) -> String {
    format!("Did you mean {near}?")
}
