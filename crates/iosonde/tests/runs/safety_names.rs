//! Names that a run is given besides the files of its jobs: what is there stays.

use super::safety::refused;
use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, LoopDevice, is_root, or_skip, run, skip};
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

const NULL_JOB: &str = "--name=j --ioengine=null --size=64k --rw=read";
const BOTH: [Who; 2] = [Who::Native, Who::AsFio];

fn ran(who: Who, folder: &Folder, line: &str) -> Ran {
    who.run(folder, &words(line))
}

/// A second node of a device, in a folder.
fn node(device: &LoopDevice, path: &Path) {
    let number = std::fs::metadata(&device.0).unwrap().rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    run("mknod", &[path.to_str().unwrap(), "b", &major.to_string(), &minor.to_string()]).unwrap();
}

#[test]
fn a_trigger_file_that_is_there_and_holds_data_is_not_removed() {
    let folder = Folder::new("trigger-there");
    folder.write("data", "precious");
    symlink("data", folder.join("link")).unwrap();
    let job = format!("{NULL_JOB} --time_based --runtime=600");
    for who in BOTH {
        for (name, why) in [
            ("data", "it holds data: name a file that is not there yet"),
            ("link", "it holds data: name a file that is not there yet"),
            ("/dev/null", "no job removes such a name"),
        ] {
            refused(&ran(who, &folder, &format!("{job} --trigger-file={name}")), why);
        }
    }
    assert_eq!(folder.read("data"), "precious");
    // What a run before left behind ends this one at once, as ever.
    folder.write("empty", "");
    ran(Who::Native, &folder, &format!("{job} --trigger-file=empty")).well();
    assert!(!folder.join("empty").exists() && folder.join("link").is_symlink());
    let Some(device) = LoopDevice::formatted(&folder, "ext4", 16 << 20) else { return };
    node(&device, &folder.join("node"));
    for who in BOTH {
        let line = format!("{job} --trigger-file=node");
        refused(&ran(who, &folder, &line), "no job removes such a name");
    }
    assert!(folder.join("node").metadata().unwrap().file_type().is_block_device());
}

#[test]
fn live_objects_replace_a_link_and_not_what_it_leads_to() {
    let folder = Folder::new("live-link");
    let job = format!("{NULL_JOB} --force --live=json --live-file=link");
    folder.write("data", "precious");
    symlink("data", folder.join("link")).unwrap();
    ran(Who::Native, &folder, &job).well();
    assert_eq!(folder.read("data"), "precious");
    assert!(folder.read("link").starts_with('{'), "{}", folder.read("link"));
    let Some(device) = LoopDevice::formatted(&folder, "ext4", 16 << 20) else { return };
    let before = std::fs::read(&device.0).unwrap();
    std::fs::remove_file(folder.join("link")).unwrap();
    symlink(&device.0, folder.join("link")).unwrap();
    ran(Who::Native, &folder, &job).well();
    // By a descriptor: a link of /proc, which nobody can remove.
    let mut command = Who::Native.command(&folder);
    let words = words(&job.replace("--live-file=link", "--live-file=/proc/self/fd/0"));
    let device_file = std::fs::File::options().read(true).write(true).open(&device.0).unwrap();
    let ended = command.args(words).stdin(device_file).output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert!(std::fs::read(&device.0).unwrap() == before, "not a byte was changed");
}

