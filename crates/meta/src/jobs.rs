//! A phase as jobs of the engine `tree`, one for each thread.

use crate::arguments::{MetaOptions, VisitOrder};
use crate::phase::changes;
use iosonde_base::part_of;
use iosonde_engine::tree::{TreeOperation, TreeSubject};
use iosonde_options::{Amount, Bytes, Triple};
use iosonde_run::job::Plan;
use iosonde_run::plan::{JobBuilder, PlannedJobs, Totals, plan_built};
use iosonde_spec::values::{EngineName, Rw, RwWord};
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

/// What each thread of this rank does in a phase. Threads with nothing to do are left out.
pub fn parts(options: &MetaOptions, operation: TreeOperation) -> Vec<PhasePart> {
    let looks = !changes(operation) && operation.subject() == TreeSubject::Files;
    let parts = options.own.clone().filter_map(|own| {
        // What this thread made is in its own host's caches.
        let thread = if looks { (own + options.shift) % options.threads } else { own };
        let shape = options.shape_of(thread);
        let all = shape.count(operation.subject());
        let (first, count) = match (options.shared, operation.subject()) {
            (false, _) => (0, all),
            // A directory must be there before those in it are made.
            (true, TreeSubject::Parents) => (0, if thread == 0 { all } else { 0 }),
            (true, _) => part_of(all, options.threads, thread),
        };
        (count > 0).then_some(PhasePart { thread, first, count })
    });
    parts.collect()
}

/// The jobs of a phase, below `root`.
///
/// # Errors
/// Why they cannot be planned.
pub fn plan(options: &MetaOptions, operation: TreeOperation, root: &Path) -> Result<Plan, String> {
    let jobs: Result<Vec<JobBuilder>, String> =
        parts(options, operation).iter().map(|part| job(options, operation, root, part)).collect();
    let PlannedJobs { plan, diagnostics, .. } = plan_built(jobs?, Totals::AsAsked);
    match diagnostics.into_iter().find(|said| said.level >= iosonde_options::Level::Error) {
        Some(error) => Err(error.to_string()),
        None => Ok(plan),
    }
}

fn job(
    options: &MetaOptions,
    operation: TreeOperation,
    root: &Path,
    part: &PhasePart,
) -> Result<JobBuilder, String> {
    let shape = options.shape_of(part.thread);
    // Parents come before their children; the others in the order that was asked for.
    let random = options.order == VisitOrder::Random
        && operation.subject() == TreeSubject::Files
        && !matches!(operation, TreeOperation::Create);
    let word = match (changes(operation), random) {
        (false, false) => RwWord::Read,
        (false, true) => RwWord::RandRead,
        (true, false) => RwWord::Write,
        (true, true) => RwWord::RandWrite,
    };
    let mut job = JobBuilder::new(operation.word(), Path::new("tree"));
    job.set(|spec| &mut spec.engine.ioengine, EngineName::Known("tree"))
        .set(|spec| &mut spec.order.rw, Rw { word, every: 1, skip: 0 })
        .set(|spec| &mut spec.block.bs, Triple([Bytes(1); 3]))
        .set(|spec| &mut spec.order.offset, Amount::Bytes(part.first))
        .set(|spec| &mut spec.size.size, Some(Amount::Bytes(part.count)))
        .set(|spec| &mut spec.buffers.scramble_buffers, false);
    let renamed = matches!(operation, TreeOperation::Unlink) && options.does(TreeOperation::Rename);
    let flag = |on: bool| if on { "1" } else { "0" }.to_owned();
    let own = [
        ("tree_root", root.to_str().ok_or("the directory's name is not UTF-8")?.to_owned()),
        ("tree_op", operation.word().to_owned()),
        ("tree_files", shape.files.to_string()),
        ("tree_dirs", shape.dirs.to_string()),
        ("tree_depth", shape.depth.to_string()),
        ("tree_sharing", if options.shared { "shared" } else { "thread" }.to_owned()),
        ("tree_thread", part.thread.to_string()),
        ("tree_size", iosonde_options::OptionValue::show(&options.sizes)),
        ("tree_fsync", flag(options.fsync)),
        ("tree_renamed", flag(renamed)),
    ];
    for (name, text) in own {
        job.set_text(name, &text).map_err(|error| format!("{name}={text}: {error:?}"))?;
    }
    Ok(job)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phase::PHASES;

    #[test]
    fn each_name_is_in_one_part() {
        for shared in [false, true] {
            let options = MetaOptions {
                files: 1001,
                dirs: 7,
                threads: 3,
                own: 0..3,
                shift: 1,
                depth: 2,
                shared,
                ..MetaOptions::default()
            };
            for operation in PHASES {
                let count: u64 = parts(&options, operation).iter().map(|part| part.count).sum();
                match operation.subject() {
                    TreeSubject::Files => assert_eq!(count, 1001, "{operation:?}"),
                    TreeSubject::Directories => assert_eq!(count, 7, "{operation:?}"),
                    TreeSubject::Parents => assert!(count >= 1, "{operation:?}"),
                }
            }
        }
    }
}
