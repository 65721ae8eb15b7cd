//! `--crctest` and `--memcpytest` beside the installed fio: the same lines but
//! for the figures.

use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, has_fio_for_part};

fn run(who: Who, folder: &Folder, line: &str) -> Ran {
    who.run(folder, &words(line))
}

/// The lines with each figure as `N`; every figure is more than nothing.
fn lines(ran: &Ran) -> Vec<String> {
    let line = |line: &str| match line.strip_suffix(" MiB/sec") {
        Some(rest) => {
            let at = rest.rfind(['\t', ' ']).unwrap() + 1;
            assert!(rest[at..].parse::<f64>().unwrap() > 0.0, "{ran:?}");
            format!("{}N MiB/sec", rest[..at].trim_end_matches(' '))
        }
        None => line.to_owned(),
    };
    ran.stdout.lines().map(line).collect()
}

#[test]
fn speeds_are_listed_as_fio_lists_them() {
    let folder = Folder::new("speed");
    for line in ["--crctest=sha3-512,md5,murmur3,fnv", "--memcpytest=memmove,simple"] {
        let ours = run(Who::AsFio, &folder, line).well();
        let own = run(Who::Native, &folder, line).well();
        assert_eq!(lines(&ours), lines(&own));
        if has_fio_for_part() {
            assert_eq!(lines(&ours), lines(&run(Who::Fio, &folder, line).well()), "{line}");
        }
    }
    let all = run(Who::Native, &folder, "--crctest").well();
    assert_eq!(all.stdout.lines().count(), 17, "{all:?}");
    assert!(all.stdout.starts_with("md5:\t\t"), "{all:?}");
    let all = run(Who::Native, &folder, "--memcpytest").well();
    assert_eq!(all.stdout.lines().count(), 4 * 12, "{all:?}");
}

#[test]
fn unknown_names_are_refused_with_those_that_are_known() {
    let folder = Folder::new("speed-unknown");
    for line in ["--crctest=bogus", "--crctest=help", "--memcpytest=help"] {
        let ours = run(Who::AsFio, &folder, line);
        assert_eq!(ours.code, Some(1), "{ours:?}");
        if has_fio_for_part() {
            let fio = run(Who::Fio, &folder, line);
            assert_eq!((ours.code, &ours.stdout), (fio.code, &fio.stdout), "{line}");
            assert_eq!(ours.stderr.trim(), fio.stderr.trim(), "{line}");
        }
    }
    let ran = run(Who::Native, &folder, "--crctest=md5,bogus");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("unknown hash `bogus`. Available:"), "{ran:?}");
    assert!(ran.stdout.starts_with("md5\ncrc64\n"), "{ran:?}");
}
