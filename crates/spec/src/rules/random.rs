//! Rules of random offsets.

use std::hash::{BuildHasher, Hasher, RandomState};

use iosonde_base::DIRS;
use iosonde_options::{Bytes, Diagnostic};
use iosonde_workload::Distribution;

use super::{Caps, OptionRule};
use crate::JobSpec;

pub(super) const RULES: &[OptionRule] = &[
    OptionRule {
        name: "blockalign-without-map",
        doc: "`blockalign` other than the smallest block size turns the random map off.",
        apply: blockalign_without_map,
    },
    OptionRule {
        name: "distribution-without-map",
        doc: "Every `random_distribution` except `random` turns the random map off.",
        apply: distribution_without_map,
    },
    OptionRule {
        name: "seed-ends-repeats",
        doc: "`randseed` turns `randrepeat` off: each loop draws a new sequence.",
        apply: seed_ends_repeats,
    },
    OptionRule {
        name: "no-repeat-draws-a-seed",
        doc: "`randrepeat=0` without `randseed` draws a new seed for each run.",
        apply: no_repeat_draws_a_seed,
    },
];

fn blockalign_without_map(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let differs = |ba: &Option<Bytes>, dir| ba.is_some_and(|ba| ba.0 != spec.min_bs(dir));
    let any = DIRS.into_iter().any(|dir| differs(spec.block.ba.get().of(dir), dir));
    if any && spec.order.rw.get().word.is_random() && !*spec.random.norandommap.get() {
        spec.random.norandommap.force(true, "blockalign");
        let note = Diagnostic::note("Any use of blockalign= turns off randommap");
        found.push(note.about("ba", spec.block.ba.origin()));
    }
}

fn distribution_without_map(spec: &mut JobSpec, _: &Caps, _: &mut Vec<Diagnostic>) {
    let random = &mut spec.random;
    if random.random_distribution.get().0 != Distribution::Random {
        random.norandommap.force(true, "random_distribution");
    }
}

fn seed_ends_repeats(spec: &mut JobSpec, _: &Caps, _: &mut Vec<Diagnostic>) {
    if spec.random.randseed.is_typed() {
        spec.random.randrepeat.force(false, "randseed");
    }
}

/// The seed becomes the job's `randseed`, so that reports show it and a run can be repeated.
fn no_repeat_draws_a_seed(spec: &mut JobSpec, _: &Caps, _: &mut Vec<Diagnostic>) {
    let random = &mut spec.random;
    if !*random.randrepeat.get() && !random.randseed.is_typed() {
        random.randseed.force(system_seed(), "randrepeat");
    }
}

/// A random number of 63 bits, as many as a job file can hold.
fn system_seed() -> u64 {
    // The standard library seeds each hasher from the system's random numbers.
    RandomState::new().build_hasher().finish() >> 1
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::*;

    #[test]
    fn an_alignment_of_its_own_turns_the_map_off() {
        let (spec, found) = resolved(&["rw=randread", "bs=4k", "ba=512"]);
        assert!(*spec.random.norandommap.get());
        assert_eq!(found[0].message, "Any use of blockalign= turns off randommap");
        let (spec, found) = resolved(&["rw=randread", "bs=4k", "ba=4k"]);
        assert!(!*spec.random.norandommap.get() && found.is_empty());
    }

    #[test]
    fn a_skewed_distribution_has_no_map() {
        assert!(*resolved(&["random_distribution=zipf"]).0.random.norandommap.get());
        assert!(!*resolved(&["random_distribution=random"]).0.random.norandommap.get());
    }

    #[test]
    fn a_seed_of_ones_own_ends_repeats() {
        assert!(!*resolved(&["randseed=42"]).0.random.randrepeat.get());
        assert!(*resolved(&[]).0.random.randrepeat.get());
    }

    #[test]
    fn without_repeats_each_run_has_a_seed_of_its_own_unless_one_is_given() {
        let seed = |options: &[&str]| *resolved(options).0.random.randseed.get();
        assert_ne!(seed(&["randrepeat=0"]), seed(&["randrepeat=0"]));
        assert_ne!(seed(&["allrandrepeat=0"]), 0x89);
        assert_eq!(seed(&["randrepeat=0", "randseed=7"]), 7);
        assert_eq!(seed(&["randseed=7", "allrandrepeat=0"]), 7);
        assert_eq!(seed(&["randrepeat=0", "allrandrepeat=1"]), 0x89);
        assert_ne!(seed(&["allrandrepeat=1", "randrepeat=0"]), 0x89);
    }
}
