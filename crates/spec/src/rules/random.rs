//! Rules of random offsets.

use std::hash::{BuildHasher, Hasher, RandomState};

use iosonde_base::{DIRS, Dir};
use iosonde_options::{Bytes, Diagnostic};
use iosonde_workload::Distribution;

use super::{Caps, OptionRule};
use crate::JobSpec;
use crate::values::{RandomGenerator, RwWord, ZoneMode};

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
    OptionRule {
        name: "sprandom-writes-each-block",
        doc: "`sprandom` writes each block at random places of its own: with `rw=randwrite` and one \
              block size. It sets `norandommap`, as it has a map of its own, and draws by \
              `random_generator=lfsr`.",
        apply: sprandom_writes_each_block,
    },
];

fn blockalign_without_map(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    let differs = |ba: &Option<Bytes>, dir| ba.is_some_and(|ba| ba.0 != spec.min_bs(dir));
    let any = DIRS.into_iter().any(|dir| differs(spec.block.ba.get().of(dir), dir));
    if any && spec.order.rw.get().word.is_random() && !*spec.random.norandommap.get() {
        spec.random.norandommap.force(true, "blockalign");
        let note = Diagnostic::note("Any use of blockalign= turns off randommap");
        found.push(note.fio_warns_too().about("ba", spec.block.ba.origin()));
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

fn sprandom_writes_each_block(spec: &mut JobSpec, _: &Caps, found: &mut Vec<Diagnostic>) {
    if !*spec.random.sprandom.get() {
        return;
    }
    let (random, order) = (&spec.random, &spec.order);
    let rw = order.rw.get();
    let sizes = spec.block_sizes(Dir::Write);
    let (map, generator) = (&random.norandommap, &random.random_generator);
    let wants_map = map.is_typed() && !*map.get();
    let is_skewed = random.random_distribution.get().0 != Distribution::Random;
    let is_other = generator.is_typed() && *generator.get() != RandomGenerator::Lfsr;
    let aligned = spec.block.ba.get().of(Dir::Write);
    let conflicts = [
        ("rw", rw.word != RwWord::RandWrite || rw.every > 1, "set rw=randwrite"),
        ("norandommap", wants_map, "leave it out: sprandom sets norandommap=1"),
        ("softrandommap", *random.softrandommap.get(), "leave softrandommap out"),
        ("random_generator", is_other, "leave it out: sprandom sets random_generator=lfsr"),
        ("random_distribution", is_skewed, "leave random_distribution at random"),
        ("ba", aligned.is_some_and(|ba| ba.0 != u64::from(sizes.min())), "leave blocks at ba=bs"),
        ("bs", sizes.min() != sizes.max(), "set one block size"),
        (
            "percentage_random",
            *order.percentage_random.get().of(Dir::Write) != 100,
            "leave percentage_random at 100",
        ),
        ("zonemode", *spec.zones.zonemode.get() != ZoneMode::None, "leave zonemode away"),
        ("time_based", *spec.time.time_based.get(), "let it end when all has been written"),
        ("fill_device", *spec.size.fill_device.get(), "give size=100%"),
    ];
    for (option, _, help) in conflicts.into_iter().filter(|(_, is, _)| *is) {
        let message = format!("sprandom=1 cannot be combined with this {option}");
        found.push(
            Diagnostic::error(message).about("sprandom", random.sprandom.origin()).help(help),
        );
    }
    spec.random.norandommap.force(true, "sprandom");
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
    fn sprandom_is_refused_where_not_each_block_is_written() {
        let refused = |options: &[&str]| {
            let all = [&["sprandom=1"], options].concat();
            resolved(&all)
                .1
                .into_iter()
                .find(|found| found.message.starts_with("sprandom=1 cannot"))
        };
        for taken in ["bs=4k", "norandommap=1", "random_generator=lfsr"] {
            assert!(refused(&["rw=randwrite", taken]).is_none(), "{taken}");
        }
        for (option, named) in [
            ("rw=write", "this rw"),
            ("rw=randrw", "this rw"),
            ("rw=randwrite:8", "this rw"),
            ("norandommap=0", "norandommap"),
            ("softrandommap=1", "softrandommap"),
            ("random_generator=tausworthe", "random_generator"),
            ("random_generator=tausworthe64", "random_generator"),
            ("ba=8k", "this ba"),
            ("random_distribution=zipf", "random_distribution"),
            ("bsrange=4k-8k", "this bs"),
            ("percentage_random=50", "percentage_random"),
            ("time_based=1", "time_based"),
        ] {
            let found = refused(&["rw=randwrite", "runtime=9", option])
                .unwrap_or_else(|| panic!("{option}"));
            assert!(found.message.contains(named), "{option}: {found}");
        }
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
