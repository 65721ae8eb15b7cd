//! From a job's options to what is measured and recorded while it runs.

use super::clone_of::CloneOf;
use super::job_io::JobIo;
use super::{Totals, engine, logs, pacing};
use crate::job::{MeasurePlan, SampleWindows};
use crate::taps::priorities::PriorityLatencies;
use iosonde_base::{Dir, Nanos};
use iosonde_engine::Accounting;
use iosonde_options::{Diagnostic, Setting};
use iosonde_report::MeasuredKinds;
use iosonde_stats::WhichLatencies;
use iosonde_sys::priority::IoPriority;
use std::sync::Arc;

/// Priorities of a job's I/O.
#[derive(Clone, Copy)]
pub(super) struct JobPriorities {
    /// That of the job's thread.
    pub own: Option<IoPriority>,
    /// Single I/Os have one of their own.
    pub of_single_ios: bool,
}

/// What is measured of a job: `kinds` as its options and its engine have it.
pub(super) fn measure(
    of: &CloneOf<'_>,
    io: &JobIo,
    depth: u32,
    (kinds, totals): (MeasuredKinds, Totals),
    priorities: JobPriorities,
) -> Result<MeasurePlan, Diagnostic> {
    let spec = &of.job.spec;
    let logs = logs::logs(of, depth, kinds, &io.sizes, priorities.own)?;
    let accounting =
        if *spec.measure.gtod_reduce.get() { Accounting::CountsOnly } else { Accounting::Full };
    let lat_percentiles = kinds.lat && *spec.measure.lat_percentiles.get();
    let sampled = |asked: Nanos, log: &Setting<Option<String>>| {
        logs::sample_every(asked, log.get().is_some(), logs.as_ref())
    };
    let dirs = io.dirs;
    Ok(MeasurePlan {
        accounting,
        latencies: WhichLatencies {
            // Only what was written is synced, unless a recording says when.
            syncs: dirs[Dir::Write] || dirs[Dir::Trim] || io.replay.is_some(),
            response: match &io.replay {
                Some(replay) if replay.timed => replay.responses(),
                _ => pacing::responses(spec),
            },
            slat: kinds.slat && *spec.measure.slat_percentiles.get(),
            clat: accounting == Accounting::Full,
            lat: kinds.lat && (totals == Totals::Kept || lat_percentiles),
            dirs,
        },
        priorities: (priorities.of_single_ios && (lat_percentiles || kinds.clat)).then(|| {
            let own = priorities.own.map_or(0, IoPriority::raw);
            Arc::new(PriorityLatencies::new(own, lat_percentiles))
        }),
        clock: engine::clock(spec),
        sample_every: SampleWindows {
            bandwidth: sampled(spec.measure.bwavgtime.get().nanos(), &spec.log.write_bw_log),
            iops: sampled(spec.measure.iopsavgtime.get().nanos(), &spec.log.write_iops_log),
        },
        logs,
        iolog: spec.replay.write_iolog.get().clone().map(Into::into),
        tap: None,
        trace: false,
        dump_errors: *spec.errors.error_dump.get(),
        readings: None,
    })
}
