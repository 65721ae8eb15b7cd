//! State files of the jobs that wrote, read before anything is touched
//! (`verify_state_load`).

use crate::job::{JobPlan, Plan};
use iosonde_options::Diagnostic;
use iosonde_verify::{StateError, StateFile, WritesEnd};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A state is not longer: it has 8 bytes for each I/O of the queue.
const BYTES_MOST: u64 = 16 << 20;

/// Read the state file of each job that is to check as far as one says.
/// Returns what is wrong with them.
pub fn load(plan: &mut Plan) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    for job in &mut plan.jobs {
        let Some(path) = job.state_file().filter(|_| loads(job)) else { continue };
        match read(job, &path) {
            Ok(end) => job.verify.iter_mut().for_each(|verify| {
                verify.spec.until = Some(end.clone());
                // The state ends where the syncs of the run that wrote it did.
                verify.spec.only_synced = false;
            }),
            Err(diagnostic) => wrong.push(diagnostic),
        }
    }
    wrong
}

fn loads(job: &JobPlan) -> bool {
    job.verify.as_ref().is_some_and(|verify| verify.load_state)
}

fn read(job: &JobPlan, path: &Path) -> Result<WritesEnd, Diagnostic> {
    let refuse = |words: String, help: &str| {
        let words = format!("{}: verify_state_load: {words}", job.name);
        Diagnostic::error(words).help(help.to_owned())
    };
    let shown = path.display();
    let mut bytes = Vec::new();
    let file = File::open(path).map(|file| file.take(BYTES_MOST));
    file.and_then(|mut file| file.read_to_end(&mut bytes)).map_err(|error| {
        // fio's words, which scripts look for, among ours.
        let help = "a run of the writing job with verify_state_save=1 makes it: run both in one \
                    directory, or with one --aux-path, under the same job name";
        refuse(format!("open state file: {shown}: {error}"), help)
    })?;
    let state = StateFile::decode(&bytes, job.window.depth as usize).map_err(|error| {
        let help = match error {
            StateError::Layout(_) => "write it again with this version",
            _ => {
                "the file is damaged: verify the device without verify_state_load=1, with a size \
                 that ends where the writes did"
            }
        };
        refuse(format!("state file {shown}: {error}"), help)
    })?;
    let (name, index) = (StateFile::cut_name(&job.name), job.state_index());
    if (&state.name, state.job) != (&name, index) {
        let words = format!(
            "state file {shown} is of job \"{}\" number {}, not of \"{name}\" number {index}",
            state.name, state.job
        );
        let help = "give the job the name and the place among the jobs that it had when it wrote";
        return Err(refuse(words, help));
    }
    Ok(WritesEnd::from(&state))
}
