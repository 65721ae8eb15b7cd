//! fio's manners, or our own.

/// Whom the program is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Personality {
    /// fio: its texts, its report.
    Fio,
    /// Ourselves: the same language, our own report.
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
}
