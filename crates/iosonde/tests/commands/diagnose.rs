//! `iosonde diagnose` on blocks that jobs wrote, right and damaged.

use crate::support::{Ran, Who, words};
use iosonde_testing::Folder;
use serde_json::Value;
use std::fs;

const JOB: &str = "--name=v --filename=data --size=64k --bs=4k --rw=randwrite --verify=crc32c";

fn written(options: &str) -> Folder {
    let folder = Folder::new("diagnose");
    Who::Native.run(&folder, &words(&format!("--verify_state_save=0 {options}"))).well();
    folder
}

fn diagnose(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("diagnose {line}")))
}

/// The diagnosis of the block at 8192, for programs: without the job, and with
/// it.
fn both(folder: &Folder, job: &str) -> [Value; 2] {
    ["", job].map(|job| {
        let ran = diagnose(folder, &format!("data --offset=8192 --json {job}"));
        let found = ran.json();
        assert_eq!(ran.code, Some(if found["right"] == true { 0 } else { 3 }), "{ran:?}");
        found
    })
}

fn ids(found: &[Value; 2]) -> [&str; 2] {
    [0, 1].map(|at| found[at]["diagnosis"]["id"].as_str().unwrap_or("right"))
}

#[test]
fn each_kind_of_damage_is_named_without_the_job_and_with_it() {
    let folder = written(JOB);
    let good = fs::read(folder.join("data")).unwrap();
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, [&str; 2], Damage); 9] = [
        ("none", ["right", "right"], |_| {}),
        ("zeroes", ["zeroes", "zeroes"], |data| data[8192..12288].fill(0)),
        ("flips", ["bit-flips", "bit-flips"], |data| data[9000] ^= 3),
        ("other place", ["other-place", "other-place"], |data| data.copy_within(0..4096, 8192)),
        ("torn", ["torn", "torn"], |data| data[9216..12288].fill(0)),
        ("front lost", ["unknown", "torn"], |data| data[8192..9216].fill(0xee)),
        ("shifted", ["shifted", "shifted"], |data| data.copy_within(8192..12281, 8199)),
        ("magic lost", ["unknown", "header-damaged"], |data| data[8192] = 0),
        ("truncated", ["truncated", "truncated"], |data| data.truncate(9000)),
    ];
    for (what, wanted, damage) in damages {
        let mut data = good.clone();
        damage(&mut data);
        folder.write("data", data);
        assert_eq!(ids(&both(&folder, JOB)), wanted, "{what}");
    }
}

#[test]
fn an_older_version_is_known_by_the_number_of_its_write() {
    let folder = written(JOB);
    let old = fs::read(folder.join("data")).unwrap();
    let twice = format!("{JOB} --loops=2");
    Who::Native.run(&folder, &words(&twice)).well();
    let found = both(&folder, &twice);
    assert_eq!(ids(&found), ["right", "right"]);
    let last = found[1]["expected"]["write"].as_u64().unwrap();
    assert!(last >= 16, "of the second pass: {found:?}");
    assert_eq!(found[1]["expected"]["writes"], 2);
    let mut data = fs::read(folder.join("data")).unwrap();
    data[8192..12288].copy_from_slice(&old[8192..12288]);
    folder.write("data", data);
    let found = both(&folder, &twice);
    // Only the job shows that there was another write.
    assert_eq!(ids(&found), ["right", "other-version"]);
    let text = found[1]["diagnosis"]["text"].as_str().unwrap();
    assert_eq!(text, format!("the block of write {} to the same offset", last - 16));
}

#[test]
fn any_byte_of_a_block_finds_its_interval_wherever_the_header_lies() {
    let options = "--verify_interval=1k --verify_offset=512";
    let folder = written(&format!("{JOB} {options}"));
    let mut data = fs::read(folder.join("data")).unwrap();
    for job in ["", JOB] {
        let job = if job.is_empty() { String::new() } else { format!("{job} {options}") };
        let ran = diagnose(&folder, &format!("data --offset=9900 --json {job}")).well();
        assert_eq!(ran.json()["block"]["offset"], 9216, "{ran:?}");
        assert_eq!(ran.json()["block"]["header_at"], 512, "{ran:?}");
    }
    data[9216 + 900] ^= 1;
    folder.write("data", data);
    let ran = diagnose(&folder, &format!("data --offset=9900 --json {JOB} {options}"));
    assert_eq!(ran.json()["diagnosis"]["id"], "bit-flips", "{ran:?}");
    assert_eq!(ran.json()["differing"]["first"], 900, "{ran:?}");
}

