//! From a job's options to how fast it goes, and what it must keep to.

use iosonde_base::{DIRS, PerDir};
use iosonde_spec::JobSpec;
use iosonde_spec::values::RateProcess;
use iosonde_workload::{Cap, PaceSpec, Process};

/// `rate`, `rate_iops`, `rate_process`.
pub(super) fn pace(spec: &JobSpec) -> PaceSpec {
    let rate = &spec.rate;
    let caps = DIRS.map(|dir| match (rate.rate.get().of(dir).0, *rate.rate_iops.get().of(dir)) {
        (0, 0) => Cap::Free,
        (0, ios) => Cap::Ios(ios.into()),
        (bytes, _) => Cap::Bytes(bytes),
    });
    let process = match rate.rate_process.get() {
        RateProcess::Linear => Process::Even,
        RateProcess::Poisson => Process::Poisson,
    };
    PaceSpec { caps: PerDir(caps), process }
}

/// Directions whose response times are kept: those that have a pace.
pub(super) fn responses(spec: &JobSpec) -> PerDir<bool> {
    PerDir(pace(spec).caps.0.map(Cap::is_set))
}
