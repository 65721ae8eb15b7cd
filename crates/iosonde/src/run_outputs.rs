//! The outputs of a run besides its report: opened, or refused, before anything runs.

use crate::html_page;
use crate::live::JsonStream;
use crate::metrics::Endpoints;
use iosonde_spec::cli::flags::Flags;

/// Outputs of a run that are open.
pub struct RunOutputs {
    /// Of `--live=json`.
    pub stream: Option<JsonStream>,
    /// Of `--metrics-listen` and `--metrics-file`.
    pub endpoints: Option<Endpoints>,
}

impl RunOutputs {
    /// Open them.
    ///
    /// # Errors
    /// One cannot be written to: a sentence.
    pub fn open(flags: &Flags) -> Result<RunOutputs, String> {
        // First, so that descriptor 3 is the caller's.
        let stream = JsonStream::open(flags)?;
        html_page::check(&flags.output)?;
        Ok(RunOutputs { stream, endpoints: Endpoints::open(flags)? })
    }
}
