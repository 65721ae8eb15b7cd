//! From a job's options to how many I/Os it has in flight, and who submits them.

use iosonde_engine::{EngineDef, Open, Window};
use iosonde_options::Diagnostic;
use iosonde_spec::JobSpec;
use iosonde_spec::values::SubmitMode;

/// Depth and batches of a job with resolved options: the rules of the job
/// language have held them within what the engine can do.
pub(super) fn window(spec: &JobSpec, engine: &EngineDef) -> Window {
    if engine.caps.sync && !is_offloaded(spec) {
        return Window::ONE;
    }
    let options = &spec.depth;
    let depth = *options.iodepth.get();
    let least = *options.iodepth_batch_complete_min.get();
    Window {
        depth,
        batch: *options.iodepth_batch.get(),
        reap_min: least,
        reap_max: options.iodepth_batch_complete_max.get().unwrap_or(least),
        low: options.iodepth_low.get().unwrap_or(depth),
        serialize_overlap: *options.serialize_overlap.get(),
    }
}

/// Whether I/Os of an engine are queued, and do not complete as they are issued:
/// the null engine has a queue where the job asks for one.
pub(super) fn is_queued(engine: &EngineDef, window: &Window) -> bool {
    let one_by_one = engine.caps.sync || (engine.caps.diskless && window.depth == 1);
    !one_by_one
}

/// Whether a pool of threads submits.
pub(super) fn is_offloaded(spec: &JobSpec) -> bool {
    *spec.depth.io_submit_mode.get() == SubmitMode::Offload
}

/// How a pool of threads over the engine is opened, where it was asked for.
///
/// # Errors
/// Where this engine has none.
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
