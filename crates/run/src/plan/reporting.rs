//! From a job's options to how it is reported.

use crate::job::Reporting;
use iosonde_base::{DIRS, PerDir};
use iosonde_engine::EngineDef;
use iosonde_report::{MeasuredKinds, Percentiles, TextUnits, Unified};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::values::{ContinueOnError, UnifiedReporting};
use iosonde_workload::Sizes;

/// What is measured: all that is not switched off, and that the engine can
/// tell apart.
pub(super) fn measured(spec: &JobSpec, engine: &EngineDef) -> MeasuredKinds {
    let stat = &spec.measure;
    let reduced = *stat.gtod_reduce.get();
    MeasuredKinds {
        slat: !reduced && !*stat.disable_slat.get() && !engine.caps.sync && engine.caps.slat,
        clat: !reduced && !*stat.disable_clat.get(),
        // What is done to a name is no I/O, and has no total.
        lat: !reduced && !*stat.disable_lat.get() && !engine.caps.by_name,
        // fio reports bandwidth windows whatever gtod_reduce and disable_bw say.
        bw: true,
    }
}

impl Reporting {
    /// Leave out the time to submit, where `unseen`.
    pub(super) fn hide_slat(&mut self, unseen: bool) {
        self.measured.slat &= !unseen;
        self.percentiles.slat &= !unseen;
    }
}

/// Everything about how a job is reported.
pub(super) fn reporting(
    job: &ParsedJob,
    engine: &EngineDef,
    measured: MeasuredKinds,
    sizes: &PerDir<Sizes>,
) -> Reporting {
    let spec = &job.spec;
    let stat = &spec.measure;
    let rw = spec.order.rw.get().word.word().to_owned();
    Reporting {
        options: job.typed.iter().map(crate::account::shown_option).collect(),
        iec_as_si: spec.iec_as_si(),
        description: spec.job.description.get().clone(),
        what: what(spec, engine, &rw, sizes),
        group_reporting: *spec.job.group_reporting.get(),
        reported: *stat.stats.get(),
        units: TextUnits {
            kb_base: spec.units.kb_base.get().number().into(),
            bits: match spec.units.unit_base.get().number() {
                // What goes over a connection is reported in bits.
                0 => engine.caps.one_way,
                base => base == 1,
            },
        },
        unified: match stat.unified_rw_reporting.get() {
            UnifiedReporting::None => Unified::None,
            UnifiedReporting::Mixed => Unified::Mixed,
            UnifiedReporting::Both => Unified::Both,
        },
        measured,
        percentiles: Percentiles {
            slat: measured.slat && *stat.slat_percentiles.get(),
            clat: measured.clat && *stat.clat_percentiles.get(),
            lat: measured.lat && *stat.lat_percentiles.get(),
            list: rising(&stat.percentile_list.get().0),
        },
        significant_figures: *stat.significant_figures.get(),
        counts_errors: *spec.errors.continue_on_error.get() != ContinueOnError::None
            || spec.errors.ignore_error.is_set(),
        sizes: PerDir(DIRS.map(|dir| (sizes[dir].min(), sizes[dir].max()))),
        rw,
        disk_util: *stat.disk_util.get(),
        depth_asked: *spec.depth.iodepth.get(),
        is_thread: *spec.job.thread.get(),
    }
}

/// As fio reports them, in whichever order they are asked for.
fn rising(asked: &[f64]) -> Vec<f64> {
    let mut list = asked.to_vec();
    list.sort_by(f64::total_cmp);
    list
}

/// The job in a few words: `randrw 4k, psync, depth 1, direct`.
fn what(spec: &JobSpec, engine: &EngineDef, rw: &str, sizes: &PerDir<Sizes>) -> String {
    let dirs = spec.dirs();
    let mut shown: Vec<String> = Vec::new();
    for dir in DIRS.into_iter().filter(|&dir| dirs[dir]) {
        let (least, most) = (sizes[dir].min(), sizes[dir].max());
        let size =
            if least == most { short(least) } else { format!("{}-{}", short(least), short(most)) };
        if !shown.contains(&size) {
            shown.push(size);
        }
    }
    let mut what = format!("{rw} {}, {}", shown.join("/"), engine.name);
    if !engine.caps.sync {
        what.push_str(&format!(", depth {}", spec.depth.iodepth.get()));
    }
    if *spec.durability.direct.get() {
        what.push_str(", direct");
    }
    what
}

/// 4096 as `4k`.
fn short(bytes: u32) -> String {
    match bytes {
        n if n >= 1 << 20 && n % (1 << 20) == 0 => format!("{}m", n >> 20),
        n if n >= 1 << 10 && n % (1 << 10) == 0 => format!("{}k", n >> 10),
        n => n.to_string(),
    }
}
