//! Whether there is room for as many jobs and files, and for their buffers.

use crate::job::{JobPlan, Plan};
use iosonde_base::text::bytes;
use iosonde_options::Diagnostic;
use iosonde_spec::cli::ParsedJob;
use iosonde_sys::memory;

/// A job's plan, counters, histograms and thread: 229 KiB measured with ioengine=null,
/// as the growth of ru_maxrss from 500 to 1000 jobs.
const JOB: u64 = 256 << 10;
/// A file's plan, with the texts of its name and path, and its entry in the engine.
const FILE: u64 = 512;
/// Mappings of a thread: its stack with a guard page, the same for signals, and its
/// counters.
const MAPPINGS: u64 = 6;
/// Addresses of a thread: the stack that Rust gives it, the one for signals, guard pages.
const STACK: u64 = (2 << 20) + (128 << 10);
/// Addresses for what the run needs besides its jobs: other threads, the report.
const OTHER_ADDRESSES: u64 = 32 << 20;
/// What the rest of the process may map.
const OTHER_MAPPINGS: u64 = 1000;

/// Refuse more than the machine has room for, before any job is planned.
pub(super) fn check(jobs: &[ParsedJob]) -> Result<(), Diagnostic> {
    check_with(jobs, memory::available_bytes(), memory::mappings_max())
}

fn check_with(
    jobs: &[ParsedJob],
    available: Option<u64>,
    mappings: Option<u64>,
) -> Result<(), Diagnostic> {
    let Some(largest) = jobs.iter().max_by_key(|job| need(job)) else { return Ok(()) };
    let sum = |of: fn(&ParsedJob) -> u64| jobs.iter().map(of).fold(0, u64::saturating_add);
    let refuse = |words: String| {
        let (spec, copies) = (&largest.spec, u64::from(*largest.spec.job.numjobs.get()));
        let by_files = files(largest).saturating_mul(FILE) > JOB;
        let (option, origin) = if by_files && copies <= files(largest) {
            ("nrfiles", spec.files.nrfiles.origin())
        } else {
            ("numjobs", spec.job.numjobs.origin())
        };
        Err(Diagnostic::error(words).about(option, origin))
    };
    let needed = sum(need);
    if let Some(available) = available.filter(|&available| needed > available) {
        return refuse(format!(
            "{} jobs with {} files need about {} of memory, and {} are available: use fewer",
            sum(count),
            sum(|job| count(job).saturating_mul(files(job))),
            bytes(needed),
            bytes(available),
        ));
    }
    let needed = sum(count).saturating_mul(MAPPINGS).saturating_add(OTHER_MAPPINGS);
    if let Some(most) = mappings.filter(|&most| needed > most) {
        return refuse(format!(
            "{} jobs need about {needed} memory mappings, and a process may have {most}: use fewer, \
             or raise it (sysctl vm.max_map_count)",
            sum(count),
        ));
    }
    Ok(())
}

/// Refuse buffers that the machine has no room for. Linux promises memory that it
/// does not have, and would end the program in the middle of a run.
pub(super) fn check_buffers(plan: &Plan) -> Result<(), Diagnostic> {
    check_buffers_with(plan, memory::available_bytes())
}

fn check_buffers_with(plan: &Plan, available: Option<u64>) -> Result<(), Diagnostic> {
    // Without a device nobody touches them.
    let touches = |job: &&JobPlan| !job.engine.caps.diskless;
    let of_job =
        |job: &JobPlan| u64::from(job.window.depth).saturating_mul(job.buffers.bytes as u64);
    for wave in &plan.waves {
        let jobs = || wave.iter().map(|&job| &plan.jobs[job]).filter(touches);
        let needed = jobs().map(of_job).fold(0, u64::saturating_add);
        let (Some(available), Some(largest)) = (available, jobs().max_by_key(|job| of_job(job)))
        else {
            continue;
        };
        if needed > available {
            let words = format!(
                "the buffers of {} job(s) need {} of memory (job {}: iodepth {} of {} each), and {} \
                 are available",
                jobs().count(),
                bytes(needed),
                largest.name,
                largest.window.depth,
                bytes(largest.buffers.bytes as u64),
                bytes(available),
            );
            let help = "use a smaller iodepth or bs, or fewer jobs";
            return Err(Diagnostic::error(words).help(help));
        }
    }
    Ok(())
}

