//! A report as text, in the forms and the colours that were asked for.

use crate::personality::Personality;
use iosonde_report::formats;
use iosonde_spec::cli::flags::{Flags, OutputFormat, ShowWhen};
use std::io::IsTerminal;

/// The report in every form that was asked for: terse, then JSON, then text,
/// as fio orders them.
pub fn text(personality: Personality, flags: &Flags, told: &iosonde_report::Report) -> String {
    let has = |format| flags.formats.contains(&format);
    let mut text = String::new();
    if flags.formats_given && has(OutputFormat::Terse) || flags.append_terse {
        text.push_str(&formats::fio_terse(told, terse_version(flags)));
    }
    let ours = personality == Personality::Native || told.ours.ledger.is_some();
    if flags.formats_given && has(OutputFormat::JsonPlus) {
        text.push_str(&formats::fio_json_plus(told, &formats::JsonOptions { ours }));
    } else if flags.formats_given && has(OutputFormat::Json) {
        text.push_str(&formats::fio_json(told, &formats::JsonOptions { ours }));
    }
    match personality {
        Personality::Native if !flags.formats_given => {
            text.push_str(&formats::native(told, &style(flags)));
        }
        _ if has(OutputFormat::Normal) || !flags.formats_given => {
            text.push_str(&formats::fio_normal(told));
            if personality == Personality::Fio {
                text.push_str(&formats::ledger_text(told, &style(flags)));
            }
        }
        _ => {}
    }
    text
}

/// Whether a program reads it, and any other word beside it breaks that.
pub fn is_document(format: OutputFormat) -> bool {
    matches!(format, OutputFormat::Json | OutputFormat::JsonPlus | OutputFormat::Terse)
}

fn terse_version(flags: &Flags) -> formats::TerseVersion {
    match flags.terse_version {
        2 => formats::TerseVersion::V2,
        4 => formats::TerseVersion::V4,
        5 => formats::TerseVersion::V5,
        _ => formats::TerseVersion::V3,
    }
}

fn style(flags: &Flags) -> formats::Style {
    formats::Style { colour: color(flags), ..formats::Style::default() }
}

/// Whether our own report and line may use colour.
pub fn color(flags: &Flags) -> bool {
    match flags.color {
        ShowWhen::Always => true,
        ShowWhen::Never => false,
        ShowWhen::Auto => {
            flags.output.is_none()
                && std::io::stdout().is_terminal()
                && std::env::var_os("NO_COLOR").is_none()
        }
    }
}
