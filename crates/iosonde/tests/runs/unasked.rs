//! Files that no job was asked to change: `--readonly`, and jobs that only read.

use crate::support::{Ran, Who, words};
use iosonde_testing::Folder;

const BOTH: [Who; 2] = [Who::Native, Who::AsFio];

fn run(who: Who, folder: &Folder, line: &str) -> Ran {
    who.run(folder, &words(line))
}

/// A folder with a small file of the user's, and one that is large enough.
fn user_files() -> Folder {
    let folder = Folder::new("unasked");
    folder.write("user", "precious");
    folder.write("full", vec![7; 1 << 20]);
    folder
}

#[track_caller]
fn is_untouched(folder: &Folder, ran: &Ran) {
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["full", "user"], "{ran:?}");
    assert_eq!(std::fs::read(folder.join("user")).unwrap(), b"precious", "{ran:?}");
    assert!(std::fs::read(folder.join("full")).unwrap() == [7; 1 << 20], "{ran:?}");
}

#[test]
fn readonly_creates_extends_and_removes_nothing() {
    let folder = user_files();
    let lines = [
        ("--filename=user --size=1m", "refusing extend of file due to read-only"),
        ("--filename=user --size=1m --pre_read=1", "refusing extend of file due to read-only"),
        ("--filename=user --size=1m --extend", "refusing extend of file due to read-only"),
        ("--filename=none --size=1m", "refusing extend of file due to read-only"),
        ("--filename=none --size=1m --create_only=1", "refusing extend"),
        ("--filename=none --size=1m --create_on_open=1", "refusing extend"),
        ("--filename=none/deeper --size=1m", "refusing extend of file due to read-only"),
        ("--filename=full --size=64k --file_append=1 --io_size=64k", "refusing extend"),
        ("--filename=none --ioengine=filestat --size=4k", "refusing extend"),
        ("--filename=none --ioengine=dirstat --size=4k", "refusing extend"),
        ("--filename=full --size=1m --unlink=1", "unlink would remove full"),
        ("--filename=full --size=1m --unlink_each_loop=1", "unlink would remove full"),
        ("--filename=full --ioengine=filedelete", "removes files"),
        ("--filename=none --ioengine=dirdelete --size=4k", "removes files"),
        ("--filename=none --ioengine=filecreate --size=4k", "makes files"),
        ("--filename=none --ioengine=dircreate --size=4k", "makes files"),
        ("--filename=full --ioengine=ftruncate --size=4k", "changes files"),
        ("--filename=full --ioengine=falloc --size=4k", "changes files"),
        ("--filename=full --size=64k --iomem=mmapshared:none", "written to none"),
        (
            "--ioengine=tree --tree_root=. --tree_op=create --bs=1 --size=1",
            "changes ./iosonde-tree",
        ),
        ("--filename=full --ioengine=e4defrag --donorname=none --size=64k", "none"),
    ];
    for (line, why) in lines {
        for who in BOTH {
            if who == Who::AsFio && line.contains("--extend") {
                continue;
            }
            // As a flag of the program it may stand anywhere.
            let ran = run(who, &folder, &format!("--name=j --rw=read {line} --readonly"));
            assert_eq!(ran.code, Some(1), "{line}: {ran:?}");
            assert!(ran.stderr.contains(why), "{line}: {ran:?}");
            is_untouched(&folder, &ran);
        }
    }
}

#[test]
fn readonly_reads_what_is_there() {
    let folder = user_files();
    for who in BOTH {
        for line in
            ["--filename=full", "--filename=full --ioengine=mmap", "--ioengine=null --size=1m"]
        {
            let ran = run(who, &folder, &format!("--readonly --name=j --rw=read {line}")).well();
            is_untouched(&folder, &ran);
        }
    }
}

#[test]
fn a_job_that_only_reads_changes_no_existing_file_unless_it_may_extend_it() {
    let folder = user_files();
    for line in ["--size=1m", "--size=64k --pre_read=1", "--size=64k --file_append=1 --io_size=4k"]
    {
        let ran =
            run(Who::Native, &folder, &format!("--name=j --rw=randread --filename=user {line}"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("of user, which exists and has 8"), "{ran:?}");
        assert!(ran.stderr.contains("--extend"), "what to do: {ran:?}");
        is_untouched(&folder, &ran);
    }
    let job = "--name=j --rw=read --filename=user --size=1m";
    let ran = run(Who::Native, &folder, &format!("--extend {job}")).well();
    assert!(ran.stdout.contains("warning: job j extends user"), "named beforehand: {ran:?}");
    let held = std::fs::read(folder.join("user")).unwrap();
    assert_eq!((held.len(), &held[..8]), (1 << 20, &b"precious"[..]));
    // Now it is long enough.
    run(Who::Native, &folder, job).well();
}

#[test]
fn as_fio_an_existing_file_is_extended_and_named_beforehand() {
    let folder = user_files();
    let ran = run(Who::AsFio, &folder, "--name=j --rw=read --filename=user --size=1m").well();
    let named = ran.stdout.find("note: job j extends user").expect("it is named");
    assert!(named < ran.stdout.find("groupid=0").unwrap(), "{ran:?}");
    let held = std::fs::read(folder.join("user")).unwrap();
    assert_eq!((held.len(), &held[..8]), (1 << 20, &b"precious"[..]));
}

#[test]
fn missing_files_and_files_that_another_job_writes_are_laid_out_for_readers() {
    let folder = user_files();
    run(Who::Native, &folder, "--name=j --rw=read --filename=new --size=64k").well();
    assert_eq!(std::fs::metadata(folder.join("new")).unwrap().len(), 64 << 10);
    let line = "--filename=user --size=64k --name=w --rw=write --name=r --rw=read --stonewall";
    let ran = run(Who::Native, &folder, line).well();
    assert!(ran.stdout.contains("job w overwrites data in this existing file"), "{ran:?}");
}

#[test]
fn points_of_a_sweep_may_extend_the_files_of_other_points() {
    let folder = Folder::new("unasked-sweep");
    let line = "sweep --name=j --rw=read --bs=4k --between=none --over size=64k,128k --rounds=1";
    run(Who::Native, &folder, &format!("{line} --filename=new")).well();
    assert_eq!(std::fs::metadata(folder.join("new")).unwrap().len(), 128 << 10);
    std::fs::remove_dir_all(folder.join("sweep.d")).unwrap();
    folder.write("user", "precious");
    let ran = run(Who::Native, &folder, &format!("{line} --filename=user"));
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert_eq!(std::fs::read(folder.join("user")).unwrap(), b"precious", "{ran:?}");
}

#[test]
fn an_output_does_not_replace_a_file_that_a_job_uses() {
    for who in BOTH {
        let folder = user_files();
        std::fs::hard_link(folder.join("full"), folder.join("second")).unwrap();
        let lines = [
            "--filename=full --output=full",
            "--filename=full --output=second",
            "--filename=second --write_iolog=full",
            "--filename=full --readonly --write_iolog=full",
            "--filename=full --bandwidth-log=full --output=./full",
        ];
        for line in lines {
            let ran = run(who, &folder, &format!("--name=j --rw=read --size=64k {line}"));
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.stderr.contains("a job uses this file"), "{ran:?}");
        }
        std::fs::remove_file(folder.join("second")).unwrap();
        is_untouched(&folder, &run(who, &folder, "--version"));
        // What is no file is nobody's.
        let line = "--name=j --rw=write --size=64k --filename=/dev/null --output=/dev/null";
        assert_eq!(run(who, &folder, line).code, Some(0));
    }
}
