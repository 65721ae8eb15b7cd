//! The engine e4defrag on a real ext4: blocks move, data stays.

use crate::filesystems::FileSystem;
use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, has, run, skip_part};
use std::fs::{self, File};

const MIB: u64 = 1 << 20;

fn job(system: &FileSystem, options: &str) -> Ran {
    let (file, donor) = (system.path("file"), system.path("donor"));
    let line = format!(
        "--name=e --ioengine=e4defrag --filename={} --donorname={} --bs=64k --size=1m {options}",
        file.display(),
        donor.display()
    );
    Who::AsFio.run(&system.folder, &words(&format!("{line} --output-format=json")))
}

/// Where the file lies on its device, as filefrag(8) shows it.
fn extents(system: &FileSystem) -> Option<String> {
    if !has("filefrag", "e2fsprogs") {
        return None;
    }
    let listed = run("filefrag", &["-v", system.path("file").to_str().unwrap()]).unwrap();
    Some(listed.lines().filter(|line| line.contains("..")).collect::<Vec<_>>().join("\n"))
}

#[test]
fn blocks_are_exchanged_and_the_data_stays() {
    let Some(system) = FileSystem::of("ext4", 64 * MIB) else { return };
    let data: Vec<u8> = (0..MIB).map(|at| (at * 7 / 5) as u8).collect();
    for options in ["--rw=write --inplace=0", "--rw=randwrite --inplace=1", "--rw=write --direct=1"]
    {
        fs::write(system.path("file"), &data).unwrap();
        File::open(system.path("file")).unwrap().sync_all().unwrap();
        let before = extents(&system);
        let ran = job(&system, options).well();
        assert_eq!(ran.json()["jobs"][0]["write"]["io_bytes"], MIB, "{options}: {ran:?}");
        File::open(system.path("file")).unwrap().sync_all().unwrap();
        assert!(fs::read(system.path("file")).unwrap() == data, "{options}: the data changed");
        match before {
            Some(before) => assert_ne!(extents(&system), Some(before), "{options}: nothing moved"),
            None => skip_part!("filefrag is missing: that blocks moved is not checked"),
        }
        let donor = fs::metadata(system.path("donor")).unwrap().len();
        assert_eq!(donor, if options.contains("inplace=1") { 0 } else { MIB }, "{options}");
        fs::remove_file(system.path("donor")).unwrap();
    }
}

#[test]
fn a_file_with_dirty_pages_is_written_first() {
    let Some(system) = FileSystem::of("ext4", 64 * MIB) else { return };
    let data: Vec<u8> = (0..MIB).map(|at| (at * 3 / 2) as u8).collect();
    fs::write(system.path("file"), &data).unwrap();
    File::open(system.path("file")).unwrap().sync_all().unwrap();
    fs::write(system.path("file"), &data).unwrap();
    let ran = job(&system, "--rw=write --inplace=0").well();
    assert_eq!(ran.json()["jobs"][0]["write"]["io_bytes"], MIB, "{ran:?}");
    assert!(fs::read(system.path("file")).unwrap() == data, "the data changed");
}

#[test]
fn what_cannot_be_exchanged_is_named() {
    let folder = Folder::new("e4defrag");
    let line = "--name=e --ioengine=e4defrag --filename=file --bs=64k --size=1m --rw=write";
    let ran = Who::AsFio.run(&folder, &words(line));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("'donorname' options required"), "{ran:?}");

    let Some(system) = FileSystem::of("ext4", 64 * MIB) else { return };
    let ran = job(&system, "--rw=read");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("e4defrag only writes"), "{ran:?}");

    let Some(memory) = FileSystem::tmpfs(16 * MIB) else { return };
    let ran = job(&memory, "--rw=write");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("only ext4 with extents"), "{ran:?}");
}
