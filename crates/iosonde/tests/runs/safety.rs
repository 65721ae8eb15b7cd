//! Files and devices that are not written to, under any of their names.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, LoopDevice, Mounted, Overlay, is_root, or_skip, run, skip, swap_on};
use rustix::process::Signal;
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;

/// A device with a file system on it.
fn formatted(folder: &Folder) -> Option<LoopDevice> {
    LoopDevice::formatted(folder, "ext4", 16 * MIB)
}

fn write_to(folder: &Folder, path: &Path, more: &str) -> Ran {
    let line =
        format!("--name=j --filename={} --rw=write --bs=4k --size=64k {more}", path.display());
    Who::AsFio.run(folder, &words(&line))
}

/// Refused before anything was done, for this reason.
#[track_caller]
pub fn refused(ran: &Ran, why: &str) {
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains(why), "{why}: {ran:?}");
    assert!(!ran.stdout.contains("groupid="), "no job ran: {ran:?}");
}

fn contents(device: &LoopDevice) -> Vec<u8> {
    std::fs::read(&device.0).unwrap()
}

#[test]
fn a_mounted_device_is_not_written_to_under_any_name() {
    let folder = Folder::new("mounted");
    let Some(device) = formatted(&folder) else { return };
    let Some(mounted) = or_skip(Mounted::mount(&device.0, &folder.join("on"))) else { return };
    let before = contents(&device);
    let why = format!("is mounted on {}", mounted.0.display());

    refused(&write_to(&folder, &device.0, ""), &why);
    let link = folder.join("by-id-link");
    std::os::unix::fs::symlink(&device.0, &link).unwrap();
    refused(&write_to(&folder, &link, ""), &why);
    let number = std::os::unix::fs::MetadataExt::rdev(&std::fs::metadata(&device.0).unwrap());
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let alias = folder.join("alias");
    run("mknod", &[alias.to_str().unwrap(), "b", &major.to_string(), &minor.to_string()]).unwrap();
    refused(&write_to(&folder, &alias, ""), &why);
    // The file that the device shows is the same storage.
    refused(&write_to(&folder, &folder.join("image"), ""), &why);
    // One of several is enough, and trims destroy as well.
    let both = format!(
        "--name=a --filename=x --rw=write --size=4k --name=b --rw=randtrim --size=64k --filename={}",
        device.text()
    );
    refused(&Who::AsFio.run(&folder, &words(&both)), &why);
    assert!(!folder.join("x").exists(), "nothing was done to the other file");

    assert!(contents(&device) == before, "not a byte was changed");
}

#[test]
fn the_image_of_a_mounted_loop_device_is_known_under_any_path() {
    let folder = Folder::new("image-paths");
    if !is_root("attach devices") {
        return;
    }
    let of = |name: &str| folder.join(name);
    let overlay = Overlay::in_folder(folder.path());
    let image = folder.image("upper/image", 16 * MIB);
    if or_skip(run("mkfs.ext4", &["-q", image.to_str().unwrap()])).is_none() {
        return;
    }
    let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let Some(mounted) = or_skip(Mounted::mount(&device.0, &of("on"))) else { return };
    let before = contents(&device);
    let why = format!("is mounted on {}", mounted.0.display());
    if let Some(merged) = or_skip(overlay.mount("")) {
        refused(&write_to(&folder, &merged.0.join("image"), ""), &why);
    }
    // The path that sysfs has leads nowhere: it is the one of another mount namespace.
    let [lower, upper] = [&overlay.lower, &overlay.upper].map(|layer| layer.display());
    let namespace = format!("mount --bind {upper} {lower} && losetup --find --show {lower}/image",);
    let Some(second) = or_skip(run("unshare", &["--mount", "sh", "-c", &namespace])) else {
        return;
    };
    let second = LoopDevice::attached(second.into());
    assert!(contents(&device) == before, "not a byte was changed");
    drop(mounted);
    let Some(_mounted) = or_skip(Mounted::mount(&second.0, &of("on"))) else { return };
    let before = contents(&second);
    refused(&write_to(&folder, &image, ""), &why);
    let link = of("hard-link");
    std::fs::hard_link(&image, &link).unwrap();
    refused(&write_to(&folder, &link, ""), &why);
    assert!(contents(&second) == before, "not a byte was changed");
}

