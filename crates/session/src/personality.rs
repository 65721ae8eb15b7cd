//! Whether the program behaves as fio or as itself.

/// The program's behaviour: texts, report, defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Personality {
    /// As fio: its texts, its report.
    Fio,
    /// As itself: fio's job language, another report.
    Native,
}

impl Personality {
    /// The name that messages begin with.
    pub fn program(self) -> &'static str {
        match self {
            Personality::Fio => "fio",
            Personality::Native => "iosonde",
        }
    }

    /// The line of `--version`.
    pub fn version(self) -> &'static str {
        match self {
            Personality::Fio => iosonde_run::FIO_VERSION,
            Personality::Native => concat!("iosonde ", env!("CARGO_PKG_VERSION")),
        }
    }
}