/// Refuse more threads than a process may have mappings for: those of engines that do
/// each I/O in flight by one, and of `io_submit_mode=offload`.
pub(super) fn check_threads(plan: &Plan) -> Result<(), Diagnostic> {
    check_threads_with(plan, memory::mappings_max())?;
    check_addresses(plan, memory::address_space_left())
}

/// The threads of a job besides its own: one for each I/O in flight, of some engines.
fn in_flight(job: &JobPlan) -> u64 {
    if job.engine.caps.own_threads || job.offload.is_some() {
        u64::from(job.window.depth)
    } else {
        0
    }
}

/// Refuse more than `ulimit -v` leaves: without it threads do not start, and then the
/// report has no memory.
fn check_addresses(plan: &Plan, left: Option<u64>) -> Result<(), Diagnostic> {
    let Some(left) = left else { return Ok(()) };
    let buffers =
        |job: &JobPlan| u64::from(job.window.depth).saturating_mul(job.buffers.bytes as u64);
    let of_wave = |wave: &Vec<usize>| {
        let jobs = wave.iter().map(|&job| &plan.jobs[job]);
        let need =
            |job: &JobPlan| STACK.saturating_mul(1 + in_flight(job)).saturating_add(buffers(job));
        jobs.map(need).fold(0, u64::saturating_add)
    };
    let waves = plan.waves.iter().map(of_wave).max().unwrap_or(0);
    let all = (plan.jobs.len() as u64).saturating_mul(JOB).saturating_add(OTHER_ADDRESSES);
    let needed = waves.saturating_add(all);
    if needed <= left {
        return Ok(());
    }
    let words = format!(
        "{} job(s) need about {} of address space for stacks, buffers and counters, and the limit \
         leaves {}",
        plan.jobs.len(),
        bytes(needed),
        bytes(left),
    );
    Err(Diagnostic::error(words)
        .help("use fewer jobs or a smaller iodepth, or raise it (ulimit -v and -d)"))
}

fn check_threads_with(plan: &Plan, mappings: Option<u64>) -> Result<(), Diagnostic> {
    let Some(most) = mappings else { return Ok(()) };
    for wave in &plan.waves {
        let jobs = || wave.iter().map(|&job| &plan.jobs[job]);
        let threads = jobs().map(in_flight).fold(plan.jobs.len() as u64, u64::saturating_add);
        let needed = threads.saturating_mul(MAPPINGS).saturating_add(OTHER_MAPPINGS);
        let Some(largest) = jobs().max_by_key(|job| in_flight(job)) else { continue };
        if needed > most && in_flight(largest) > 0 {
            let words = format!(
                "the jobs need {threads} threads, one for each I/O in flight (job {}: iodepth {}), \
                 and with them about {needed} memory mappings: a process may have {most}",
                largest.name, largest.window.depth,
            );
            let help = "use a smaller iodepth or fewer jobs, or raise it (sysctl vm.max_map_count)";
            return Err(Diagnostic::error(words).help(help));
        }
    }
    Ok(())
}

fn count(job: &ParsedJob) -> u64 {
    u64::from(*job.spec.job.numjobs.get())
}

fn files(job: &ParsedJob) -> u64 {
    match job.spec.files.filename.get() {
        Some(names) => names.0.len() as u64,
        None => u64::from(*job.spec.files.nrfiles.get()),
    }
}

/// Bytes that a section's jobs take.
fn need(job: &ParsedJob) -> u64 {
    count(job).saturating_mul(files(job).saturating_mul(FILE).saturating_add(JOB))
}
