//! From a job's options to when it starts and ends.

use super::Planner;
use super::refuse::about;
use crate::job::{SteadyPlan, TimePlan};
use iosonde_base::Nanos;
use iosonde_options::Diagnostic;
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use iosonde_sys::clock::SystemClock;

impl Planner<'_> {
    pub(super) fn time(&self, job: &ParsedJob, number: u32) -> Result<TimePlan, Diagnostic> {
        let time = &job.spec.time;
        let runtime = *time.runtime.get();
        Ok(TimePlan {
            delay: delay(&job.spec, number),
            ramp: *time.ramp_time.get(),
            ramp_bytes: time.ramp_size.get().0,
            runtime: (runtime > Nanos(0)).then_some(runtime),
            wear_out: *time.wear_out.get() && runtime > Nanos(0),
            steady: self.steady(job)?,
            start_clock: start_clock(&job.spec)?,
        })
    }

    fn steady(&self, job: &ParsedJob) -> Result<Option<SteadyPlan>, Diagnostic> {
        let asked = steady(&job.spec)?;
        // Jobs of a reporting group are judged together, so they agree.
        let at = self.jobs.iter().position(|other| std::ptr::eq(other, job)).unwrap_or(0);
        let opens =
            |job: &ParsedJob| *job.spec.job.stonewall.get() || *job.spec.job.new_group.get();
        let first = (0..=at).rev().find(|&at| at == 0 || opens(&self.jobs[at])).unwrap_or(0);
        if (first..at).any(|other| !matches!(steady(&self.jobs[other].spec), Ok(s) if s == asked)) {
            let words = "steadystate options must be consistent within reporting groups";
            let diagnostic = about(&job.spec.steady.steadystate, "steadystate", words.to_owned());
            return Err(diagnostic.help("give all jobs of the group the same, or a job new_group"));
        }
        Ok(asked)
    }
}

/// `steadystate` and what goes with it; `None` where it is not asked for, or
/// has no duration.
fn steady(spec: &JobSpec) -> Result<Option<SteadyPlan>, Diagnostic> {
    let options = &spec.steady;
    let duration = *options.steadystate_duration.get();
    let Some(goal) = *options.steadystate.get() else { return Ok(None) };
    if duration == Nanos(0) {
        return Ok(None);
    }
    let interval = *options.steadystate_check_interval.get();
    let setting = &options.steadystate_check_interval;
    if interval == Nanos(0) {
        return Err(about(setting, "steadystate_check_interval", "must not be 0".to_owned()));
    }
    if !duration.0.is_multiple_of(interval.0) {
        let words = "steadystate_duration must be a multiple of steadystate_check_interval";
        return Err(about(setting, "steadystate_check_interval", words.to_owned()));
    }
    Ok(Some(SteadyPlan { goal, duration, ramp: *options.steadystate_ramp_time.get(), interval }))
}

/// `job_start_clock_id`.
fn start_clock(spec: &JobSpec) -> Result<SystemClock, Diagnostic> {
    let setting = &spec.time.job_start_clock_id;
    SystemClock::numbered(*setting.get()).ok_or_else(|| {
        let words = format!("there is no clock {} (clock_gettime(2))", setting.get());
        about(setting, "job_start_clock_id", words)
    })
}

/// How long a clone waits before it starts: of a range, what it draws.
fn delay(spec: &JobSpec, number: u32) -> Nanos {
    let asked = spec.time.startdelay.get();
    if asked.low == asked.high {
        return asked.low;
    }
    let range = (asked.low.0 / 1000, asked.high.0 / 1000);
    let (seed, wide) = (*spec.random.randseed.get(), super::source::is_wide(spec));
    Nanos(1000 * iosonde_workload::start_delay_us(seed, number, range, wide))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::JobBuilder;
    use std::collections::HashSet;
    use std::path::Path;

    #[test]
    fn each_clone_draws_a_delay_of_its_own_within_the_range() {
        let mut spec = JobSpec::default();
        let origin = iosonde_options::Origin::Default;
        spec.set("startdelay", Some("1ms-400ms"), origin).unwrap();
        let delays: HashSet<Nanos> = (0..4).map(|number| delay(&spec, number)).collect();
        assert_eq!(delays.len(), 4, "{delays:?}");
        let range = Nanos::from_millis(1)..=Nanos::from_millis(400);
        assert!(delays.iter().all(|delay| range.contains(delay)), "{delays:?}");
    }

    #[test]
    fn a_delay_without_a_range_is_taken_as_it_is() {
        let mut job = JobBuilder::new("job", Path::new("/tmp/iosonde-plan-delay"));
        job.set_text("size", "4k").unwrap().set_text("startdelay", "7s").unwrap();
        assert_eq!(job.plan().unwrap().jobs[0].time.delay, Nanos::from_millis(7000));
    }
}