#[test]
fn what_a_run_is_read_from_is_not_what_it_writes_to() {
    let folder = Folder::new("inputs");
    let job = "[j]\nioengine=null\nrw=read\nsize=64k\ninclude more\n";
    folder.write("job", job);
    folder.write("more", "bs=8k\n");
    folder.write("writer", "[w]\nrw=write\nsize=4k\nfilename=./writer\n");
    std::fs::hard_link(folder.join("job"), folder.join("second")).unwrap();
    let log = "fio version 2 iolog\ndata add\ndata open\ndata read 0 4096\ndata close\n";
    folder.write("log", log);
    folder.write("data", vec![0; 4096]);
    let why = "the run is read from it";
    for who in BOTH {
        for line in [
            "job --output=./job",
            "job --output=second",
            "job --output=more",
            "job --write_iolog=job",
            "writer",
            "--name=r --read_iolog=log --write_iolog=log",
            "--name=r --read_iolog=log --output=log",
        ] {
            refused(&ran(who, &folder, line), why);
        }
    }
    for output in ["--html", "--metrics-file", "--live=json --live-file"] {
        refused(&ran(Who::Native, &folder, &format!("job --force {output}=more")), why);
    }
    assert_eq!([folder.read("job"), folder.read("log")], [job, log]);
    assert_eq!(folder.read("more"), "bs=8k\n");
    ran(Who::Native, &folder, "job --output=report").well();
}

#[test]
fn files_of_the_kernel_and_other_devices_than_terminals_get_no_data_and_no_report() {
    let folder = Folder::new("kernel-files");
    // A process may set its own name, and nothing else hangs on it.
    for who in BOTH {
        let why = "it is a file of proc";
        let write = "--name=j --rw=write --bs=4 --size=4 --fallocate=none --filename";
        for name in ["/proc/self/comm", "/proc/thread-self/comm"] {
            refused(&ran(who, &folder, &format!("{write}={name}")), why);
            refused(&ran(who, &folder, &format!("{NULL_JOB} --output={name}")), why);
            refused(&ran(who, &folder, &format!("{NULL_JOB} --write_iolog={name}")), why);
        }
        ran(who, &folder, &format!("{NULL_JOB} --output=/proc/self/fd/1")).well();
        ran(who, &folder, &format!("{NULL_JOB} --output=/dev/null")).well();
        if Path::new("/dev/kmsg").exists() {
            let line = format!("{NULL_JOB} --output=/dev/kmsg");
            refused(&ran(who, &folder, &line), "it is a character device");
        }
    }
    // A file without a name is found by a link of /proc, and lies elsewhere.
    let unnamed = std::fs::File::create_new(folder.join("gone")).unwrap();
    std::fs::remove_file(folder.join("gone")).unwrap();
    let line = "--name=j --rw=write --bs=4k --size=4k --fallocate=none --filename=/proc/self/fd/0";
    let file = unnamed.try_clone().unwrap();
    let ended = Who::Native.command(&folder).args(words(line)).stdin(file).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(unnamed.metadata().unwrap().len(), 4096);
}

#[test]
fn a_file_that_becomes_a_device_while_the_run_goes_on_is_not_written_to() {
    let folder = Folder::new("becomes-device");
    let Some(device) = LoopDevice::formatted(&folder, "ext4", 16 << 20) else { return };
    let before = std::fs::read(&device.0).unwrap();
    for who in BOTH {
        let names = [format!("first.{who:?}"), format!("second.{who:?}")];
        let line = format!(
            "--name=j --rw=write --bs=4k --size=128k --openfiles=1 --filename={}",
            names.join(":")
        );
        let prerun = format!("--exec_prerun=ln -sf {} {}", device.text(), names[1]);
        let mut words = words(&line);
        words.push(prerun);
        let ran = who.run(&folder, &words);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("it became a block device after the run had begun"), "{ran:?}");
    }
    assert!(std::fs::read(&device.0).unwrap() == before, "not a byte was changed");
}

#[test]
fn commands_make_no_files_among_devices() {
    if !is_root("make files in /dev") {
        return;
    }
    let folder = Folder::new("among-devices");
    let names = || {
        let all = std::fs::read_dir("/dev").unwrap();
        let ours = |name: &String| name.contains("iosonde");
        all.filter_map(|entry| entry.unwrap().file_name().into_string().ok()).filter(ours).count()
    };
    for line in ["meta /dev --files=2", "quick /dev --seconds=1", "selftest /dev", "matrix /dev"] {
        let ran = ran(Who::Native, &folder, line);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("no file is made among devices"), "{ran:?}");
    }
    assert_eq!(names(), 0);
}

