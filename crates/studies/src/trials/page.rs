//! What the pages of comparisons and sweeps have in common: units, the command line.

use super::figures::{Figure, Measure};
use iosonde_base::text::shell_command;
use iosonde_html::FigureUnit;

/// The unit of a figure's values.
pub fn unit(figure: &Figure) -> FigureUnit {
    match figure.measure {
        Measure::Iops => FigureUnit::Count,
        Measure::Bandwidth | Measure::Durable => FigureUnit::BytesPerSecond,
        _ => FigureUnit::Nanoseconds,
    }
}

/// The command line that ran, for a shell.
pub fn command_line() -> String {
    shell_command(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
}
