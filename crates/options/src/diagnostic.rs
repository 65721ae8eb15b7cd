//! Diagnostics about a job before it runs.

use std::fmt;

use crate::Origin;

/// Its severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Good to know.
    Note,
    /// Probably not what was meant; the job runs.
    Warning,
    /// The job does not run.
    Error,
}

impl Level {
    /// `note`, `warning` or `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// One message, the option's origin, and a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its severity.
    pub level: Level,
    /// The option it is about, by its canonical name; empty if none.
    pub option: String,
    /// Where the option was set.
    pub origin: Origin,
    /// The message: a lower-case fragment that does not repeat the option's name.
    pub message: String,
    /// What to do, if something can be done.
    pub help: Option<String>,
    /// The message is fio's own: called as fio, the line begins with it.
    pub as_fio: bool,
    /// fio warns of it too, so that it is fatal with its `--warnings-fatal`.
    pub fio_warns_too: bool,
}

impl Diagnostic {
    /// A diagnostic of any level, about no option yet.
    pub fn new(level: Level, message: impl Into<String>) -> Diagnostic {
        let (option, origin) = (String::new(), Origin::Default);
        Diagnostic {
            level,
            option,
            origin,
            message: message.into(),
            help: None,
            as_fio: false,
            fio_warns_too: false,
        }
    }

    /// A note.
    pub fn note(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Level::Note, message)
    }

    /// A warning.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Level::Warning, message)
    }

    /// An error.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Level::Error, message)
    }

    /// The same about `option`, which was set at `origin`.
    pub fn about(mut self, option: impl Into<String>, origin: &Origin) -> Diagnostic {
        self.option = option.into();
        self.origin = origin.clone();
        self
    }

    /// The same, with a message that is fio's own.
    pub fn as_fio(mut self) -> Diagnostic {
        self.as_fio = true;
        self
    }

    /// The same, of something that fio warns of as well.
    pub fn fio_warns_too(mut self) -> Diagnostic {
        self.fio_warns_too = true;
        self
    }

    /// The same with a remedy.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Origin::File { .. } = self.origin {
            write!(f, "{}: ", self.origin)?;
        }
        write!(f, "{}: ", self.level.name())?;
        if !self.option.is_empty() {
            write!(f, "{}: ", self.option)?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_has_an_origin_a_message_and_a_remedy() {
        let origin = Origin::File { path: "a.fio".into(), line: 3, column: 1 };
        let diagnostic = Diagnostic::error("invalid value \"x\": use a size such as 4k")
            .about("bs", &origin)
            .help("write bs=4k");
        assert_eq!(
            diagnostic.to_string(),
            "a.fio:3:1: error: bs: invalid value \"x\": use a size such as 4k (write bs=4k)"
        );
    }
}
