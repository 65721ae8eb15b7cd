//! The outputs of a run besides its report: opened, or refused, before anything runs.

use crate::html_page;
use crate::live::JsonStream;
use crate::metrics::Endpoints;
use iosonde_run::job::Plan;
use iosonde_run::preflight::write_access;
use iosonde_spec::cli::flags::Flags;
use std::path::Path;

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
    pub fn open(flags: &Flags, plan: &Plan) -> Result<RunOutputs, String> {
        check_inputs(flags, plan)?;
        // First, so that descriptor 3 is the caller's.
        let stream = JsonStream::open(flags)?;
        html_page::check(&flags.output)?;
        Ok(RunOutputs { stream, endpoints: Endpoints::open(flags)? })
    }
}

/// `--force` is for what earlier runs left, not for what this one reads.
fn check_inputs(flags: &Flags, plan: &Plan) -> Result<(), String> {
    let named = [&flags.output.html, &flags.live.file, &flags.live.metrics_file];
    let named = named.into_iter().flatten().map(Path::new).collect();
    match write_access::used_by_jobs(plan, &named).first() {
        Some(refusal) => Err(format!("cannot {refusal}")),
        None => Ok(()),
    }
}
