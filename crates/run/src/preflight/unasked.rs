//! Changes to files besides a job's own writes: what `--readonly` forbids, existing files
//! that a job would extend in order to read them, and directories above named files.

use crate::job::{FileKind, FilePlan, JobPlan, Need, Plan};
use iosonde_base::Dir;
use iosonde_base::text::shell_command;
use iosonde_direct::MemoryKind;
use iosonde_engine::{LaysOut, NameChange};
use iosonde_options::Diagnostic;
use std::collections::BTreeSet;
use std::path::Path;

/// A file that exists and that a job which only reads would make longer.
#[derive(Debug)]
pub struct Extension<'p> {
    /// The job's name.
    pub job: &'p str,
    /// The file.
    pub path: &'p Path,
    /// What it holds now.
    pub bytes_now: u64,
    /// What the job needs.
    pub bytes_needed: u64,
}

impl Extension<'_> {
    /// What a job that may extend the file does.
    pub fn words(&self) -> String {
        let Extension { job, path, bytes_now, bytes_needed } = self;
        let path = path.display();
        format!("job {job} extends {path}, which exists, from {bytes_now} to {bytes_needed} bytes")
    }

    /// Why a job that may not is refused.
    pub fn refusal(&self) -> Diagnostic {
        let Extension { job, path, bytes_now, bytes_needed } = self;
        let path = path.display();
        Diagnostic::error(format!(
            "job {job} reads {bytes_needed} bytes of {path}, which exists and has {bytes_now}: a \
             job that only reads changes no file"
        ))
        .help("use a smaller size, name another file, or add --extend to have this one extended")
    }
}

/// Files that exist and that jobs which only read would extend, each once. One that
/// another job of the plan writes to is not among them.
pub fn extensions(plan: &Plan) -> Vec<Extension<'_>> {
    let writers = plan.jobs.iter().filter(|job| writes(job));
    let written: BTreeSet<&Path> =
        writers.flat_map(|job| &job.files).map(|file| file.path.as_path()).collect();
    let mut found: Vec<Extension<'_>> = Vec::new();
    let readers = plan.jobs.iter().filter(|job| !writes(job));
    for (job, file) in readers.flat_map(|job| job.files.iter().map(move |file| (job, file))) {
        let path = file.path.as_path();
        let Some(bytes_now) = short(job, file).flatten() else { continue };
        if !written.contains(path) && found.iter().all(|known| known.path != path) {
            found.push(Extension { job: &job.name, path, bytes_now, bytes_needed: file.end() });
        }
    }
    found
}

/// Refusals of the directories that laying out files of these names would create, each once:
/// most often such a name is mistyped.
pub fn missing_directories(plan: &Plan, names: &BTreeSet<&str>) -> Vec<Diagnostic> {
    let laid_out = plan.jobs.iter().filter(|job| job.engine.caps.lays_out == LaysOut::Files);
    let files = laid_out.flat_map(|job| &job.files).filter(|file| {
        file.kind == FileKind::Regular
            && file.need != Need::Nothing
            && names.contains(file.name.as_str())
    });
    let mut missing: BTreeSet<&Path> = BTreeSet::new();
    let mut refused = Vec::new();
    for file in files {
        let parent = file.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let Some(parent) = parent.filter(|parent| !parent.exists()) else { continue };
        if missing.insert(parent) {
            let words = format!(
                "{}: the directory {} does not exist",
                file.path.display(),
                parent.display()
            );
            let help = format!(
                "correct filename, or create it: mkdir -p {}",
                shell_command([parent.to_string_lossy()])
            );
            refused.push(Diagnostic::error(words).help(help));
        }
    }
    refused
}

/// Whether the job's own I/O, or what it does to names, changes its files.
fn writes(job: &JobPlan) -> bool {
    job.dirs[Dir::Write]
        || job.dirs[Dir::Trim]
        || job.engine.caps.changes
        || job.engine.caps.names != NameChange::Keeps
}

/// Whether a job removes the names of its files, whatever it is to do with their data.
pub fn removes(job: &JobPlan) -> bool {
    job.engine.caps.names == NameChange::Removes
}