#[test]
fn the_image_of_a_loop_device_mounted_in_another_namespace_is_not_written_to() {
    let folder = Folder::new("image-elsewhere");
    let Some(device) = formatted(&folder) else { return };
    let (image, on) = (folder.join("image"), folder.join("on"));
    std::fs::create_dir(&on).unwrap();
    let script = format!(
        "mount {} {} && touch {} && exec sleep 600",
        device.text(),
        on.display(),
        folder.join("mounted").display()
    );
    let elsewhere =
        std::process::Command::new("unshare").args(["--mount", "sh", "-c", &script]).spawn();
    let elsewhere = elsewhere.map_err(|error| format!("unshare: {error}"));
    let Some(mut elsewhere) = or_skip(elsewhere) else { return };
    wait_until("it is mounted", || folder.join("mounted").exists());
    let before = std::fs::read(&image).unwrap();
    for path in [&image, &device.0] {
        refused(&write_to(&folder, path, ""), "is held by another program or by the system");
    }
    let line = format!("--name=j --rw=read --ioengine=filedelete --filename={}", image.display());
    for who in [Who::Native, Who::AsFio] {
        refused(&who.run(&folder, &words(&line)), "is held by another program");
    }
    let second = or_skip(LoopDevice::attach(&image, &[]));
    if let Some(second) = &second {
        refused(&write_to(&folder, &second.0, ""), "is held by another program");
    }
    let same = std::fs::read(&image).unwrap() == before;
    elsewhere.kill().unwrap();
    elsewhere.wait().unwrap();
    assert!(same, "not a byte was changed");
    drop(second);
    let freed = || write_to(&folder, &image, "--offset=8m").code == Some(0);
    wait_until("the image of a loop device that nobody uses may be written", freed);
}

#[test]
fn engines_that_remove_or_make_names_leave_device_nodes_alone() {
    let folder = Folder::new("nodes");
    let Some(device) = formatted(&folder) else { return };
    let link = folder.join("by-id-link");
    std::os::unix::fs::symlink(&device.0, &link).unwrap();
    let before = contents(&device);
    for who in [Who::Native, Who::AsFio] {
        for path in [&device.0, &link] {
            for engine in ["filedelete", "dirdelete"] {
                let path = path.display();
                let line = format!("--name=j --rw=read --ioengine={engine} --filename={path}");
                refused(&who.run(&folder, &words(&line)), "no job removes such a name");
            }
        }
        for engine in
            ["filecreate", "dircreate", "filestat", "tree --tree_op=create --tree_root=/dev"]
        {
            let node = format!("/dev/iosonde-test-{}", std::process::id());
            let more = if engine.starts_with("tree") {
                String::new()
            } else {
                format!("--filename={node}")
            };
            let line = format!("--name=j --rw=read --size=4k --bs=4k --ioengine={engine} {more}");
            refused(&who.run(&folder, &words(&line)), "no file is made among devices");
            assert!(!Path::new(&node).exists(), "{engine}");
        }
    }
    assert!(device.0.exists() && link.is_symlink() && contents(&device) == before);
    // unlink leaves a device's node, and the job runs.
    write_to(&folder, &device.0, "--offset=8m --unlink=1").well();
    assert!(device.0.exists());
}

