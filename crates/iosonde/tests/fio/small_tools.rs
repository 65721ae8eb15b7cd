//! `fio-genzipf`, `fio-dedupe` and `fio-verify-state` next to those that fio's package brings.

use crate::support::{Who, link_named, words};
use iosonde_testing::{Folder, has};
use std::process::{Command, Output};

/// What ours and the installed tool print and end with, in the folder.
fn both(folder: &Folder, name: &str, line: &str) -> [(Option<i32>, String); 2] {
    let run = |mut command: Command| -> (Option<i32>, String) {
        command.args(words(line)).current_dir(folder.path());
        let Output { status, stdout, .. } = command.output().unwrap();
        (status.code(), String::from_utf8(stdout).unwrap())
    };
    [run(Command::new(link_named(name))), run(Command::new(name))]
}

#[track_caller]
fn same(folder: &Folder, name: &str, line: &str) {
    let [ours, theirs] = both(folder, name, line);
    assert_eq!(ours, theirs, "{name} {line}");
    assert_eq!(ours.0, Some(0), "{name} {line}");
}

#[test]
fn hits_are_counted_as_fio_genzipf_counts_them() {
    if !has("fio-genzipf", "fio") {
        return;
    }
    let folder = Folder::new("small-genzipf");
    for line in [
        "-g 1",
        "-g 1 -i 0.5 -b 8192",
        "-g 3 -b 5000 -i 1.5 -o 7",
        "-t pareto -g 7 -b 65536 -o 7",
        "-t pareto -g 1 -b 64000 -i 0.9 -o 1",
        "-t normal -g 3 -b 40960 -i 5 -o 100",
        "-t normal -g 1 -b 65536",
        "-cg1 -b65536",
        "-t pareto -i 0.2 -g 1 -c",
        "-g 2000 -b 1000000000",
    ] {
        same(&folder, "fio-genzipf", line);
    }
    for line in ["-t bogus", "-i 1", "-t pareto -i 1.5", "-x"] {
        let [ours, theirs] = both(&folder, "fio-genzipf", line);
        assert_eq!((ours.0, theirs.0), (Some(1), Some(1)), "{line}");
    }
}

#[test]
fn extents_are_counted_as_fio_dedupe_counts_them() {
    if !has("fio-dedupe", "fio") {
        return;
    }
    let folder = Folder::new("small-dedupe");
    let numbered = |count: u32, of: u32| -> Vec<u8> {
        (0..count).flat_map(|nth| (nth % of).to_le_bytes().repeat(1024)).collect()
    };
    folder.write("zeroes", vec![0; 1 << 20]);
    folder.write("eight", numbered(8, 7));
    folder.write("many", numbered(100, 33));
    folder.write("odd", &numbered(3, 2)[..12_000]);
    for file in ["zeroes", "eight", "many", "odd"] {
        for options in ["", "-B 0", "-c 1", "-d 1 -t 1", "-b 512 -t 3", "-o 1 -t 2 -b 8192"] {
            same(&folder, "fio-dedupe", &format!("-p 0 {options} {file}"));
        }
    }
    let [ours, theirs] = both(&folder, "fio-dedupe", "-p 0 none");
    assert_eq!((ours.0, theirs.0), (Some(1), Some(1)));

    let exact = Who::Native.run(&folder, &["dedupe", "eight"]).well();
    assert!(exact.stdout.contains("Extents=8, Unique extents=7\n"), "{exact:?}");
    let packed = Who::Native.run(&folder, &["dedupe", "-C", "1", "eight"]).well();
    assert!(packed.stdout.contains("\nUnique capacity "), "{packed:?}");
}

#[test]
fn a_state_of_the_installed_fio_is_shown_as_its_tool_shows_it() {
    if !has("fio-verify-state", "fio") || !has("fio", "fio") {
        return;
    }
    let folder = Folder::new("small-state");
    let job = "--name=long --nrfiles=2 --size=1m --bs=16k --rw=randwrite --verify=crc32c \
        --verify_state_save=1 --number_ios=9 --numjobs=2 --thread";
    Who::Fio.run(&folder, &words(job)).well();
    for number in [0, 1] {
        let file = format!("local-long-{number}-verify.state");
        if std::fs::read(folder.join(&file)).unwrap()[0] != 3 {
            iosonde_testing::skip!("the installed fio has another layout of state files than 3.33");
        }
        same(&folder, "fio-verify-state", &file);
    }
    Who::AsFio.run(&folder, &words(&job.replace("long", "ours"))).well();
    let [ours, _] = both(&folder, "fio-verify-state", "local-ours-1-verify.state");
    assert_eq!(ours.0, Some(0));
    let shown = "Name:\t\tours\nDepth:\t\t1\nNumber IOs:\t9\nIndex:\t\t1\n";
    assert!(ours.1.contains(shown), "{ours:?}");
}
