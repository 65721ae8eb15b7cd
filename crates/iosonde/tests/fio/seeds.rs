//! Which runs of a job draw the same random numbers: `randrepeat`, its other name
//! `allrandrepeat`, and `randseed`.

use crate::support::{Who, iolog_ios, with};
use iosonde_testing::Folder;

/// The offsets of a random job with these options, in their order.
fn places(options: &str) -> Vec<String> {
    let folder = Folder::new("seeds");
    let job = "--name=v --ioengine=null --rw=randread --bs=4k --size=1m --write_iolog=v.log";
    Who::AsFio.run(&folder, &with(job, options)).well();
    let places = iolog_ios(&folder, "v.log");
    assert_eq!(places.len(), 256, "{options}");
    places
}

#[test]
fn a_job_draws_the_same_numbers_in_each_run_unless_told_otherwise() {
    assert_eq!(places(""), places(""));
    assert_eq!(places(""), places("--randrepeat=1"));
    assert_eq!(places(""), places("--allrandrepeat=1"));
}

#[test]
fn without_repetition_each_run_draws_other_numbers() {
    for option in ["--randrepeat=0", "--allrandrepeat=0"] {
        assert_ne!(places(option), places(option), "{option}");
    }
}

#[test]
fn of_the_two_names_of_an_option_the_last_one_counts() {
    for repeats in ["--randrepeat=0 --allrandrepeat=1", "--allrandrepeat=0 --randrepeat=1"] {
        assert_eq!(places(repeats), places(""), "{repeats}");
    }
    for anew in ["--randrepeat=1 --allrandrepeat=0", "--allrandrepeat=1 --randrepeat=0"] {
        assert_ne!(places(anew), places(anew), "{anew}");
    }
}

#[test]
fn a_seed_that_is_given_wins() {
    let seeded = places("--randseed=7");
    assert_ne!(seeded, places(""));
    for options in [
        "--randseed=7 --randrepeat=0",
        "--randrepeat=0 --randseed=7",
        "--allrandrepeat=0 --randseed=7",
        "--randseed=7 --allrandrepeat=0",
    ] {
        assert_eq!(places(options), seeded, "{options}");
    }
}
