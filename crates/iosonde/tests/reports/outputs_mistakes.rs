//! The likeliest mistakes: the program says what failed, on what, why, and
//! what to do, and ends with fio's exit code.

use crate::support::{Who, words};
use iosonde_testing::{Folder, has_fio_for_part};

/// What was typed, and words that the answer must have.
struct Mistake {
    options: &'static str,
    said: &'static [&'static str],
}

const MISTAKES: &[Mistake] = &[
    Mistake {
        options: "--name=v --rw=write",
        said: &["v: you need to specify size=", "file v.0.0", "give size="],
    },
    Mistake {
        options: "--name=v --ioengine=nosuch --size=64k",
        said: &["engine nosuch not loadable", "psync"],
    },
    Mistake {
        options: "--name=v --rw=writ --size=64k",
        said: &["failed parsing rw=writ", "valid values: read", ": randwrite"],
    },
    Mistake {
        options: "--name=v --filename=f --allow_file_create=0 --rw=read --size=64k",
        said: &["v: ", " f: ", "No such file or directory", "allow_file_create=0"],
    },
    Mistake {
        options: "--name=v --directory=/proc --rw=write --size=64k",
        said: &["/proc/v.0.0", "it is a file of proc"],
    },
    Mistake {
        options: "--name=v --directory=missing --rw=write --size=64k",
        said: &["missing is not a directory", "it does not exist", "create it"],
    },
    Mistake {
        options: "--name=v --directory=job.fio --rw=write --size=64k",
        said: &["job.fio is not a directory", "it is a file"],
    },
    Mistake {
        options: "--name=v --rw=write --size=1k",
        said: &["size too small, must not be less than minimum block size: 1024 < 4096", "bs="],
    },
    Mistake { options: "job.fio", said: &["Bad option <rw write>", "job bad dropped"] },
    Mistake { options: "none.fio", said: &["unable to open 'none.fio' job file"] },
    Mistake {
        options: "--name=v --filename=folder --rw=write --size=64k",
        said: &["v: ", " folder: ", "s a directory", "directory="],
    },
    Mistake {
        options: "--name=v --filename=folder --rw=read --size=64k",
        said: &["v: ", " folder: ", "s a directory", "directory="],
    },
    Mistake { options: "--name=v --nosuch=1", said: &["unrecognized option '--nosuch=1'"] },
    Mistake {
        options: "--name=v --iodepht=4 --size=4k",
        said: &["unrecognized option '--iodepht=4'", "Did you mean iodepth?"],
    },
    Mistake { options: "--name=v --bs=x --size=64k", said: &["failed parsing bs=x"] },
    Mistake {
        options: "--name=v --rw=write --readonly --size=64k",
        said: &["job <v> has write", "read-only"],
    },
];

fn folder() -> Folder {
    let folder = Folder::new("mistake");
    folder.write("job.fio", "[bad]\nsize=64k\nrw write\n");
    std::fs::create_dir(folder.join("folder")).unwrap();
    folder
}

#[test]
fn a_mistake_is_answered_with_what_failed_where_why_and_what_to_do() {
    let mut wrong = Vec::new();
    for Mistake { options, said } in MISTAKES {
        let ran = Who::AsFio.run(&folder(), &words(options));
        let all = format!("{}{}", ran.stdout, ran.stderr);
        let missing: Vec<_> = said.iter().filter(|words| !all.contains(**words)).collect();
        if !missing.is_empty() || all.contains("panicked") {
            wrong.push(format!("{missing:?} missing from {ran:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_mistake_ends_with_fios_exit_code() {
    for Mistake { options, .. } in MISTAKES {
        for who in [Who::AsFio, Who::Native, Who::Fio] {
            if who == Who::Fio && !has_fio_for_part() {
                continue;
            }
            let ran = who.run(&folder(), &words(options));
            assert_eq!(ran.code, Some(1), "{ran:?}");
        }
    }
}

#[test]
fn a_mistake_leaves_nothing_behind() {
    for Mistake { options, .. } in MISTAKES {
        let folder = folder();
        Who::AsFio.run(&folder, &words(options));
        assert_eq!(folder.names(), ["folder", "job.fio"], "{options}");
    }
}

#[test]
fn a_mistake_in_a_job_file_is_reported_with_its_line() {
    let folder = folder();
    for (text, place) in [
        ("[v]\nsize=64k\nrw=writ\n", "job.fio:3"),
        ("[v]\nsize=1k\n", "job.fio:2"),
        ("[v]\nsize=64k\ndirectory=none\n", "job.fio:3"),
        ("[v]\n\nnosuch=1\nsize=4k\n", "job.fio:3"),
        ("[global]\nbs=4k\n[v]\n  iodepth=0\n", "job.fio:4:3"),
        ("size=4k\n[v]\n", "job.fio:1:1"),
        ("[v]\nsize=4k\ninclude none.fio\n", "job.fio:3:1"),
        ("[v]\nsize=4k\nioengine=fastest\n", "job.fio:3:1"),
        ("[v]\nsize=4k\nbssplit=4k/50:8k/70\n", "job.fio:3:1"),
        ("[v]\nsize=4k\nrwmixread=200\nnrfiles=-1\n", "job.fio:4:1"),
        ("[v]\nsize=4k\nverify=md6\n", "job.fio:3:1"),
    ] {
        folder.write("job.fio", text);
        for who in [Who::Native, Who::AsFio] {
            let ran = who.run(&folder, &words("job.fio"));
            assert!(ran.stderr.contains(place), "{place} in {ran:?}");
        }
    }
}

#[test]
fn called_as_fio_its_own_lines_stand_first() {
    let folder = folder();
    folder.write("job.fio", "[v]\nsize=64k\nrw=writ\n");
    let ran = Who::AsFio.run(&folder, &words("job.fio"));
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines[0], "fio: failed parsing rw=writ", "{ran:?}");
    let [.., dropped, ours] = lines.as_slice() else { panic!("{ran:?}") };
    assert_eq!(*dropped, "fio: job v dropped", "{ran:?}");
    assert!(
        ours.starts_with(
            "fio: job.fio:3:1: error: rw: invalid value \"writ\": use one of read, write"
        ),
        "{ran:?}"
    );
}

#[test]
fn a_zone_size_without_a_mode_is_refused_in_one_line_that_begins_as_fios() {
    let folder = Folder::new("mistakes");
    let fio = "fio: --zonemode=none and --zonesize are not compatible.";
    folder.write("zones.fio", "[v]\nrw=read\nsize=1m\nzonesize=64k\n");
    for (job, place) in [("--name=v --rw=read --size=1m --zonesize=64k", ""), ("zones.fio", ":4")] {
        let ran = Who::AsFio.run(&folder, &words(job));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        assert!(ran.stderr.starts_with(fio) && ran.stderr.contains(place), "{ran:?}");
        assert!(ran.stderr.contains("zonemode=strided"), "{ran:?}");
    }
    if has_fio_for_part() {
        let theirs = Who::Fio.run(&folder, &words("zones.fio"));
        assert!(theirs.stderr.starts_with(fio), "{theirs:?}");
    }
}
