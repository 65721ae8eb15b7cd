//! Preconditioning in one pass: each block is written, some of them twice.

use crate::support::{Who, words};
use iosonde_testing::Folder;

/// The offsets of the writes in an I/O log, in order.
fn writes(log: &str) -> Vec<u64> {
    let lines = log.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines
        .filter(|words| words.get(2) == Some(&"write"))
        .map(|words| words[3].parse().unwrap())
        .collect()
}

#[test]
fn each_block_is_written_and_a_part_of_them_twice_by_any_engine() {
    for engine in ["psync", "libaio --iodepth=16"] {
        let folder = Folder::new("sprandom");
        let line = format!(
            "--name=a --filename=data --rw=randwrite --bs=4k --size=8m --sprandom=1 --spr_op=0.25 \
             --spr_num_regions=16 --write_iolog=log --output-format=json --ioengine={engine}"
        );
        let ran = Who::Native.run(&folder, &words(&line)).well();
        assert_eq!(ran.json()["jobs"][0]["write"]["total_ios"], 2560, "{engine}");
        let mut blocks = writes(&folder.read("log"));
        assert_eq!(blocks.len(), 2560, "{engine}");
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks, (0..2048).map(|block| block * 4096).collect::<Vec<u64>>(), "{engine}");
    }
}

#[test]
fn what_is_written_twice_is_verified() {
    let folder = Folder::new("sprandom-verify");
    let line = "--name=a --filename=data --rw=randwrite --bs=4k --size=4m --sprandom=1 \
                --spr_num_regions=8 --verify=crc32c --output-format=json";
    let document = Who::Native.run(&folder, &words(line)).well().json();
    let verify = &document["iosonde"]["jobs"][0]["verify"];
    assert_eq!(verify["checked"], 1024, "{verify:#}");
}

#[test]
fn what_it_cannot_be_combined_with_is_named() {
    let folder = Folder::new("sprandom-refused");
    for (options, why) in [
        ("--rw=randwrite --norandommap=0", "sprandom=1 cannot be combined with this norandommap"),
        ("--rw=write", "set rw=randwrite"),
        ("--rw=randwrite --nrfiles=2", "sprandom=1 takes one file or device for each job"),
        ("--rw=randwrite --spr_num_regions=1", "1 regions of"),
        ("--rw=randwrite --spr_cs=1g", "a smaller spr_cs"),
    ] {
        let line = format!("--name=a --size=4m --sprandom=1 {options}");
        let ran = Who::Native.run(&folder, &words(&line));
        assert_eq!(ran.code, Some(1), "{options}: {ran:?}");
        assert!(ran.stderr.contains(why), "{options}: {ran:?}");
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "{options}");
    }
}
