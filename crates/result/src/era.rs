//! The units of a document, which fio's version decides.

/// The units of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FioEra {
    /// 2.x: latencies in microseconds, `io_bytes` in KiB.
    Two,
    /// 3.x: nanoseconds and bytes.
    Three,
}

impl FioEra {
    /// fio 1.x and 2.x have the older units; what is no version of fio is taken for
    /// a new one.
    pub fn of(version: &str) -> FioEra {
        let number = version.trim_start_matches("fio-");
        let major = number.split(['.', '-']).next().and_then(|major| major.parse::<u32>().ok());
        if major.is_some_and(|major| major < 3) { FioEra::Two } else { FioEra::Three }
    }
}
