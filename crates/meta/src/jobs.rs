//! A phase as jobs of the engine `tree`, one for each thread.

use crate::arguments::MetaOptions;
use crate::mix::{MixPart, MixRate};
use crate::phase::changes;
use crate::runner::StepJobs;
use crate::values::VisitOrder;
use iosonde_base::{Nanos, part_of};
use iosonde_engine::tree::{TreeOperation, TreeSubject};
use iosonde_run::plan::{JobBuilder, PlannedJobs, Totals, plan_built};
use std::path::Path;

/// A thread's part of a phase: names from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhasePart {
    /// The thread.
    pub thread: u32,
    /// The first name.
    pub first: u64,
    /// How many names.
    pub count: u64,
}

/// What each thread of this rank does in a phase, of which each made at most `made` files.
/// Threads with nothing to do are left out.
pub fn parts(options: &MetaOptions, operation: TreeOperation, made: u64) -> Vec<PhasePart> {
    let is_of_others =
        !changes(operation) || options.removes_shifted && operation == TreeOperation::Unlink;
    let is_of_others = is_of_others && operation.subject() == TreeSubject::Files;
    let parts = options.own.clone().filter_map(|own| {
        // What this thread made is in its own host's caches.
        let thread = if is_of_others { (own + options.shift) % options.threads } else { own };
        let shape = options.shape_of(thread);
        let all = shape.count(operation.subject());
        let only_first = (0, if thread == 0 { all } else { 0 });
        let (first, count) = match (options.shared, operation.subject()) {
            (false, _) => (0, all),
            // A directory must be there before those in it are made, and in a list any may be.
            (true, TreeSubject::Parents) => only_first,
            (true, TreeSubject::Directories) if options.list.is_some() && makes(operation) => {
                only_first
            }
            (true, _) => part_of(all, options.threads, thread),
        };
        let most = if operation.subject() == TreeSubject::Files { made } else { u64::MAX };
        (count > 0).then_some(PhasePart { thread, first, count: count.min(most) })
    });
    parts.collect()
}

fn makes(operation: TreeOperation) -> bool {
    matches!(operation, TreeOperation::MakeDir | TreeOperation::RemoveDir)
}

/// The jobs of a phase, below `root`, as a step.
pub fn plan(options: &MetaOptions, operation: TreeOperation, root: &Path, made: u64) -> StepJobs {
    let jobs = jobs(options, operation, root, made)?;
    let owners = vec![0; jobs.len()];
    planned(jobs, owners)
}

/// The jobs of a phase, below `root`: one for each thread that has something to do.
///
/// # Errors
/// A path is not UTF-8.
pub fn jobs(
    options: &MetaOptions,
    operation: TreeOperation,
    root: &Path,
    made: u64,
) -> Result<Vec<JobBuilder>, String> {
    let parts = parts(options, operation, made);
    parts.iter().map(|part| job(options, operation, root, part, made)).collect()
}

/// The jobs of operations that are done beside each other: for each thread one of each.
pub fn plan_mix(options: &MetaOptions, root: &Path, made: u64) -> StepJobs {
    let (mut jobs, mut owners) = (Vec::new(), Vec::new());
    for (row, part) in options.mix.iter().enumerate() {
        for own in parts(options, part.operation, made) {
            let mut job = job(options, part.operation, root, &own, made)?;
            mixed(&mut job, options, part)?;
            jobs.push(job);
            owners.push(row);
        }
    }
    planned(jobs, owners)
}

fn mixed(job: &mut JobBuilder, options: &MetaOptions, part: &MixPart) -> Result<(), String> {
    job.set(|spec| &mut spec.time.runtime, Nanos(options.mix_time.as_nanos() as u64))
        .set(|spec| &mut spec.time.time_based, true);
    let (name, value) = match part.rate {
        MixRate::Share(weight) => ("flow", weight.to_string()),
        // What does not divide is lost: less than an operation a second for each thread.
        MixRate::PerSecond(rate) => {
            ("rate_iops", (rate / u64::from(options.threads)).max(1).to_string())
        }
    };
    job.set_text(name, &value).map_err(|error| format!("{name}={value}: {error:?}"))?;
    Ok(())
}

/// A plan of jobs that start together.
///
/// # Errors
/// Why they cannot be planned.
pub fn planned(jobs: Vec<JobBuilder>, owners: Vec<usize>) -> StepJobs {
    if jobs.is_empty() {
        return Ok(None);
    }
    let PlannedJobs { plan, diagnostics, .. } = plan_built(jobs, Totals::AsAsked);
    match diagnostics.into_iter().find(|said| said.level >= iosonde_options::Level::Error) {
        Some(error) => Err(error.to_string()),
        None => Ok(Some((plan, owners))),
    }
}

fn job(
    options: &MetaOptions,
    operation: TreeOperation,
    root: &Path,
    part: &PhasePart,
    made: u64,
) -> Result<JobBuilder, String> {
    let mut job = JobBuilder::new(operation.word(), Path::new("tree"));
    job.set(|spec| &mut spec.buffers.scramble_buffers, false);
    for (name, text) in job_options(options, operation, root, part, made)? {
        job.set_text(name, &text).map_err(|error| format!("{name}={text}: {error:?}"))?;
    }
    Ok(job)
}

