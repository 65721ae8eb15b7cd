//! Leave to write: asked for every path of a run before anything is touched,
//! and kept until the report is written.

use crate::conductor::bandwidth_log;
use crate::job::{CoordinationPlan, FileKind, FilePlan, JobPlan, Plan};
use crate::layout;
use crate::worker::commands::When;
use iosonde_base::Dir;
use iosonde_direct::MemoryKind;
use iosonde_engine::NameChange;
use iosonde_sys::erase;
use iosonde_sys::guard::{Guard, Hold, MountedWrite, Reason, WriteRefusal};
use iosonde_verify::StateHeader;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What to do about a block device that carries the signature of a file system, a
/// partition table, a volume or swap.
#[derive(Clone, Copy, Debug)]
pub enum DeviceData<'a> {
    /// Refuse to write to it unless one of these words names it (`--erase`).
    Refuse(&'a [String]),
    /// Write to it, as fio does, and leave a note.
    Note,
}

/// What to do about a file or device that another program has locked (fcntl(2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockedFiles {
    /// Refuse to write to it.
    #[default]
    Refuse,
    /// Write to it, and leave a note.
    Note,
}

/// Leave to write to all that a plan writes to.
#[derive(Debug, Default)]
pub struct WriteAccess {
    /// Keep devices from being mounted, until dropped.
    pub holds: Vec<Hold>,
    /// What will be lost, a line for each device.
    pub notes: Vec<String>,
}

impl LockedFiles {
    /// The note about a file that is written to all the same.
    fn judge(self, guard: &Guard, path: &Path) -> Result<Option<String>, WriteRefusal> {
        match (self, guard.lock_on(path)) {
            (_, None) => Ok(None),
            (LockedFiles::Refuse, Some(lock)) => {
                Err(WriteRefusal { path: path.to_owned(), reason: Reason::Locked(lock) })
            }
            (LockedFiles::Note, Some(lock)) => Ok(Some(format!("{lock}, and is written to"))),
        }
    }
}

/// Ask for every path that the plan writes to. A device that is mounted or
/// part of something is refused, and so is a new name under /dev.
///
/// # Errors
/// All refusals, in the order of the jobs.
pub fn devices(
    plan: &Plan,
    data: DeviceData<'_>,
    locked: LockedFiles,
) -> Result<WriteAccess, Vec<WriteRefusal>> {
    let (mut access, mut refusals) = (WriteAccess::default(), Vec::new());
    let mut guards: [Option<Guard>; 2] = [None, None];
    for (job, file) in written(plan) {
        let mounted =
            if job.open.allow_mounted_write { MountedWrite::Allow } else { MountedWrite::Refuse };
        let guard = guards[usize::from(job.open.allow_mounted_write)]
            .get_or_insert_with(|| Guard::now(mounted));
        let leave = if is_input(plan, &file.path) {
            Err(WriteRefusal { path: file.path.clone(), reason: Reason::ReadByRun })
        } else if removes(job, file) {
            guard.may_remove(&file.path)
        } else {
            guard.may_write(&file.path)
        };
        let asked = leave.and_then(|hold| {
            access.holds.push(hold);
            access.notes.extend(locked.judge(guard, &file.path)?);
            access.notes.extend(device_data(&file.path, data)?);
            Ok(())
        });
        refusals.extend(asked.err());
    }
    let also: BTreeSet<PathBuf> =
        plan.jobs.iter().filter_map(|job| job.settings.changes_also()).collect();
    for path in shared_memory(plan).into_iter().chain(also.iter().map(PathBuf::as_path)) {
        let guard = guards[0].get_or_insert_with(|| Guard::now(MountedWrite::Refuse));
        let asked = guard.may_write(path).and_then(|hold| {
            access.holds.push(hold);
            access.notes.extend(locked.judge(guard, path)?);
            access.notes.extend(device_data(path, data)?);
            Ok(())
        });
        refusals.extend(asked.err());
    }
    if refusals.is_empty() { Ok(access) } else { Err(refusals) }
}

