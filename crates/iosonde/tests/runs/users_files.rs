//! Files and names of users: what a job leaves as it was, and what a job file cannot do.

use super::safety::refused;
use crate::support::running::{PATIENCE, Running};
use crate::support::{Who, words};
use iosonde_testing::{Folder, LoopDevice, has_fio_for_part};
use std::path::Path;

const MIB: u64 = 1 << 20;

#[test]
fn a_mistyped_name_under_dev_makes_no_file() {
    let folder = Folder::new("typo");
    for name in ["/dev/iosonde-typo", "/dev/mapper/iosonde-typo", "/dev/../dev/iosonde-typo"] {
        for rw in ["write", "randrw", "read"] {
            let line = format!("--name=j --filename={name} --rw={rw} --size=64k");
            let ran = Who::AsFio.run(&folder, &words(&line));
            refused(&ran, "there is no such device");
            assert!(!Path::new(name).exists(), "{name} {rw}");
        }
    }
    // A section that is named after it, and a folder of them.
    let line = words("--name=iosonde-typo --directory=/dev --rw=write --size=64k");
    refused(&Who::AsFio.run(&folder, &line), "there is no such device");
    assert!(!Path::new("/dev/iosonde-typo.0.0").exists());
}

#[test]
fn readonly_refuses_as_fio_does() {
    let folder = Folder::new("readonly");
    let mut programs = vec![Who::AsFio];
    if has_fio_for_part() {
        programs.push(Who::Fio);
    }
    for who in programs {
        for rw in ["write", "randwrite", "rw", "randrw"] {
            let line = format!("--readonly --name=j --filename=f --rw={rw} --size=64k");
            let ran = who.run(&folder, &words(&line));
            assert_eq!(ran.code, Some(1), "{ran:?}");
            let all = format!("{}{}", ran.stdout, ran.stderr);
            assert!(all.contains("fio: job <j> has write"), "{ran:?}");
            assert!(all.contains(" bit set, but fio is in read-only mode"), "{ran:?}");
            assert!(!folder.join("f").exists(), "{ran:?}");
        }
    }
}

#[test]
fn a_users_file_is_never_shrunk_or_replaced_by_a_reader() {
    let folder = Folder::new("reader");
    let text = "what the user keeps\n".repeat(5000);
    folder.write("f", &text);
    let identity = |path: &Path| std::os::unix::fs::MetadataExt::ino(&path.metadata().unwrap());
    let before = identity(&folder.join("f"));
    for line in [
        "--size=4k",
        "--size=64k --overwrite=1",
        "--size=64k --fallocate=truncate --create_only=1",
        "--filesize=8k",
        "--size=64k --fsync=1 --end_fsync=1 --invalidate=1",
        "--size=64k --loops=2 --direct=1",
    ] {
        let line = format!("--name=j --filename=f --rw=randread --bs=4k {line}");
        Who::AsFio.run(&folder, &words(&line)).well();
        assert!(folder.read("f") == text, "{line}");
    }
    // One that needs more extends it, and keeps what is there.
    Who::AsFio.run(&folder, &words("--name=j --filename=f --rw=read --bs=4k --size=256k")).well();
    let after = folder.join("f");
    assert_eq!(after.metadata().unwrap().len(), 256 << 10);
    assert!(std::fs::read(&after).unwrap().starts_with(text.as_bytes()));
    assert_eq!(identity(&after), before, "it is the same file");
}

#[test]
fn a_layout_that_fails_gives_back_all_that_it_took() {
    let folder = Folder::new("layout");
    // Too small for a layout of 40 MiB.
    let Some((mounted, _device)) = LoopDevice::mounted(&folder, "ext4", 24 * MIB) else { return };
    let old = vec![b'u'; 3 << 20];
    std::fs::write(mounted.0.join("old"), &old).unwrap();
    let free = || rustix::fs::statvfs(&mounted.0).unwrap().f_bfree;
    let before = free();
    for (name, more) in [
        ("new", "--rw=read"),
        ("new", "--rw=read --fallocate=none"),
        ("new", "--rw=randwrite --fallocate=posix"),
        ("new", "--rw=read --nrfiles=4"),
        ("a/b/new", "--rw=read --fallocate=keep"),
        ("old", "--rw=read"),
        ("old", "--rw=read --fallocate=none"),
        ("old", "--rw=read --fallocate=keep"),
    ] {
        let place = if more.contains("nrfiles") {
            format!("--directory={}", mounted.0.display())
        } else {
            format!("--filename={}", mounted.0.join(name).display())
        };
        let line = format!("--name=j {place} --size=40m --bs=64k {more}");
        let ran = Who::AsFio.run(&folder, &words(&line));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("No space left on device"), "{ran:?}");
        let mut names: Vec<_> = std::fs::read_dir(&mounted.0).unwrap().flatten().collect();
        names.retain(|name| name.file_name() != "lost+found");
        assert_eq!(names.len(), 1, "only the old file: {ran:?}");
        assert!(std::fs::read(mounted.0.join("old")).unwrap() == old, "as before: {ran:?}");
        // But for a block of the file system's own, where a file's map has grown.
        assert!(free() + 4 >= before, "{} of {before} free: {ran:?}", free());
    }
}