#[test]
fn options_alone_give_the_form_of_a_pattern() {
    let pattern = "--verify=pattern --verify_pattern=0xdeadbeef --bs=4k";
    let folder = written(&format!("--name=v --filename=data --size=64k --rw=write {pattern}"));
    diagnose(&folder, &format!("data --offset=9000 {pattern}")).well();
    let mut data = fs::read(folder.join("data")).unwrap();
    data[8195] ^= 0x80;
    folder.write("data", data);
    let ran = diagnose(&folder, &format!("data --offset=9000 --json {pattern}"));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let found = ran.json();
    assert_eq!(found["diagnosis"]["text"], "1 bit flipped, the first in byte 3");
    assert_eq!(found["expected"]["from"], "options");
}

#[test]
fn content_that_nothing_is_known_of_is_not_called_right() {
    let pattern = "--verify=pattern_hdr --verify_pattern=0xdeadbeef --bs=4k";
    let folder = written(&format!("--name=v --filename=data --size=64k --rw=write {pattern}"));
    let mut data = fs::read(folder.join("data")).unwrap();
    data[9000] ^= 1;
    folder.write("data", data);
    let ran = diagnose(&folder, "data --offset=9000");
    let text: Vec<&str> = ran.stdout.split_whitespace().collect();
    let text = text.join(" ");
    assert!(text.contains("nothing says what the content should be"), "{ran:?}");
    assert!(!text.contains("nothing is wrong"), "{ran:?}");
}

#[test]
fn the_page_shows_header_difference_and_diagnosis() {
    let folder = written(JOB);
    let mut data = fs::read(folder.join("data")).unwrap();
    data[9000] ^= 0xff;
    folder.write("data", data);
    let job = "[v]\nfilename=data\nsize=64k\nbs=4k\nrw=randwrite\nverify=crc32c\n";
    folder.write("job.fio", job);
    let ran = diagnose(&folder, "data --offset=9000 job.fio");
    assert_eq!(ran.code, Some(3), "{ran:?}");
    for line in [
        "data: block of 4096 bytes at offset 8192",
        "header type       crc32c",
        "stored,",
        "differs in        1 byte (8 bits), the first at byte 808 of the block,",
        "should hold       write ",
        "diagnosis         8 bits flipped, the first in byte 808",
    ] {
        assert!(ran.stdout.contains(line), "{line}\n{}", ran.stdout);
    }
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
}

#[test]
fn what_cannot_be_diagnosed_is_refused_and_named() {
    let folder = written(JOB);
    folder.write("job.fio", "[v]\nfilename=other\nsize=64k\nrw=write\nverify=crc32c\n");
    for (line, words) in [
        ("missing --offset=0", "cannot read missing: "),
        (". --offset=0", ". is neither a file nor a block device"),
        ("data --offset=65536", "65536 lies beyond the end of data, which has 65536 bytes"),
        ("data --offset=x", "invalid size \"x\""),
        ("data", "--offset"),
        ("data --offset=0 --rw=write --bs=4k", "job diagnose does not verify"),
        ("data --offset=0 job.fio", "no job writes to data: check filename"),
        ("data --offset=0 missing.fio", "missing.fio"),
        ("data --offset=0 --verify=best", "invalid value \"best\""),
        ("data --offset=0 --verify=md5 --minimal", "diagnose: --minimal has no effect here"),
    ] {
        let ran = diagnose(&folder, line);
        assert_eq!(ran.code, Some(1), "{line}: {ran:?}");
        assert!(ran.stderr.contains(words), "{line}: {ran:?}");
    }
}
