//! From a job's options to its engine: which, how deep, with what of its own.

use super::Planner;
use crate::job::{FilePlan, PlacePlan};
use iosonde_engine::settings::ExternalSettings;
use iosonde_engine::{
    CATALOGUE, Caps, EngineDef, EngineSettings, ErrorKind, Hint, JobContext, Open, OpenMode,
    SyncRangeFlags, Tolerance, Window,
};
use iosonde_options::{Diagnostic, nearest};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::values::{
    ContinueOnError, CpusAllowedPolicy, EngineName, FadviseHint, IgnoreErrors, SubmitMode, SyncMode,
};
use iosonde_sys::cpu::CpuList;
use iosonde_sys::priority::{IoClass, IoPriority};

/// The engine that `ioengine` names, if it can run here.
pub(super) fn find(spec: &JobSpec) -> Result<&'static EngineDef, Diagnostic> {
    let setting = &spec.engine.ioengine;
    let name = setting.get().name();
    let about = |said: Diagnostic, help: Option<String>| {
        let said = said.about("ioengine", setting.origin());
        match help {
            Some(help) => said.help(help),
            None => said,
        }
    };
    let def = match setting.get() {
        EngineName::External(path) => iosonde_engine::external(path)
            .map_err(|error| about(Diagnostic::error(error.message), error.help))?,
        EngineName::Known(_) => iosonde_engine::find(name).ok_or_else(|| {
            let names: Vec<&str> = CATALOGUE.iter().map(|def| def.name).collect();
            let help = match nearest(name, names.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("there are {}", names.join(", ")),
            };
            about(Diagnostic::error(format!("engine {name} is not supported")), Some(help))
        })?,
    };
    (def.available)().map_err(|error| {
        let said = Diagnostic::error(format!("engine {name} cannot run here: {}", error.message));
        about(said, error.help)
    })?;
    Ok(def)
}

/// What the job's engine can do; nothing for one that is not known.
pub(super) fn known_caps(spec: &JobSpec) -> Option<Caps> {
    let def = match spec.engine.ioengine.get() {
        EngineName::External(path) => iosonde_engine::external(path).ok()?,
        EngineName::Known(name) => iosonde_engine::find(name)?,
    };
    Some(def.caps)
}

impl Planner<'_> {
    /// Depth and batches, within what the engine can do.
    pub(super) fn window(
        &mut self,
        job: &ParsedJob,
        engine: &EngineDef,
    ) -> Result<Window, Diagnostic> {
        let options = &job.spec.depth;
        let asked = *options.iodepth.get();
        if engine.caps.sync && !is_offloaded(&job.spec) {
            if asked > 1 {
                self.note(Diagnostic::note(
                    "both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1",
                ));
            }
            return Ok(Window::ONE);
        }
        let least = options.iodepth_batch_complete_min.copied().min(asked);
        Ok(Window {
            depth: asked,
            batch: options.iodepth_batch.copied().clamp(1, asked),
            reap_min: least,
            reap_max: options.iodepth_batch_complete_max.get().unwrap_or(least).max(least),
            low: options.iodepth_low.get().unwrap_or(asked).min(asked),
            serialize_overlap: *options.serialize_overlap.get(),
        })
    }
}

/// Whether a pool of threads submits.
pub(super) fn is_offloaded(spec: &JobSpec) -> bool {
    *spec.depth.io_submit_mode.get() == SubmitMode::Offload
}

/// How a pool of threads over the engine is opened, where it was asked for.
///
/// # Errors
/// Where there is none over this engine.
pub(super) fn offload(spec: &JobSpec, engine: &EngineDef) -> Result<Option<Open>, Diagnostic> {
    if !is_offloaded(spec) || engine.caps.no_io {
        return Ok(None);
    }
    let refuse = || {
        Diagnostic::error(format!("ioengine={} cannot be used by many threads", engine.name))
            .help("use psync, pvsync, pvsync2, libaio or io_uring, or leave io_submit_mode out")
            .about("io_submit_mode", spec.depth.io_submit_mode.origin())
    };
    engine.offload.ok_or_else(refuse).map(Some)
}

/// What the engine makes of its own options.
///
/// # Errors
/// The first value that is refused.
pub(super) fn settings(
    job: &ParsedJob,
    (number, clone): (u32, u32),
    engine: &EngineDef,
    files: &[FilePlan],
) -> Result<EngineSettings, Diagnostic> {
    let spec = &job.spec;
    if let EngineName::External(path) = spec.engine.ioengine.get() {
        let names = files.iter().map(FilePlan::path_or_name).collect();
        return Ok(EngineSettings::new(ExternalSettings { path: path.clone(), names }));
    }
    let Some(options) = engine.options else { return Ok(EngineSettings::default()) };
    let filenames = spec.files.filename.get().as_ref();
    let context = JobContext {
        name: &job.name,
        clone,
        reads: spec.order.rw.get().word.reads(),
        direct: *spec.durability.direct.get(),
        atomic: *spec.durability.atomic.get(),
        runtime_s: spec.time.runtime.get().0 / 1_000_000_000,
        filename: filenames.and_then(|names| names.0.first()).map(String::as_str),
        offload: is_offloaded(spec).then(|| spec.depth.io_submit_mode.origin()),
        priority_seed: iosonde_workload::priority_seed(*spec.random.randseed.get(), number),
    };
    spec.engine_settings(options, &context)
}