/// What a file holds, if that is less than its layout would make it hold; `None`
/// inside if it does not exist.
fn short(job: &JobPlan, file: &FilePlan) -> Option<Option<u64>> {
    let is_laid_out = file.kind == FileKind::Regular
        && file.need != Need::Nothing
        && job.engine.caps.lays_out == LaysOut::Files;
    let found = std::fs::metadata(&file.path).ok();
    // A directory is refused for what it is.
    let is_file = found.as_ref().is_none_or(std::fs::Metadata::is_file);
    let bytes_now = found.map(|found| found.len());
    (is_laid_out && is_file && bytes_now < Some(file.end())).then_some(bytes_now)
}

/// What `--readonly` says to a plan whose jobs only read: each act that would
/// create, extend, change or remove a file. After it nothing is laid out either.
pub fn refuse_changes(plan: &mut Plan) -> Vec<Diagnostic> {
    let refused = plan.jobs.iter().filter_map(change).collect();
    for job in &mut plan.jobs {
        // What vanishes before the run is not made again.
        job.layout.may_create = false;
        job.layout.may_extend = false;
    }
    refused
}

fn change(job: &JobPlan) -> Option<Diagnostic> {
    let name = &job.name;
    let refuse = |words: String, help: &str| {
        Some(Diagnostic::error(format!("job {name}: --readonly: {words}")).help(help.to_owned()))
    };
    let leave_out = "leave out --readonly";
    if job.source.replay.is_some() && (job.dirs[Dir::Write] || job.dirs[Dir::Trim]) {
        let words = format!("job {name}: its recording writes or trims, and --readonly forbids it");
        let help = "leave out --readonly, or add replay_skip=write,trim";
        return Some(Diagnostic::error(words).help(help));
    }
    let engine = &job.engine;
    if engine.caps.changes {
        return refuse(format!("ioengine={} changes files", engine.name), leave_out);
    }
    match engine.caps.names {
        NameChange::Keeps => {}
        NameChange::Makes => {
            return refuse(format!("ioengine={} makes files", engine.name), leave_out);
        }
        NameChange::Removes => {
            return refuse(format!("ioengine={} removes files", engine.name), leave_out);
        }
    }
    if let Some(path) = job.settings.changes_also() {
        let words = format!("ioengine={} changes {}", engine.name, path.display());
        return refuse(words, leave_out);
    }
    let shared = job.buffers.memory.file();
    if let Some(path) = shared.filter(|_| !matches!(job.buffers.memory, MemoryKind::Mapping(_))) {
        let words = format!("its buffers would be written to {}", path.display());
        return refuse(words, "use another iomem=, or leave out --readonly");
    }
    let regular = |file: &&FilePlan| file.kind == FileKind::Regular;
    if let Some(file) = job.files.iter().find(regular)
        && (job.end.unlink || job.end.unlink_each_loop)
    {
        let words = format!("unlink would remove {}", file.path.display());
        return refuse(words, "leave out unlink=, or --readonly");
    }
    lacking(job)
}

/// The refusal of a file that would be created or extended, with fio's words, which
/// scripts look for.
fn lacking(job: &JobPlan) -> Option<Diagnostic> {
    let is_missing = |file: &FilePlan| {
        file.kind == FileKind::Regular && std::fs::symlink_metadata(&file.path).is_err()
    };
    let is_made = |file: &FilePlan| {
        is_missing(file) && (job.layout.on_open || job.engine.caps.lays_out == LaysOut::Directories)
    };
    let needs = |file: &&FilePlan| short(job, file).is_some() || is_made(file);
    let file = job.files.iter().find(needs)?;
    let (path, end) = (file.path.display(), file.end());
    let has = match std::fs::metadata(&file.path) {
        Ok(found) => format!("{path} has {} of the {end} bytes", found.len()),
        Err(_) => format!("{path} does not exist, and has none of the {end} bytes"),
    };
    Some(
        Diagnostic::error(format!(
            "refusing extend of file due to read-only: {has} that job {} reads",
            job.name
        ))
        .help("use a smaller size or a file that is large enough, or leave out --readonly"),
    )
}
