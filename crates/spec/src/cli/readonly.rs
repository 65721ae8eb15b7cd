//! `--readonly`: no job may write or trim.
//!
//! TypedOption of finished jobs, so the flag may stand anywhere on the command line, and a `[global]`
//! that writes is no harm where every job overrides it.

use iosonde_options::{Diagnostic, Origin};

use crate::cli::notice::Notice;
use crate::cli::parsed::ParsedJob;

/// Adds an error for each job that would change what is stored.
pub fn refuse(jobs: &[ParsedJob], notices: &mut Vec<Notice>) {
    notices.extend(jobs.iter().flat_map(refusals));
}

fn refusals(job: &ParsedJob) -> Vec<Notice> {
    let name = &job.name;
    let shown = |option: &str| job.spec.show(option).unwrap_or_default();
    let mut all = Vec::new();
    let direction = shown("rw");
    if changes(&direction) {
        let words =
            format!("fio: job <{name}> has write or trim bit set, but fio is in read-only mode");
        all.push(refusal(job, "rw", &direction, words));
    }
    let trims = shown("trim_percentage");
    if !matches!(trims.as_str(), "" | "0") {
        let words = format!("fio: job <{name}> has trims set, but fio is in read-only mode");
        all.push(refusal(job, "trim_percentage", &trims, words));
    }
    all
}

fn refusal(job: &ParsedJob, option: &'static str, value: &str, words: String) -> Notice {
    let origin = job.spec.origin(option).unwrap_or_default();
    let mut fio = vec![words, format!("fio: failed parsing {option}={value}")];
    if matches!(origin, Origin::File { .. }) {
        fio.push(format!("fio: job {} dropped", job.name));
    }
    let message = format!("job {} writes or trims, which --readonly forbids", job.name);
    let diagnostic = Diagnostic::error(message).about(option, &origin);
    Notice {
        diagnostic: diagnostic.help("leave out --readonly, or use rw=read or rw=randread"),
        fio,
    }
}

/// Whether a direction does anything but read. `:8` may follow the word.
fn changes(direction: &str) -> bool {
    let word = direction.split(':').next().unwrap_or("");
    !matches!(word, "read" | "randread")
}
