//! Values of flags, read as fio reads them.

use crate::cli::flags::{
    DebugWord, FlagError, Flags, IdleProf, InfoRequest, OutputFormat, ShowWhen, milliseconds,
};

/// A time in milliseconds, `what` in words, not below the least.
pub(super) fn time(text: &str, what: &str, (least, short): (u64, &str)) -> Result<u64, FlagError> {
    let unread = || FlagError::fatal(format!("failed parsing {what} {text}"));
    match milliseconds(text).ok_or_else(unread)? {
        span if span < least => Err(FlagError::fatal(short)),
        span => Ok(span),
    }
}

pub(super) fn invalid(flag: &str, text: &str, known: &str) -> FlagError {
    FlagError::fatal(format!("invalid --{flag}={text}: {known}"))
}

pub(super) fn idle(flags: &mut Flags, text: &str) -> Result<(), FlagError> {
    match text {
        "system" => flags.run.idle_prof = Some(IdleProf::System),
        "percpu" => flags.run.idle_prof = Some(IdleProf::PerCpu),
        "calibrate" => {
            flags.info.get_or_insert(InfoRequest::Calibrate);
        }
        _ => return Err(FlagError::fatal(format!("incorrect idle-prof option: {text}"))),
    }
    Ok(())
}

pub(super) fn host_number(flag: &str, text: &str) -> Result<u32, FlagError> {
    text.parse().map_err(|_| invalid(flag, text, "use a whole number"))
}

pub(super) fn formats(flags: &mut Flags, text: &str) -> Result<(), FlagError> {
    set_formats(flags, OutputFormat::list(text)?)
}

pub(super) fn set_formats(flags: &mut Flags, formats: Vec<OutputFormat>) -> Result<(), FlagError> {
    flags.output.formats = formats;
    flags.output.formats_given = true;
    // What was added to earlier forms goes with them, as in fio.
    flags.output.append_terse = false;
    Ok(())
}

pub(super) fn terse_version(flags: &mut Flags, text: &str) -> Result<(), FlagError> {
    flags.output.terse_version = match leading_number(text) {
        2 => 2,
        3 => 3,
        4 => 4,
        5 => 5,
        _ => return Err(FlagError::fatal("bad terse version format")),
    };
    Ok(())
}

pub(super) fn debug(flags: &mut Flags, text: &str) -> Result<(), FlagError> {
    let mut unknown = None;
    for word in text.split(',') {
        // A word may carry `:N`, as job does; fio takes it after any.
        let (name, number) = match word.split_once(':') {
            Some((name, number)) => (name, Some(number)),
            None => (word, None),
        };
        match (name, number) {
            ("all", _) => flags.run.debug = DebugWord::WORDS.map(|(_, debug)| debug).to_vec(),
            ("help" | "?", _) => {
                flags.info.get_or_insert(InfoRequest::DebugWords);
            }
            ("job", Some(number)) => flags.run.debug_job = number.trim().parse().ok(),
            ("job", None) => unknown = Some("missing job number".to_string()),
            _ => match DebugWord::WORDS.into_iter().find(|(known, _)| *known == name) {
                Some((_, debug)) if !flags.run.debug.contains(&debug) => {
                    flags.run.debug.push(debug)
                }
                Some(_) => {}
                None => unknown = Some(format!("debug mask {word} not found")),
            },
        }
    }
    flags.run.debug_unknown = unknown.or(flags.run.debug_unknown.take());
    Ok(())
}

pub(super) fn when(text: &str) -> Option<ShowWhen> {
    match text {
        "auto" => Some(ShowWhen::Auto),
        "always" => Some(ShowWhen::Always),
        "never" => Some(ShowWhen::Never),
        _ => None,
    }
}

pub(super) fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}

/// The number a text begins with, as C's `atoi` has it: 0 without a number.
pub(super) fn leading_number(text: &str) -> u64 {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().unwrap_or(0)
}
