//! Options that a job among zones must not ask for.

use super::super::clone_of::CloneOf;
use super::super::files::{FileRange, Named, Parts};
use super::super::job_io::JobIo;
use super::super::zone_target::ZoneTarget;
use crate::job::{FileKind, JobPlan, VerifyPlan};
use iosonde_base::Dir;
use iosonde_engine::LaysOut;
use iosonde_options::{Amount, Diagnostic, Setting};
use iosonde_spec::JobSpec;
use iosonde_sys::zones::{LinuxZones, ZonedModel};
use iosonde_verify::Checks;

fn error<T>(setting: &Setting<T>, name: &str, words: impl Into<String>) -> Diagnostic {
    Diagnostic::error(words).about(name, setting.origin())
}

/// Jobs on one file go by one limit.
pub(super) fn same_limit(
    spec: &JobSpec,
    known: &ZoneTarget,
    named: &Named,
) -> Result<(), Diagnostic> {
    let setting = &spec.zones.max_open_zones;
    let (here, there) = (*setting.get(), known.open_max_given);
    if here == there {
        return Ok(());
    }
    let path = named.path.display();
    let words =
        format!("Different 'max_open_zones' values: {here}, and {there} of another job on {path}");
    Err(error(setting, "max_open_zones", words).help("set the same in all jobs on one file"))
}

/// The job's blocks fit into the zones of a file, and it opens it as that wants.
pub(super) fn fit(
    spec: &JobSpec,
    io: &JobIo,
    named: &Named,
    target: &ZoneTarget,
) -> Result<(), Diagnostic> {
    let path = named.path.display();
    let zone = target.share.lock().zone_bytes();
    if io.dirs[Dir::Write] && u64::from(io.sizes[Dir::Write].max()) > zone {
        let words = format!("{path}: I/O buflen exceeds zone size {zone}");
        return Err(error(&spec.block.bs, "bs", words).help("set a smaller bs="));
    }
    if io.dirs[Dir::Trim] {
        let sizes = &io.sizes[Dir::Trim];
        let (least, most) = (sizes.min(), sizes.max());
        if least != most {
            let words = "bsrange and bssplit are not allowed for trim with zonemode=zbd";
            return Err(error(&spec.block.bs, "bs", words).help(format!("set bs={zone}")));
        }
        if u64::from(most) != zone {
            let words = format!("{path}: trim block size {most} is not the zone size {zone}");
            return Err(error(&spec.block.bs, "bs", words).help(format!("set bs={zone} for trims")));
        }
    }
    if let Amount::Bytes(skip) = spec.zones.zoneskip.get()
        && !skip.is_multiple_of(zone)
    {
        let words =
            format!("{path}: zoneskip {skip} is not a multiple of the device zone size {zone}.");
        return Err(
            error(&spec.zones.zoneskip, "zoneskip", words).help("use zones, such as zoneskip=1z")
        );
    }
    let writes = io.dirs[Dir::Write] || io.dirs[Dir::Trim];
    if target.is_managed && writes && !*spec.durability.direct.get() {
        let words = format!("Using direct I/O is mandatory for writing to ZBD drives: {path}");
        return Err(error(&spec.durability.direct, "direct", words).help("set direct=1"));
    }
    Ok(())
}

/// No more zones are open on the device, in the job's range, than may be.
pub(super) fn open_at_start(
    spec: &JobSpec,
    io: &JobIo,
    named: &Named,
    target: &ZoneTarget,
    range: &FileRange,
) -> Result<(), Diagnostic> {
    let table = target.share.lock();
    let most = table.limits().open_max;
    let last = table.zone_at((range.offset + range.bytes).saturating_sub(1));
    let open = table.reported_open(table.zone_at(range.offset)..last + 1);
    if most == 0 || open <= most || !io.dirs[Dir::Write] {
        return Ok(());
    }
    let path = named.path.display();
    let words = format!(
        "Number of open zones exceeds max_open_zones limit: {open} of {path}, and {most} may be"
    );
    Err(error(&spec.zones.max_open_zones, "max_open_zones", words)
        .help("set a larger max_open_zones=, or close or reset zones first (blkzone)"))
}

