//! From a job's options to its engine: which one, its depth, its settings.

use super::depth;
use crate::job::FilePlan;
use iosonde_engine::settings::ExternalSettings;
use iosonde_engine::{
    CATALOGUE, Caps, EngineDef, EngineError, EngineSettings, ErrorKind, Hint, JobContext, OpenMode,
    SyncRangeFlags, Tolerance, WriteLifetime,
};
use iosonde_options::{Diagnostic, nearest};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::values::{
    ContinueOnError, EngineName, FadviseHint, IgnoreErrors, SyncMode, WriteHint,
};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The engine that `ioengine` names, if it can run here.
pub(super) fn find(spec: &JobSpec) -> Result<&'static EngineDef, Diagnostic> {
    let setting = &spec.engine.ioengine;
    let name = setting.get().name();
    let about = |diagnostic: Diagnostic, help: Option<String>| {
        let diagnostic = diagnostic.about("ioengine", setting.origin());
        match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
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
            let message = match iosonde_engine::elsewhere(name) {
                Some(systems) => format!("engine {name} exists on {systems}, not on this system"),
                None => format!("engine {name} is not supported"),
            };
            about(Diagnostic::error(message), Some(help))
        })?,
    };
    available(def).map_err(|error| {
        let diagnostic =
            Diagnostic::error(format!("engine {name} cannot run here: {}", error.message));
        about(diagnostic, error.help)
    })?;
    Ok(def)
}

/// Whether an engine can run here. The answer is kept: to ask libaio takes 30 ms of
/// the kernel's grace period each time, however many jobs have it.
fn available(def: &'static EngineDef) -> Result<(), EngineError> {
    static AVAILABLE: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let known = || AVAILABLE.lock().unwrap_or_else(PoisonError::into_inner);
    if known().contains(def.name) {
        return Ok(());
    }
    (def.available)()?;
    known().insert(def.name);
    Ok(())
}

/// Whether an engine that is a shared object is loaded to be asked: that runs what
/// the object does when it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalEngines {
    /// It is.
    Load,
    /// It is not, and nothing is known of it.
    Leave,
}

/// What the job's engine can do; nothing for one that is not known.
pub(super) fn known_caps(spec: &JobSpec, external: ExternalEngines) -> Option<Caps> {
    let def = match spec.engine.ioengine.get() {
        EngineName::External(_) if external == ExternalEngines::Leave => return None,
        EngineName::External(path) => iosonde_engine::external(path).ok()?,
        EngineName::Known(name) => iosonde_engine::find(name)?,
    };
    Some(def.caps)
}

/// The settings from the engine's options.
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
        offload: depth::is_offloaded(spec).then(|| spec.depth.io_submit_mode.origin()),
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
        // `none` that is given is passed on, too, as fio does.
        lifetime: spec.durability.write_hint.is_set().then(|| lifetime(spec)),
        ..OpenMode::default()
    }
}

/// `write_hint`.
fn lifetime(spec: &JobSpec) -> WriteLifetime {
    match spec.durability.write_hint.get() {
        WriteHint::None => WriteLifetime::None,
        WriteHint::Short => WriteLifetime::Short,
        WriteHint::Medium => WriteLifetime::Medium,
        WriteHint::Long => WriteLifetime::Long,
        WriteHint::Extreme => WriteLifetime::Extreme,
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

/// `continue_on_error`, `ignore_error`, `fill_device`. With `verify_fatal` wrong data is not
/// tolerated, whatever they say.
pub(super) fn tolerance(spec: &JobSpec) -> Tolerance {
    let mut go_on = kinds(*spec.errors.continue_on_error.get());
    let IgnoreErrors { read, write, mut verify } = spec.errors.ignore_error.get().clone();
    if *spec.verify.verify_fatal.get() {
        go_on.retain(|kind| *kind != ErrorKind::Verify);
        verify.clear();
    }
    Tolerance {
        go_on,
        ignored: [read, write, verify],
        full_is_end: *spec.size.fill_device.get(),
        tolerated: 0,
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
        flag(range.wait_before, SyncRangeFlags::WAIT_BEFORE)
            | flag(range.write, SyncRangeFlags::WRITE)
            | flag(range.wait_after, SyncRangeFlags::WAIT_AFTER),
    )
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