/// Whether logs, recordings, merged traces and verify states of a plan may be written, and
/// `another` output: a report, a table of results.
///
/// # Errors
/// All refusals: an output that names a block device, a file that a device in
/// use shows, or one that another program has locked.
pub fn outputs(
    plan: &Plan,
    another: Option<&Path>,
    locked: LockedFiles,
) -> Result<(), Vec<WriteRefusal>> {
    let bandwidth = bandwidth_logs(plan);
    let states: Vec<PathBuf> = states(plan).collect();
    let mut paths = logs(plan);
    paths.extend(another);
    paths.extend(states.iter().map(PathBuf::as_path));
    paths.extend(bandwidth.iter().map(PathBuf::as_path));
    paths.extend(plan.merged.iter().map(|merged| merged.path.as_path()));
    if paths.is_empty() && plan.trigger.is_none() {
        return Ok(());
    }
    let guard = Guard::now(MountedWrite::Refuse);
    let refused = |path: &Path| {
        let judged = guard.may_put_output(path).and_then(|()| locked.judge(&guard, path));
        judged.err()
    };
    let mut refusals: Vec<_> = paths.iter().filter_map(|path| refused(path)).collect();
    refusals.extend(used_by_jobs(plan, &paths));
    refusals.extend(trigger(plan, &guard));
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

/// Outputs that are, under whatever name, files that jobs use or that the run is read
/// from: what is in them would be lost, and the run as well.
pub fn used_by_jobs(plan: &Plan, outputs: &BTreeSet<&Path>) -> Vec<WriteRefusal> {
    let replaced: Vec<_> =
        outputs.iter().filter_map(|path| Some((*path, data_file(path)?))).collect();
    if replaced.is_empty() {
        return Vec::new();
    }
    let files = plan.jobs.iter().flat_map(|job| &job.files);
    let used: BTreeSet<_> = files.filter_map(|file| data_file(&file.path)).collect();
    let refused = replaced.into_iter().filter_map(|(path, file)| {
        let reason = match used.contains(&file) {
            true => Reason::OutputOnJobFile,
            false if is_input(plan, path) => Reason::ReadByRun,
            false => return None,
        };
        Some(WriteRefusal { path: path.into(), reason })
    });
    refused.collect()
}

/// Device and inode number of a file that holds something.
fn data_file(path: &Path) -> Option<(u64, u64)> {
    let found = iosonde_sys::files::status(path).ok()?;
    (found.is_file() && found.len() > 0).then(|| (found.dev(), found.ino()))
}

/// Whether the run is read from a file, under whatever name.
fn is_input(plan: &Plan, path: &Path) -> bool {
    let Some(file) = data_file(path) else { return false };
    plan.inputs.iter().any(|input| data_file(input) == Some(file))
}

/// The trigger's file is removed once it appears: one that is there, and is no empty file,
/// is not what somebody made to end the run.
fn trigger(plan: &Plan, guard: &Guard) -> Option<WriteRefusal> {
    let path = plan.trigger.as_ref()?.file.as_deref()?;
    if data_file(path).is_some() {
        return Some(WriteRefusal { path: path.to_owned(), reason: Reason::TriggerHoldsData });
    }
    guard.may_remove(path).err()
}

/// Logs and recordings of a plan.
fn logs(plan: &Plan) -> BTreeSet<&Path> {
    let mut paths = BTreeSet::new();
    for job in &plan.jobs {
        paths.extend(job.measure.iolog.as_deref());
        let Some(logs) = &job.measure.logs else { continue };
        paths.extend(logs.files.iter().map(|(_, path)| path.as_path()));
        paths.extend(logs.empty.iter().map(PathBuf::as_path));
        paths.extend(logs.histogram.as_ref().map(|log| log.path.as_path()));
    }
    paths
}

fn bandwidth_logs(plan: &Plan) -> Vec<PathBuf> {
    plan.bandwidth_log.iter().flat_map(|prefix| bandwidth_log::paths(prefix)).collect()
}

/// The logs, recordings and outputs of programs of a plan that exist, hold something, and will
/// be replaced; of verify states those that are none so far.
pub fn replaced_outputs(plan: &Plan) -> Vec<PathBuf> {
    let outputs = logs(plan).into_iter().map(Path::to_owned).chain(bandwidth_logs(plan));
    let outputs = outputs.chain(plan.jobs.iter().flat_map(printed));
    let outputs = outputs.filter(|path| data_file(path).is_some());
    // Only a file that holds something is opened: a pipe would wait.
    outputs
        .chain(states(plan).filter(|path| data_file(path).is_some() && !is_state(path)))
        .collect()
}

/// Where programs that a job starts print to.
fn printed(job: &JobPlan) -> Vec<PathBuf> {
    let CoordinationPlan { before, after, .. } = &job.coordination;
    let commands = [(before, When::Before), (after, When::After)];
    let commands = commands.into_iter().filter(|(command, _)| command.is_some());
    commands.map(|(_, when)| when.file(&job.name)).chain(job.settings.outputs()).collect()
}

/// Where jobs save their verify states.
fn states(plan: &Plan) -> impl Iterator<Item = PathBuf> {
    let saves = |job: &&JobPlan| job.verify.as_ref().is_some_and(|plan| plan.save_state);
    plan.jobs.iter().filter(saves).filter_map(JobPlan::state_file)
}

/// Whether a file is as long as the header of a verify state at its beginning says.
fn is_state(path: &Path) -> bool {
    let is_as_long = || -> io::Result<bool> {
        let mut file = File::open(path)?;
        let mut bytes = [0; StateHeader::BYTES];
        file.read_exact(&mut bytes)?;
        let rest = StateHeader::decode(&bytes).ok().map(|header| header.len);
        let length = file.metadata()?.len().checked_sub(StateHeader::BYTES as u64);
        Ok(length.is_some() && rest == length)
    };
    is_as_long().unwrap_or(false)
}

/// Files that exist, hold something, and are changed without being files of a job: those
/// behind shared buffers, and what engines change besides.
pub fn changed_besides(plan: &Plan) -> BTreeSet<PathBuf> {
    let also = plan.jobs.iter().filter_map(|job| job.settings.changes_also());
    let all = shared_memory(plan).into_iter().map(Path::to_owned).chain(also);
    all.filter(|path| data_file(path).is_some()).collect()
}

/// The refusals of [`devices`] that are about data on devices, which `words` do
/// not allow to be lost, and about locks.
pub fn data_refusals(plan: &Plan, words: &[String], locked: LockedFiles) -> Vec<WriteRefusal> {
    let paths = written(plan).map(|(_, file)| file.path.as_path()).chain(shared_memory(plan));
    let mut guard = None;
    let refused = paths.filter_map(|path| {
        let guard = guard.get_or_insert_with(|| Guard::now(MountedWrite::Refuse));
        let judged = locked.judge(guard, path);
        judged.and_then(|_| device_data(path, DeviceData::Refuse(words))).err()
    });
    refused.collect()
}

/// The note about the data on a device, if there is any and it may be lost.
fn device_data(path: &Path, data: DeviceData<'_>) -> Result<Option<String>, WriteRefusal> {
    if !iosonde_sys::files::status(path).is_ok_and(|found| found.file_type().is_block_device()) {
        return Ok(None);
    }
    match data {
        DeviceData::Refuse(words) => erase::may_erase(path, words).map(|()| None),
        DeviceData::Note => {
            // The job reports what cannot be read, if it matters to that.
            let found = erase::data_on(path).unwrap_or_default();
            let note = || {
                let holds = erase::list(&found);
                format!("{} holds {holds}, and is written to", path.display())
            };
            Ok((!found.is_empty()).then(note))
        }
    }
}

/// Files and devices whose mapping holds a job's buffers (`iomem=mmapshared:FILE`):
/// what is in the buffers is written to them.
fn shared_memory(plan: &Plan) -> BTreeSet<&Path> {
    let shared = |job: &&JobPlan| !matches!(job.buffers.memory, MemoryKind::Mapping(_));
    plan.jobs.iter().filter(shared).filter_map(|job| job.buffers.memory.file()).collect()
}

/// The files that jobs write to or remove, each path once for either, with the first
/// job that does.
fn written(plan: &Plan) -> impl Iterator<Item = (&JobPlan, &FilePlan)> {
    let mut met: BTreeSet<(&Path, bool)> = BTreeSet::new();
    let all = plan.jobs.iter().flat_map(|job| job.files.iter().map(move |file| (job, file)));
    all.filter(move |(job, file)| {
        is_written(job, file) && met.insert((&file.path, removes(job, file)))
    })
}

/// Whether a job removes a file's name, by its engine or when it ends; `unlink` leaves
/// the nodes of devices.
fn removes(job: &JobPlan, file: &FilePlan) -> bool {
    let at_end = job.end.unlink || job.end.unlink_each_loop;
    job.engine.caps.names == NameChange::Removes || at_end && file.kind == FileKind::Regular
}

fn is_written(job: &JobPlan, file: &FilePlan) -> bool {
    let writes = job.dirs[Dir::Write] || job.dirs[Dir::Trim];
    let writes = writes || job.engine.caps.changes || job.engine.caps.names != NameChange::Keeps;
    match file.kind {
        FileKind::None => false,
        // A job that only reads lays out regular files that are too short, and writes to no
        // device.
        FileKind::Regular => {
            writes || removes(job, file) || job.layout.on_open || layout::is_short(file)
        }
        FileKind::Block | FileKind::Character => writes,
    }
}