/// The options of a job among zones agree.
pub(super) fn agree(
    of: &CloneOf<'_>,
    io: &JobIo,
    parts: &Parts,
    verify: Option<&VerifyPlan>,
    depth: u32,
) -> Result<(), Diagnostic> {
    let spec = &of.job.spec;
    let (caps, zones) = (&of.engine.caps, &spec.zones);
    if caps.by_name || caps.no_io || caps.one_way || caps.lays_out != LaysOut::Files {
        let words = format!("ioengine={} has no zones", of.engine.name);
        return Err(error(&zones.zonemode, "zonemode", words).help("use zonemode=none"));
    }
    if io.replay.is_some() {
        let words = "a recording says where each I/O goes: it has no zones";
        return Err(
            error(&zones.zonemode, "zonemode", words).help("use zonemode=none with read_iolog")
        );
    }
    let experimental = &spec.verify.experimental_verify;
    if verify.is_some() && *experimental.get() {
        let words = "zonemode=zbd does not support experimental verify";
        return Err(error(experimental, "experimental_verify", words).help("leave it out"));
    }
    let limited = parts.zones.iter().all(|target| target.share.lock().limits().open_max > 0);
    let job_max = &zones.job_max_open_zones;
    if *job_max.get() > 0 && !limited {
        let words = "'job_max_open_zones' cannot be used without a global open zones limit";
        return Err(error(job_max, "job_max_open_zones", words).help("set max_open_zones= as well"));
    }
    let recover = &zones.recover_zbd_write_error;
    if *recover.get() {
        let tolerated = super::super::engine::tolerance(spec).go_on;
        if !tolerated.contains(&iosonde_engine::ErrorKind::Write) {
            let words = "recover_zbd_write_error works only when continue_on_error is set";
            return Err(error(recover, "recover_zbd_write_error", words)
                .help("set continue_on_error=write"));
        }
        if verify.is_some() && depth > 1 {
            let words = "recover_zbd_write_error for async IO engines does not support verify";
            return Err(error(recover, "recover_zbd_write_error", words)
                .help("set iodepth=1, or leave one of them out"));
        }
    }
    keeps_what_it_verifies(spec, io, verify)
}

/// Data that is to be verified is not reset or trimmed before.
fn keeps_what_it_verifies(
    spec: &JobSpec,
    io: &JobIo,
    verify: Option<&VerifyPlan>,
) -> Result<(), Diagnostic> {
    if verify.is_none() || !io.dirs[Dir::Write] {
        return Ok(());
    }
    let threshold = &spec.zones.zone_reset_threshold;
    let resets = threshold.get().is_some_and(|share| share > 0.0);
    if resets && verify.is_some_and(|plan| plan.spec.checks == Checks::WithoutWriting) {
        let words = "what the writing job checked before a zone was reset is not there any more";
        return Err(error(threshold, "zone_reset_threshold", words)
            .help("leave out zone_reset_threshold or verify_only"));
    }
    let trims = &spec.trim.trim_percentage;
    if *trims.get() > 0 {
        let words = "Trim offset not at zone start: with zonemode=zbd only whole zones are \
                     trimmed, no written blocks";
        return Err(error(trims, "trim_percentage", words).help("leave it out"));
    }
    Ok(())
}

/// What depends on all jobs, or on no zone at all.
pub(in crate::plan) fn check_all(jobs: &[JobPlan]) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = jobs.iter().filter_map(writes_without_zones).collect();
    found.extend(different_ranges(jobs));
    found
}

/// A job that does not know of the zones of its device.
fn writes_without_zones(job: &JobPlan) -> Option<Diagnostic> {
    if job.zones.is_some() || !job.writes() {
        return None;
    }
    let blocks = job.files.iter().filter(|file| file.kind == FileKind::Block);
    let managed =
        |path| LinuxZones::at(path).is_some_and(|device| device.model == ZonedModel::HostManaged);
    let file = blocks.into_iter().find(|file| managed(&file.path))?;
    Some(
        Diagnostic::warning(format!(
            "job {}: {} is a host-managed zoned device: writes that are not at the write pointer \
             of a zone fail",
            job.name,
            file.path.display()
        ))
        .help("set zonemode=zbd"),
    )
}

/// One count of what zones hold serves the jobs of a file: they write one range.
fn different_ranges(jobs: &[JobPlan]) -> Option<Diagnostic> {
    let counts = |job: &&JobPlan| {
        job.dirs[Dir::Write] && job.source.zbd.as_ref().is_some_and(|zbd| zbd.reset.is_some())
    };
    let counting: Vec<&JobPlan> = jobs.iter().filter(counts).collect();
    let differs = |a: &JobPlan, b: &JobPlan| {
        a.files.iter().any(|one| {
            let same_path = |other: &&crate::job::FilePlan| other.path == one.path;
            b.files
                .iter()
                .filter(same_path)
                .any(|other| (other.offset, other.bytes) != (one.offset, one.bytes))
        })
    };
    let (first, rest) = counting.split_first()?;
    let other = rest.iter().find(|other| differs(first, other))?;
    let words =
        "multi-jobs with different write ranges are not supported with zone_reset_threshold";
    Some(
        Diagnostic::error(format!("{words}: {} and {}", first.name, other.name))
            .help("give these jobs the same offset= and size="),
    )
}