#[test]
fn buffers_in_a_mapped_device_are_guarded_as_files_are() {
    let folder = Folder::new("mapped");
    let Some(device) = formatted(&folder) else { return };
    let before = contents(&device);
    let line = |kind: &str| {
        format!("--name=j --ioengine=null --size=64k --iomem={kind}:{}", device.text())
    };
    let ran = Who::Native.run(&folder, &words(&line("mmapshared")));
    refused(&ran, "it holds an ext4 file system");
    assert!(contents(&device) == before, "not a byte was changed");
    let Some(mounted) = or_skip(Mounted::mount(&device.0, &folder.join("on"))) else { return };
    refused(&Who::AsFio.run(&folder, &words(&line("mmapshared"))), "is mounted on");
    drop(mounted);
}

#[test]
fn verify_states_and_outputs_of_programs_do_not_go_to_block_devices() {
    let folder = Folder::new("outputs-links");
    let Some(device) = formatted(&folder) else { return };
    let before = contents(&device);
    for name in ["local-k-0-verify.state", "m.stdout", "m.stderr"] {
        std::os::unix::fs::symlink(&device.0, folder.join(name)).unwrap();
    }
    let job = "--name=k --filename=data --rw=write --bs=4k --size=64k --verify=crc32c";
    for who in [Who::Native, Who::AsFio] {
        let ran = who.run(&folder, &words(job));
        refused(&ran, "it is a block device, and reports and logs go to files");
        let ran = who
            .run(&folder, &words("--name=m --ioengine=exec --program=/bin/echo --arguments=hello"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("open a file for the program's output"), "{ran:?}");
    }
    assert_eq!(contents(&device), before);
}

#[test]
fn reports_and_logs_do_not_go_to_block_devices_or_images_in_use() {
    let folder = Folder::new("outputs");
    let Some(device) = formatted(&folder) else { return };
    let before = contents(&device);
    let job = "--name=j --ioengine=null --size=64k";
    for who in [Who::Native, Who::AsFio] {
        for option in ["--output", "--write_iolog"] {
            let ran = who.run(&folder, &words(&format!("{job} {option}={}", device.text())));
            refused(&ran, "it is a block device, and reports and logs go to files");
        }
    }
    let link = folder.join("log_bw.1.log");
    std::os::unix::fs::symlink(&device.0, &link).unwrap();
    let ran = Who::AsFio.run(&folder, &words(&format!("{job} --write_bw_log=log")));
    refused(&ran, "it is a block device");
    let aggregate = folder.join("agg-read_bw.log");
    std::os::unix::fs::symlink(&device.0, &aggregate).unwrap();
    let ran = Who::AsFio.run(&folder, &words(&format!("{job} --bandwidth-log")));
    refused(&ran, "it is a block device");
    let sbk = format!(
        "sbk -class null -writers 1 -size 4096 -records 4 -out CSVLogger -csvfile {}",
        device.text()
    );
    refused(&Who::Native.run(&folder, &words(&sbk)), "it is a block device");
    assert!(contents(&device) == before, "not a byte was changed");

    let Some(_mounted) = or_skip(Mounted::mount(&device.0, &folder.join("on"))) else { return };
    for option in ["--output=image", "--write_iolog=image"] {
        refused(&Who::AsFio.run(&folder, &words(&format!("{job} {option}"))), "is mounted on");
    }
    let to_terminal = format!("{job} --output=/dev/stderr");
    let ran = Who::AsFio.run(&folder, &words(&to_terminal)).well();
    assert!(ran.stderr.contains("groupid="), "{ran:?}");
}

#[test]
fn outputs_of_commands_triggers_and_checks_do_not_go_to_block_devices() {
    let folder = Folder::new("outputs-more");
    let Some(device) = formatted(&folder) else { return };
    let before = contents(&device);
    let links = ["p.prerun.txt", "local-t-0-verify.state", "data.0.received"];
    for name in links {
        std::os::unix::fs::symlink(&device.0, folder.join(name)).unwrap();
    }
    for who in [Who::Native, Who::AsFio] {
        let why = "it is a block device, and reports and logs go to files";
        let line = "--name=p --ioengine=null --size=4k --exec_prerun=true";
        let ran = who.run(&folder, &words(line));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
        let line = "--name=t --ioengine=null --size=4k --time_based --runtime=600 \
                    --trigger-timeout=1 --trigger=true";
        let ran = who.run(&folder, &words(line));
        assert!(ran.stderr.contains("cannot write the state file"), "{ran:?}");
        let line = "--name=d --filename=data --rw=write --bs=4k --size=64k --verify=crc32c \
                    --verify_state_save=0";
        who.run(&folder, &words(line)).well();
        let mut data = std::fs::read(folder.join("data")).unwrap();
        data[100] ^= 1;
        folder.write("data", data);
        let ran = who.run(&folder, &words(&format!("{line} --verify_only=1 --verify_dump=1")));
        assert!(
            ran.stderr.contains("cannot write ./data.0.received")
                || ran.stderr.contains("cannot write data.0.received"),
            "{ran:?}"
        );
    }
    assert!(contents(&device) == before, "not a byte was changed");
}

#[test]
fn force_replaces_files_and_no_devices() {
    let folder = Folder::new("outputs-force");
    let Some(device) = formatted(&folder) else { return };
    let before = contents(&device);
    let number = std::os::unix::fs::MetadataExt::rdev(&std::fs::metadata(&device.0).unwrap());
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let node = folder.join("node");
    run("mknod", &[node.to_str().unwrap(), "b", &major.to_string(), &minor.to_string()]).unwrap();
    run("mkfifo", &[folder.join("pipe").to_str().unwrap()]).unwrap();
    let job = "--name=j --ioengine=null --size=64k --force";
    for output in ["--html", "--metrics-file", "--live=json --live-file"] {
        let ran = Who::Native.run(&folder, &words(&format!("{job} {output}=node")));
        refused(&ran, "node: it is not a regular file, and stays as it is");
    }
    let ran = Who::Native.run(&folder, &words(&format!("{job} --html=pipe")));
    refused(&ran, "pipe: it is not a regular file, and stays as it is");
    use std::os::unix::fs::FileTypeExt;
    let kind = |name: &str| std::fs::symlink_metadata(folder.join(name)).unwrap().file_type();
    assert!(kind("node").is_block_device() && kind("pipe").is_fifo());
    assert!(contents(&device) == before, "not a byte was changed");
    let Some(_mounted) = or_skip(Mounted::mount(&device.0, &folder.join("on"))) else { return };
    for (path, why) in
        [("/dev/iosonde-no-such-device", "no such device"), ("image", "is mounted on")]
    {
        refused(&Who::Native.run(&folder, &words(&format!("{job} --html={path}"))), why);
    }
}

#[test]
fn a_mounted_device_may_be_read() {
    let folder = Folder::new("read-mounted");
    let Some(device) = formatted(&folder) else { return };
    let Some(_mounted) = or_skip(Mounted::mount(&device.0, &folder.join("on"))) else { return };
    for more in ["", "--direct=1", "--readonly"] {
        let line =
            format!("--name=j --filename={} --rw=randread --bs=4k --size=1m {more}", device.text());
        let ran = Who::AsFio.run(&folder, &words(&line)).well();
        assert!(ran.stdout.contains("io=1024KiB"), "{ran:?}");
    }
    // So may its image, as far as it goes.
    let before = contents(&device);
    let line = |size: &str| words(&format!("--name=j --filename=image --rw=read --size={size}"));
    Who::Native.run(&folder, &line("1m")).well();
    refused(&Who::AsFio.run(&folder, &line("17m")), "is mounted on");
    assert!(contents(&device) == before, "not a byte was changed");
}

#[test]
fn allow_mounted_write_is_the_word_of_the_owner() {
    let folder = Folder::new("allowed");
    let Some(device) = formatted(&folder) else { return };
    let Some(_mounted) = or_skip(Mounted::mount(&device.0, &folder.join("on"))) else { return };
    // Past the file system's own blocks, to keep the kernel from complaining.
    let ran =
        write_to(&folder, &device.0, "--allow_mounted_write=1 --offset=8m --buffer_pattern=0x5a");
    if ran.stderr.contains("Operation not permitted") {
        skip!("this kernel itself refuses to write to mounted devices");
    }
    let ran = ran.well();
    assert!(ran.stdout.contains("io=64.0KiB"), "{ran:?}");
    assert!(contents(&device)[8 << 20..(8 << 20) + 65536].iter().all(|&byte| byte == 0x5a));
}

#[test]
fn a_device_with_a_mounted_partition_is_not_written_to() {
    let folder = Folder::new("partition");
    if !is_root("attach devices") {
        return;
    }
    let image = folder.image("image", 32 * MIB);
    // Set in the kernel, which need not read partition tables.
    let Some(device) = or_skip(LoopDevice::attach(&image, &["--partscan"])) else { return };
    if or_skip(run("addpart", &[device.text(), "1", "2048", "40960"])).is_none() {
        return;
    }
    let partition = PathBuf::from(format!("{}p1", device.text()));
    if !partition.exists() && or_skip(make_node(&partition, &device)).is_none() {
        return;
    }
    let made = or_skip(run("mkfs.ext4", &["-q", partition.to_str().unwrap()]));
    if made.is_none() {
        return;
    }
    let Some(_mounted) = or_skip(Mounted::mount(&partition, &folder.join("on"))) else { return };
    let ran = write_to(&folder, &device.0, "");
    refused(&ran, "is mounted on");
    assert!(ran.stderr.contains("p1, a partition of"), "{ran:?}");
    refused(&write_to(&folder, &partition, ""), "is mounted on");
}

/// Where nobody makes nodes of partitions, we do.
fn make_node(partition: &Path, device: &LoopDevice) -> Result<String, String> {
    let name = partition.file_name().unwrap().to_str().unwrap();
    let path = format!("/sys/block/{}/{name}/dev", device.name());
    let number = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let (major, minor) = number.trim().split_once(':').ok_or("no device number")?;
    run("mknod", &[partition.to_str().unwrap(), "b", major, minor])
}

#[test]
fn swap_is_not_written_to() {
    let folder = Folder::new("swap");
    if !is_root("swap") {
        return;
    }
    let image = folder.join("image");
    std::fs::write(&image, vec![0; 2 << 20]).unwrap();
    let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let Some(_swap) = or_skip(swap_on(&device.0)) else { return };
    refused(&write_to(&folder, &device.0, ""), "is swap");
    // That is not a mount, and not for allow_mounted_write to allow.
    refused(&write_to(&folder, &device.0, "--allow_mounted_write=1"), "is swap");
}

#[test]
fn a_device_that_another_is_made_of_is_not_written_to() {
    let folder = Folder::new("stacked");
    let Some(lower) = formatted(&folder) else { return };
    let Some(_upper) = or_skip(LoopDevice::attach(&lower.0, &[])) else { return };
    refused(&write_to(&folder, &lower.0, ""), "is shown by");
}

#[test]
fn a_free_device_is_written_to_and_kept_from_others_meanwhile() {
    let folder = Folder::new("free");
    let Some(device) = formatted(&folder) else { return };
    write_to(&folder, &device.0, "--offset=8m --buffer_pattern=0xa5 --end_fsync=1").well();
    assert!(contents(&device)[8 << 20..(8 << 20) + 65536].iter().all(|&byte| byte == 0xa5));

    let line = format!(
        "--name=held --filename={} --rw=randwrite --offset=8m --size=64k --time_based --runtime=60",
        device.text()
    );
    let mut program = Running::start(Who::AsFio, &folder, &line);
    let held = || {
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::EXCL;
        rustix::fs::open(&device.0, flags, rustix::fs::Mode::empty()).is_err()
    };
    wait_until("the device is held", held);
    assert!(Mounted::mount(&device.0, &folder.join("on")).is_err(), "not mounted meanwhile");
    assert!(run("mkfs.ext4", &["-q", device.text()]).is_err(), "not formatted meanwhile");
    program.signal(Signal::INT);
    assert_eq!(program.end_within(PATIENCE).code, Some(128));
    assert!(or_skip(Mounted::mount(&device.0, &folder.join("on"))).is_some(), "free again");
}

#[test]
fn a_device_with_a_file_system_is_written_to_only_after_the_word_of_its_owner() {
    let folder = Folder::new("erase");
    let Some(device) = formatted(&folder) else { return };
    let before = contents(&device);
    let line = format!("--name=j --filename={} --rw=write --bs=4k --size=64k", device.text());
    let native = |more: &str| Who::Native.run(&folder, &words(&format!("{more} {line}")));
    let why = format!("write to {}: it holds an ext4 file system", device.text());

    refused(&native(""), &why);
    refused(&native(""), "repeat its size: --erase=16M");
    refused(&native("--erase=17M"), "--erase=17M does not name it");
    let explained = native("explain").well();
    assert!(explained.stdout.contains("this run will be refused: write to"), "{explained:?}");
    assert!(explained.stdout.contains("it holds an ext4 file system"), "{explained:?}");
    let sbk = format!("sbk -class file -file {} -writers 1 -size 4096 -records 4", device.text());
    refused(&Who::Native.run(&folder, &words(&sbk)), &why);
    let reads = line.replace("rw=write", "rw=read");
    Who::Native.run(&folder, &words(&reads)).well();
    assert!(contents(&device) == before, "not a byte was changed");

    assert!(!native("explain --erase=16M").well().stdout.contains("refused"));
    native("--erase=16M").well();
    assert!(contents(&device) != before);
    native("").well(); // The signature is gone.
    Who::Native.run(&folder, &words(&format!("{sbk} -erase 16m"))).well();
}

#[test]
fn a_file_system_on_a_partition_protects_its_disk() {
    let folder = Folder::new("erase-partition");
    let Some(device) = formatted(&folder) else { return };
    // One that starts where the file system is not, and one where it is.
    let add = |number, start| run("addpart", &[device.text(), number, start, "16384"]);
    let zeros = vec![0; 64 << 10];
    std::os::unix::fs::FileExt::write_all_at(
        &std::fs::File::options().write(true).open(&device.0).unwrap(),
        &zeros,
        0,
    )
    .unwrap();
    let image = folder.image("part", 8 * MIB);
    run("mkfs.ext4", &["-q", image.to_str().unwrap()]).unwrap();
    let mut whole = contents(&device);
    whole[MIB as usize..9 * MIB as usize].copy_from_slice(&std::fs::read(&image).unwrap());
    std::fs::write(&device.0, &whole).unwrap();
    let line = format!("--name=j --filename={} --rw=write --size=64k", device.text());
    if or_skip(add("1", "2048")).is_none() {
        return;
    }
    let refusal = Who::Native.run(&folder, &words(&line));
    let _ = run("delpart", &[device.text(), "1"]);
    refused(&refusal, "it holds an ext4 file system on /dev/loop");
}

#[test]
fn as_fio_a_device_with_a_file_system_is_written_to_with_a_note() {
    let folder = Folder::new("erase-as-fio");
    let Some(device) = formatted(&folder) else { return };
    let ran = write_to(&folder, &device.0, "").well();
    let note = format!("fio: {} holds an ext4 file system, and is written to", device.text());
    assert!(ran.stderr.contains(&note), "{ran:?}");
    let ran = write_to(&folder, &device.0, "").well();
    assert!(ran.stderr.is_empty(), "the signature is gone: {ran:?}");
}

#[test]
fn a_device_that_ends_early_bounds_the_job() {
    let folder = Folder::new("end");
    let Some(device) = formatted(&folder) else { return };
    let line = format!("--name=j --filename={} --rw=read --bs=1m --direct=1", device.text());
    let ran = Who::AsFio.run(&folder, &words(&line)).well();
    assert!(ran.stdout.contains("io=16.0MiB"), "{ran:?}");
}
