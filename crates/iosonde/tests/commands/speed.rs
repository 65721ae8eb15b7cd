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
    // fio takes a second for these three, and half a minute for some others.
    let line = "--crctest=murmur3,md5,fnv";
    let ours = lines(&run(Who::AsFio, &folder, line).well());
    assert_eq!(ours, lines(&run(Who::Native, &folder, line).well()));
    assert_eq!(ours, ["md5:\t\tN MiB/sec", "murmur3:\tN MiB/sec", "fnv:\t\tN MiB/sec"]);
    if has_fio_for_part() {
        assert_eq!(ours, lines(&run(Who::Fio, &folder, line).well()));
    }
    let copies = lines(&run(Who::AsFio, &folder, "--memcpytest=memmove,simple").well());
    assert_eq!(copies[..2], ["memmove", "\t8 bytes:\tN MiB/sec"]);
    assert_eq!(copies[11..14], ["\t524288 bytes:\tN MiB/sec", "simple", "\t8 bytes:\tN MiB/sec"]);
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