/// How files are opened, besides for reading or writing.
pub(super) fn open_mode(spec: &JobSpec) -> OpenMode {
    let mode = *spec.durability.sync.get();
    OpenMode {
        direct: *spec.durability.direct.get(),
        sync: mode == SyncMode::Sync,
        dsync: mode == SyncMode::Dsync,
        ..OpenMode::default()
    }
}

/// `fadvise_hint`.
pub(super) fn hint(spec: &JobSpec, random: bool) -> Option<Hint> {
    match (spec.file_life.fadvise_hint.get(), random) {
        (FadviseHint::None, _) => None,
        (FadviseHint::Random, _) | (FadviseHint::Pattern, true) => Some(Hint::Random),
        (FadviseHint::Sequential, _) | (FadviseHint::Pattern, false) => Some(Hint::Sequential),
        (FadviseHint::NoReuse, _) => Some(Hint::NoReuse),
    }
}

/// `continue_on_error`, `ignore_error`, `fill_device`.
pub(super) fn tolerance(spec: &JobSpec) -> Tolerance {
    Tolerance {
        go_on: kinds(*spec.errors.continue_on_error.get()),
        ignored: {
            let IgnoreErrors { read, write, verify } = spec.errors.ignore_error.get().clone();
            [read, write, verify]
        },
        full_is_end: *spec.size.fill_device.get(),
        borne: 0,
        first: None,
        tell: None,
    }
}

fn kinds(asked: ContinueOnError) -> Vec<ErrorKind> {
    use ErrorKind::{Read, Verify, Write};
    match asked {
        ContinueOnError::None => vec![],
        ContinueOnError::Read => vec![Read],
        ContinueOnError::Write => vec![Write],
        ContinueOnError::Io => vec![Read, Write],
        ContinueOnError::Verify => vec![Verify],
        ContinueOnError::All => vec![Read, Write, Verify],
    }
}

/// `sync_file_range`.
pub(super) fn sync_range(spec: &JobSpec) -> SyncRangeFlags {
    let Some(range) = spec.durability.sync_file_range.get() else { return SyncRangeFlags(0) };
    let flag = |on: bool, bit: u32| if on { bit } else { 0 };
    SyncRangeFlags(
        flag(range.wait_before, libc::SYNC_FILE_RANGE_WAIT_BEFORE)
            | flag(range.write, libc::SYNC_FILE_RANGE_WRITE)
            | flag(range.wait_after, libc::SYNC_FILE_RANGE_WAIT_AFTER),
    )
}

/// Affinity and priorities of one clone.
///
/// # Errors
/// Where a list names no processor, or a priority is out of range.
pub(super) fn place(spec: &JobSpec, clone: u32) -> Result<PlacePlan, Diagnostic> {
    let cpu = &spec.cpu;
    let listed = match (cpu.cpus_allowed.get(), *cpu.cpumask.get()) {
        (Some(cpus), _) => Some(CpuList::from_numbers(cpus.0.clone())),
        (None, Some(mask)) => Some(CpuList::from_mask(mask)),
        (None, None) => None,
    };
    let listed = listed.transpose().map_err(|error| {
        Diagnostic::error(error.to_string()).about("cpus_allowed", cpu.cpus_allowed.origin())
    })?;
    let listed = super::coordination::node_processors(spec, listed)?;
    let split = *cpu.cpus_allowed_policy.get() == CpusAllowedPolicy::Split;
    let cpus = match listed {
        Some(list) if split => CpuList::from_numbers(vec![list.turn(clone as usize)]).ok(),
        other => other,
    };
    Ok(PlacePlan {
        cpus,
        nice: cpu.nice.is_set().then(|| *cpu.nice.get()),
        io_priority: io_priority(spec)?,
    })
}

fn io_priority(spec: &JobSpec) -> Result<Option<IoPriority>, Diagnostic> {
    let cpu = &spec.cpu;
    let (level, class, hint) = (*cpu.prio.get(), *cpu.prioclass.get(), *cpu.priohint.get());
    if level.is_none() && class.is_none() && hint.is_none() {
        return Ok(None);
    }
    let wrong = || {
        Diagnostic::error("want prioclass 0 to 3, prio 0 to 7, priohint 0 to 1023")
            .about("prio", cpu.prio.origin())
    };
    // A level without a class is one of best effort, as ioprio_set(2) has it.
    let class = class.unwrap_or(if level.is_some() { 2 } else { 0 });
    let class = u8::try_from(class).ok().and_then(IoClass::from_number).ok_or_else(wrong)?;
    let level = u8::try_from(level.unwrap_or(0)).map_err(|_| wrong())?;
    let hint = u16::try_from(hint.unwrap_or(0)).map_err(|_| wrong())?;
    IoPriority::new(class, level, hint).ok_or_else(wrong).map(Some)
}

/// `clocksource`.
pub(super) fn clock(spec: &JobSpec) -> iosonde_sys::ClockSource {
    use iosonde_spec::values::ClockWord as Word;
    match spec.time.clocksource.get() {
        None => iosonde_sys::ClockSource::Auto,
        Some(Word::Cpu) => iosonde_sys::ClockSource::Cpu,
        Some(Word::ClockGettime) => iosonde_sys::ClockSource::ClockGettime,
        Some(Word::Gettimeofday) => iosonde_sys::ClockSource::Gettimeofday,
    }
}
