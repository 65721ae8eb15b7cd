//! Rules of time and loops.

use iosonde_base::Nanos;
use iosonde_options::Diagnostic;

use super::{Caps, OptionRule};
use crate::JobSpec;

pub(super) const RULES: &[OptionRule] = &[
    OptionRule {
        name: "time-based-needs-runtime",
        doc: "`time_based` without `runtime` has no effect.",
        apply: time_based_needs_runtime,
    },
    OptionRule {
        name: "wear-out-needs-runtime",
        doc: "`wear_out` needs `runtime`, and refuses `read_iolog` and `wait_for`.",
        apply: wear_out_needs_runtime,
    },
    OptionRule {
        name: "loops-at-least-once",
        doc: "`loops=0` means 1.",
        apply: loops_at_least_once,
    },
    OptionRule {
        name: "time-ends-loops",
        doc: "With `time_based`, `loops` has no effect: `runtime` ends the job.",
        apply: time_ends_loops,
    },
    OptionRule {
        name: "gtod-reduce",
        doc: "`gtod_reduce` sets the `disable_*` options that were not given.",
        apply: gtod_reduce,
    },
    OptionRule {
        name: "jobs-at-least-one",
        doc: "`numjobs=0` is refused.",
        apply: jobs_at_least_one,
    },
];

fn time_based_needs_runtime(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let time = &mut spec.time;
    if *time.time_based.get() && *time.runtime.get() == Nanos(0) {
        found.push(
            Diagnostic::warning("time_based requires a runtime/timeout setting")
                .fio_warns_too()
                .about("time_based", time.time_based.origin())
                .help("set runtime, or leave time_based out"),
        );
        time.time_based.force(false, "time-based-needs-runtime");
    }
}

fn wear_out_needs_runtime(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let wear_out = &spec.time.wear_out;
    if !*wear_out.get() {
        return;
    }
    let mut refuse = |why: &str| {
        found.push(Diagnostic::error(why.to_owned()).about("wear_out", wear_out.origin()));
    };
    if *spec.time.runtime.get() == Nanos(0) {
        refuse("wear_out needs runtime=: the time after which slower jobs catch up");
    }
    for other in ["read_iolog", "wait_for"] {
        if spec.show(other).is_some_and(|value| !value.is_empty()) {
            refuse(&format!("wear_out does not go with {other}"));
        }
    }
}

fn loops_at_least_once(spec: &mut JobSpec, _: &Caps, _: &mut Vec<Diagnostic>) {
    if *spec.job.loops.get() == 0 {
        spec.job.loops.force(1, "loops-at-least-once");
    }
}

fn time_ends_loops(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    if *spec.time.time_based.get() && *spec.job.loops.get() > 1 {
        let message = "has no effect with time_based: runtime ends the job";
        found.push(Diagnostic::warning(message).about("loops", spec.job.loops.origin()));
    }
}

fn gtod_reduce(spec: &mut JobSpec, _: &Caps, _: &mut Vec<Diagnostic>) {
    let measure = &mut spec.measure;
    if *measure.gtod_reduce.get() {
        measure.disable_lat.imply(true, "gtod_reduce");
        measure.disable_clat.imply(true, "gtod_reduce");
        measure.disable_slat.imply(true, "gtod_reduce");
        measure.disable_bw_measurement.imply(true, "gtod_reduce");
    }
}

fn jobs_at_least_one(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    if *spec.job.numjobs.get() == 0 {
        let said_of = Diagnostic::error("invalid value 0: use 1 or more");
        found.push(said_of.about("numjobs", spec.job.numjobs.origin()));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::*;

    #[test]
    fn time_based_without_runtime_is_turned_off_and_reported() {
        let (spec, found) = resolved(&["time_based"]);
        assert!(!*spec.time.time_based.get());
        assert_eq!(found[0].message, "time_based requires a runtime/timeout setting");
        let (spec, found) = resolved(&["time_based", "runtime=1"]);
        assert!(*spec.time.time_based.get() && found.is_empty());
    }

    #[test]
    fn wear_out_is_of_a_job_with_a_time_that_nobody_waits_for() {
        assert!(errors(&["wear_out"])[0].contains("needs runtime="));
        assert!(errors(&["wear_out", "runtime=1", "wait_for=a"])[0].contains("go with wait_for"));
        assert!(errors(&["wear_out", "runtime=1"]).is_empty());
    }

    #[test]
    fn loops_count_from_one_and_not_against_the_clock() {
        assert_eq!(*resolved(&["loops=0"]).0.job.loops.get(), 1);
        assert!(remarks(&["loops=3", "time_based", "runtime=1"])[0].contains("no effect"));
        assert!(remarks(&["loops=3", "runtime=1"]).is_empty());
    }

    #[test]
    fn gtod_reduce_sets_what_nobody_set() {
        let (spec, _) = resolved(&["gtod_reduce=1", "disable_lat=0"]);
        assert!(!*spec.measure.disable_lat.get());
        assert!(*spec.measure.disable_clat.get() && *spec.measure.disable_slat.get());
        assert!(*spec.measure.disable_bw_measurement.get());
    }

    #[test]
    fn no_copies_is_refused() {
        assert_eq!(errors(&["numjobs=0"]).len(), 1);
        assert_eq!(errors(&["numjobs=1"]).len(), 0);
    }
}