#[test]
fn the_image_of_a_loop_device_without_a_node_is_not_written_to() {
    let folder = Folder::new("no-node");
    let Some(device) = LoopDevice::formatted(&folder, "ext4", 16 << 20) else { return };
    let before = std::fs::read(&device.0).unwrap();
    let program = Who::Native.command(&folder).get_program().to_owned();
    let job = "--name=j --filename=image --rw=write --bs=4k --size=64k";
    let script = format!(
        "cd {} && mount -t tmpfs none /dev && mknod /dev/null c 1 3 && touch ready && exec {} {job}",
        folder.path().display(),
        program.display()
    );
    let mut unshare = std::process::Command::new("unshare");
    let ended = unshare.args(["--mount", "sh", "-c", &script]).output();
    let ended = or_skip(ended.map_err(|error| format!("unshare: {error}")));
    let Some(ended) = ended else { return };
    if !folder.join("ready").exists() {
        skip!("no tmpfs over /dev in another namespace: {ended:?}");
    }
    let error = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{error}");
    assert!(error.contains("whether that is mounted cannot be seen"), "{error}");
    assert!(std::fs::read(&device.0).unwrap() == before, "not a byte was changed");
}

#[test]
fn a_socket_that_somebody_listens_at_and_a_file_that_is_no_pidfile_stay() {
    let folder = Folder::new("sockets");
    let listener = UnixListener::bind(folder.join("socket")).unwrap();
    let inode = || std::fs::symlink_metadata(folder.join("socket")).unwrap().ino();
    let before = inode();
    let listen = "--name=j --ioengine=net --protocol=unix --filename=socket --rw=read --size=4k";
    for who in BOTH {
        let refusal = ran(who, &folder, listen);
        assert_ne!(refusal.code, Some(0), "{refusal:?}");
        let server = ran(who, &folder, "--server=sock:socket");
        assert_eq!(server.code, Some(1), "{server:?}");
    }
    assert_eq!(inode(), before);
    drop(listener);
    folder.write("notes", "precious");
    for who in BOTH {
        let line = "--server=sock:other --daemonize=notes";
        let server = ran(who, &folder, line);
        assert_eq!(server.code, Some(1), "{server:?}");
        assert!(server.stderr.contains("notes: it exists and is no pidfile"), "{server:?}");
        assert!(!folder.join("other").exists(), "it did not listen");
    }
    assert_eq!(folder.read("notes"), "precious");
}

#[test]
fn all_files_that_lose_data_are_named_before_the_run() {
    let folder = Folder::new("named");
    let named = |line: &str, name: &str| {
        folder.write(name, "precious");
        let ran = ran(Who::Native, &folder, line);
        let first = [&ran.stdout, &ran.stderr].map(|text| text.lines().next().unwrap_or(""));
        let is_first = |line: &&str| line.contains(name) && line.contains(": ");
        assert!(first.iter().any(is_first), "{ran:?}");
    };
    named(&format!("{NULL_JOB} --bandwidth-log=all"), "all-read_bw.log");
    named(&format!("{NULL_JOB} --exec_prerun=true"), "j.prerun.txt");
    named(&format!("{NULL_JOB} --exec_postrun=true"), "j.postrun.txt");
    named("--name=j --ioengine=exec --program=/bin/true", "j.stdout");
    named("--name=j --ioengine=exec --program=/bin/true", "j.stderr");
    let verify = "--name=j --filename=f --rw=write --bs=4k --size=8k --verify=crc32c";
    named(verify, "local-j-0-verify.state");
    // A state is replaced by each run, and is nothing else.
    let again = ran(Who::Native, &folder, verify).well();
    assert!(!again.stdout.contains("replaced"), "{again:?}");
    named("--name=j --ioengine=null --rw=write --size=4k --mem=mmapshared:pages", "pages");
    named(
        "sbk -class null -writers 1 -size 100 -records 4 -out CSVLogger -csvfile table.csv",
        "table.csv",
    );
}
