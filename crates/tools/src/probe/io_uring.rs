//! One read with io_uring, run as a job.

use iosonde_options::{Amount, Bytes, Triple};
use iosonde_run::conductor::Unseen;
use iosonde_run::job::Need;
use iosonde_run::plan::JobBuilder;
use iosonde_run::worker::JobResult;
use iosonde_session::{RunRules, Session, Work};
use iosonde_spec::values::{EngineName, Rw, RwWord};
use std::path::Path;

/// Read one block of a file that is there.
///
/// # Errors
/// Why the read failed.
pub fn read_one(path: &Path, block: u64, direct: bool, polled: bool) -> Result<(), String> {
    let mut job = JobBuilder::new("probe", path);
    job.set(|spec| &mut spec.engine.ioengine, EngineName::Known("io_uring"))
        .set(|spec| &mut spec.order.rw, Rw { word: RwWord::Read, every: 1, skip: 0 })
        .set(|spec| &mut spec.block.bs, Triple([Bytes(block); 3]))
        .set(|spec| &mut spec.size.size, Some(Amount::Bytes(block)))
        .set(|spec| &mut spec.durability.direct, direct)
        .set(|spec| &mut spec.file_life.allow_file_create, false)
        .set(|spec| &mut spec.file_life.invalidate, false);
    if polled {
        job.set_text("hipri", "1").map_err(|error| error.to_string())?;
    }
    let mut plan = job.plan().map_err(|error| error.to_string())?;
    for job in &mut plan.jobs {
        job.files.iter_mut().for_each(|file| file.need = Need::Nothing);
    }
    let session = Session::default();
    let ready = session.open(Work::Planned(plan), &RunRules::default());
    let ready = ready.map_err(|end| end.to_string())?;
    let measured = ready.run(&mut Unseen, None).map_err(|end| end.to_string())?;
    match measured.outcome.results.into_iter().flatten().next() {
        Some(JobResult { error: Some(error), .. }) => Err(error.to_string()),
        Some(result) if result.snapshot.lanes[0].bytes == block => Ok(()),
        Some(_) => Err("fewer bytes were read than requested".to_owned()),
        None => Err("interrupted".to_owned()),
    }
}
