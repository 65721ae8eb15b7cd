//! The formats of a report, one entry each, and which of them a run prints.

use iosonde_report::{Report, formats};
use iosonde_session::Personality;
use iosonde_spec::cli::flags::{OutputFlags, OutputFormat, ShowWhen};
use iosonde_sys::terminal;

/// What decides on formats besides the report.
struct FormatRequest<'a> {
    personality: Personality,
    flags: &'a OutputFlags,
}

/// One format.
struct ReportFormat {
    /// Whether this run prints it.
    is_requested: fn(&FormatRequest<'_>) -> bool,
    /// The report in it.
    write: fn(&Report, &FormatRequest<'_>) -> String,
}

/// All formats, in the order in which fio prints them.
static FORMATS: &[ReportFormat] = &[
    // Terse.
    ReportFormat {
        is_requested: |request| request.names(OutputFormat::Terse) || request.flags.append_terse,
        write: |report, request| formats::fio_terse(report, request.terse_version()),
    },
    // JSON with all latency bins.
    ReportFormat {
        is_requested: |request| request.names(OutputFormat::JsonPlus),
        write: |report, request| formats::fio_json_plus(report, &request.json(report)),
    },
    // JSON.
    ReportFormat {
        is_requested: |request| {
            request.names(OutputFormat::Json) && !request.names(OutputFormat::JsonPlus)
        },
        write: |report, request| formats::fio_json(report, &request.json(report)),
    },
    // Comma-separated values.
    ReportFormat {
        is_requested: |request| request.names(OutputFormat::Csv),
        write: |report, _| formats::csv(report),
    },
    // Markdown.
    ReportFormat {
        is_requested: |request| request.names(OutputFormat::Markdown),
        write: |report, _| formats::markdown(report),
    },
    // Our own text.
    ReportFormat {
        is_requested: |request| request.is_native() && !request.flags.formats_given,
        write: |report, request| formats::native(report, &request.style()),
    },
    // fio's text.
    ReportFormat {
        is_requested: |request| request.wants_fio_text(),
        write: |report, _| formats::fio_normal(report),
    },
    // The ledger below fio's text.
    ReportFormat {
        is_requested: |request| !request.is_native() && request.wants_fio_text(),
        write: |report, request| formats::ledger_text(report, &request.style()),
    },
];

/// The report in every format that was requested.
pub fn text(personality: Personality, flags: &OutputFlags, report: &Report) -> String {
    let mut padded = None;
    let report = match personality {
        Personality::Fio => {
            let padded = padded.insert(report.clone());
            padded.pad_steady_windows();
            padded
        }
        Personality::Native => report,
    };
    let request = FormatRequest { personality, flags };
    let requested = FORMATS.iter().filter(|format| (format.is_requested)(&request));
    requested.map(|format| (format.write)(report, &request)).collect()
}

/// Whether all that is printed is documents.
pub fn prints_documents_only(flags: &OutputFlags) -> bool {
    flags.formats_given && flags.formats.iter().all(|&format| is_document(format))
}

/// Whether programs read a format, so that nothing may be printed beside it.
pub fn is_document(format: OutputFormat) -> bool {
    !matches!(format, OutputFormat::Normal)
}

impl FormatRequest<'_> {
    fn is_native(&self) -> bool {
        self.personality == Personality::Native
    }

    fn names(&self, format: OutputFormat) -> bool {
        self.flags.formats_given && self.flags.formats.contains(&format)
    }

    fn wants_fio_text(&self) -> bool {
        if self.flags.formats_given {
            self.flags.formats.contains(&OutputFormat::Normal)
        } else {
            !self.is_native()
        }
    }

    fn json(&self, report: &Report) -> formats::JsonOptions {
        formats::JsonOptions { ours: self.is_native() || report.ours.ledger.is_some() }
    }

    fn terse_version(&self) -> formats::TerseVersion {
        match self.flags.terse_version {
            2 => formats::TerseVersion::V2,
            4 => formats::TerseVersion::V4,
            5 => formats::TerseVersion::V5,
            _ => formats::TerseVersion::V3,
        }
    }

    fn style(&self) -> formats::Style {
        let to_file = self.flags.file.is_some();
        let colour = match self.flags.color {
            ShowWhen::Always => true,
            ShowWhen::Never => false,
            ShowWhen::Auto => !to_file && terminal::shows_colour(),
        };
        let columns = if to_file { terminal::COLUMNS_DEFAULT } else { terminal::columns() };
        let unicode = terminal::shows_unicode();
        formats::Style { colour, unicode, columns, verbose: self.flags.verbose }
    }
}