#[test]
fn a_writer_overwrites_its_range_and_nothing_else() {
    let folder = Folder::new("writer");
    folder.write("f", vec![b'u'; 64 << 10]);
    let line =
        "--name=j --filename=f --rw=write --bs=4k --offset=16k --size=16k --buffer_pattern=0x41";
    Who::AsFio.run(&folder, &words(line)).well();
    let now = std::fs::read(folder.join("f")).unwrap();
    assert_eq!(now.len(), 64 << 10);
    for (at, byte) in now.iter().enumerate() {
        let expected = if (16 << 10..32 << 10).contains(&at) { b'A' } else { b'u' };
        assert_eq!(*byte, expected, "at {at}");
    }
}

#[test]
fn a_pipe_is_refused_and_stays() {
    let folder = Folder::new("fifo");
    let path = folder.join("p");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    for rw in ["read", "write"] {
        let line = format!("--name=j --filename=p --rw={rw} --size=64k --unlink=1");
        let program = Running::start(Who::AsFio, &folder, &line);
        let ran = program.end_within(PATIENCE);
        refused(&ran, "it is a pipe");
        assert!(path.exists());
    }
}

#[test]
fn names_in_job_files_do_not_command_a_terminal() {
    let folder = Folder::new("terminal");
    let name = "j\u{1b}[8m\u{1b}]0;title\u{7}";
    let file = folder.write(name, vec![1; 4096]);
    folder.write("job.fio", format!("[{name}]\nfilename={name}\nrw=read\ndescription={name}\n"));
    folder.write("wrong.fio", format!("[{name}]\nrw={name}\n{name}=1\n"));
    let lines = [
        &["job.fio"][..],
        &["wrong.fio"],
        &["explain", "job.fio"],
        &["explain", "wrong.fio"],
        &["--showcmd", "job.fio"],
        &["--debug=all", "job.fio"],
        &["--output-format=csv", "job.fio"],
        &["--output-format=json", "job.fio"],
        &["probe", &file],
        &["cache", &file],
        &["sbk", "-class", name],
        &["--name=n", &format!("--ioengine={name}")],
        &["report", name],
        &[name],
    ];
    for line in lines {
        let ran = Who::Native.run(&folder, line);
        let has_command = |text: &str| text.contains(['\u{1b}', '\u{7}']);
        assert!(!has_command(&ran.stdout) && !has_command(&ran.stderr), "{ran:?}");
    }
    let ran = Who::AsFio.run(&folder, &["job.fio"]);
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran:?}");
}

#[test]
fn no_exec_refuses_all_that_starts_programs_before_anything_runs() {
    let folder = Folder::new("no-exec");
    folder.write("f", vec![1; 4096]);
    let job = "[a]\nfilename=f\nrw=read\nexec_prerun=touch ran\n[b]\nioengine=exec\nprogram=touch\n\
               arguments=ran\n[c]\nioengine=external:./ran.so\nfilename=f\nrw=read\n";
    folder.write("job.fio", job);
    let ran = Who::Native.run(&folder, &["--no-exec", "job.fio"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for place in ["job.fio:4:", "job.fio:6:", "job.fio:10:"] {
        assert!(ran.stderr.contains(place), "{place}: {ran:?}");
    }
    assert!(!folder.names().contains(&"ran".to_owned()), "{ran:?}");
    let read = ["--no-exec", "--name=r", "--filename=f", "--rw=read"];
    Who::Native.run(&folder, &read).well();
    let trigger = Who::Native.run(&folder, &[&read[..], &["--trigger=touch ran"]].concat());
    assert!(trigger.stderr.contains("--trigger starts a program"), "{trigger:?}");
    for help in ["--enghelp=./ran.so", "--enghelp=external:./ran.so"] {
        for line in [["--no-exec", help], [help, "--no-exec"]] {
            let ran = Who::Native.run(&folder, &line);
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.stderr.contains("--enghelp loads an object"), "{ran:?}");
        }
    }
}