/// The options of a thread's job, as a job file has them.
///
/// # Errors
/// A path is not UTF-8.
pub fn job_options(
    options: &MetaOptions,
    operation: TreeOperation,
    root: &Path,
    part: &PhasePart,
    made: u64,
) -> Result<Vec<(&'static str, String)>, String> {
    let shape = options.shape_of(part.thread);
    // Parents come before their children; the others in the order that was asked for.
    let random = options.order == VisitOrder::Random
        && operation.subject() == TreeSubject::Files
        && !matches!(operation, TreeOperation::Create);
    let rw = match (changes(operation), random) {
        (false, false) => "read",
        (false, true) => "randread",
        (true, false) => "write",
        (true, true) => "randwrite",
    };
    let path =
        |path: &Path| Ok::<_, String>(path.to_str().ok_or("a path is not UTF-8")?.to_owned());
    let mut own = vec![
        ("ioengine", "tree".to_owned()),
        ("tree_op", operation.word().to_owned()),
        ("tree_root", path(root)?),
        ("rw", rw.to_owned()),
        ("bs", "1".to_owned()),
        ("offset", part.first.to_string()),
        ("size", part.count.to_string()),
        ("tree_files", shape.files.to_string()),
        ("tree_dirs", shape.dirs.to_string()),
        ("tree_depth", shape.depth.to_string()),
        ("tree_sharing", if options.shared { "shared" } else { "thread" }.to_owned()),
        ("tree_thread", part.thread.to_string()),
        ("tree_size", iosonde_options::OptionValue::show(&options.sizes)),
    ];
    let renamed = matches!(operation, TreeOperation::Unlink) && options.does(TreeOperation::Rename);
    let flags = [
        ("tree_fsync", options.fsync),
        ("tree_renamed", renamed),
        ("tree_direct", options.direct),
        ("tree_verify", options.verify),
        ("tree_partial", made < u64::MAX),
    ];
    own.extend(flags.into_iter().filter(|(_, on)| *on).map(|(name, _)| (name, "1".to_owned())));
    if let Some(limit) = options.limit.filter(|_| operation == TreeOperation::Create) {
        own.push(("runtime", format!("{}us", limit.as_micros())));
        own.push(("wear_out", "1".to_owned()));
    }
    if !options.matched.name.is_empty() {
        own.push(("tree_match", options.matched.name.clone()));
    }
    own.extend(options.matched.bytes.map(|bytes| ("tree_match_size", bytes.to_string())));
    if let Some(list) = &options.list {
        own.push(("tree_list", path(&list.path)?));
    }
    Ok(own)
}

/// The phases as a job file: on several hosts (`--client`, `--mpi`) each has trees of its own.
///
/// # Errors
/// What cannot be said in a job file.
pub fn job_file(options: &MetaOptions) -> Result<String, String> {
    if options.shared || options.shift > 0 || options.limit.is_some() || !options.mix.is_empty() {
        return Err("--print: a job file has a tree for each thread, and no --shared, --tree-file, --shift, --limit or \
                    --mix"
            .to_owned());
    }
    let mut text =
        "# On several hosts: iosonde --client=HOST ... FILE; {rank} is the place of the host.\n"
            .to_owned();
    for &operation in &options.phases {
        let mut wall = true;
        for part in parts(options, operation, u64::MAX) {
            text += &format!("\n[{}.{}]\n", operation.word(), part.thread);
            if std::mem::take(&mut wall) {
                text += "stonewall\n";
            }
            text += "group_reporting\n";
            for (name, value) in job_options(options, operation, &options.dir, &part, u64::MAX)? {
                let value = match name {
                    "tree_thread" => format!("({{rank}}*{}+{value})", options.threads),
                    _ => value,
                };
                text += &format!("{name}={value}\n");
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phase::PHASES;

    fn options(shared: bool) -> MetaOptions {
        MetaOptions {
            files: 1001,
            dirs: 7,
            threads: 3,
            own: 0..3,
            shift: 1,
            depth: 2,
            shared,
            ..MetaOptions::default()
        }
    }

    #[test]
    fn each_name_is_in_one_part() {
        for shared in [false, true] {
            let options = options(shared);
            for operation in PHASES {
                let parts = parts(&options, operation, u64::MAX);
                let count: u64 = parts.iter().map(|part| part.count).sum();
                match operation.subject() {
                    TreeSubject::Files => assert_eq!(count, 1001, "{operation:?}"),
                    TreeSubject::Directories => assert_eq!(count, 7, "{operation:?}"),
                    TreeSubject::Parents => assert!(count >= 1, "{operation:?}"),
                }
            }
        }
    }

    #[test]
    fn what_was_not_made_is_not_looked_up() {
        let parts = parts(&options(true), TreeOperation::Stat, 10);
        let all: Vec<(u64, u64)> = parts.iter().map(|part| (part.first, part.count)).collect();
        // Each thread the names of the next.
        assert_eq!(all, [(334, 10), (668, 10), (0, 10)]);
        assert_eq!(super::parts(&options(true), TreeOperation::RemoveDir, 10).len(), 3);
    }
}
