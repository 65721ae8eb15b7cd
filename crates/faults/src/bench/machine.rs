//! What happens to devices and to the machine: a disk that shrinks, is detached
//! or frozen, a file system in memory that is full, a control group with little memory.

use super::before::content;
use super::report::Report;
use super::{Findings, SeedResult, Stage};
use iosonde_testing::{Folder, LoopDevice, Undo, filesystem, freeze, quoted, run as command};
use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

const DISK_BYTES: usize = 8 << 20;

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let scenes: [fn(Stage<'_>) -> Result<SeedResult, String>; 7] =
        [shrunk, detached, frozen, little_space, little_memory, quota, few_threads];
    let scene = stage.dice.pick(&scenes);
    scene(stage)
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn moment(stage: &mut Stage<'_>) -> Duration {
    Duration::from_millis(300 + stage.dice.below(700))
}

/// A disk of random content, and the file behind it.
fn disk(stage: &mut Stage<'_>) -> Result<(LoopDevice, std::path::PathBuf), String> {
    let image = stage.aside.join("disk");
    std::fs::write(&image, content(&mut stage.dice, DISK_BYTES))
        .map_err(|error| error.to_string())?;
    Ok((LoopDevice::attach(&image, &[])?, image))
}

/// The second half of a disk is gone: reads of it fail, and it is told.
fn shrunk(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let (device, image) = disk(&mut stage)?;
    let (moment, mut done) = (moment(&mut stage), false);
    let line = format!(
        "--name=j --output-format=json --filename={} --rw=randread --direct=1 --bs=4k \
         --ioengine={} --iodepth=4 --time_based=1 --runtime=60",
        device.text(),
        stage.dice.pick(&["psync", "libaio", "io_uring"])
    );
    let ended = stage.program.run_under(&[], &words(&line), |_, since| {
        if !done && since > moment {
            let shorter = OpenOptions::new().write(true).open(&image);
            let _ = shorter.and_then(|file| file.set_len(DISK_BYTES as u64 / 2));
            done = true;
        }
    });
    let mut findings = Findings::of(&ended);
    findings.must(ended.code != Some(0), || "half of the disk is gone, and it is fine".to_owned());
    findings.must(Report::of(&ended).is_some(), || "there is no report".to_owned());
    findings.must(ended.stderr.contains("Input/output error"), || {
        "no error message names the cause".to_owned()
    });
    Ok(SeedResult { injected: 1, findings: findings.end(), skipped: None })
}

/// A disk is detached while a job has it open: Linux keeps it until then.
fn detached(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let (device, _) = disk(&mut stage)?;
    let (moment, mut done) = (moment(&mut stage), false);
    let line = format!(
        "--name=j --output-format=json --filename={} --rw=randread --bs=4k --time_based=1 \
         --runtime=2",
        device.text()
    );
    let ended = stage.program.run_under(&[], &words(&line), |_, since| {
        if !done && since > moment {
            let _ = command("losetup", &["--detach", device.text()]);
            done = true;
        }
    });
    let mut findings = Findings::of(&ended);
    let told = Report::of(&ended).is_some() || !ended.stderr.is_empty();
    findings.must(told, || "neither a report nor a word".to_owned());
    Ok(SeedResult { injected: 1, findings: findings.end(), skipped: None })
}

/// A file system is frozen for a while: writes wait, and nothing is lost.
fn frozen(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let folder = Folder::within(&stage.aside, "ext4");
    let (_device, mounted) = filesystem(&folder, "ext4")?;
    let on = mounted.0.display().to_string();
    let (moment, mut frozen) = (moment(&mut stage), None);
    let mut thawed = false;
    let line = format!(
        "--name=j --output-format=json --filename={on}/data --rw=randwrite --bs=4k --size=4m \
         --verify=crc32c --fsync=64 --ioengine={} --iodepth=4 --rate=4m",
        stage.dice.pick(&["psync", "libaio", "io_uring"])
    );
    let ended = stage.program.run_under(&[], &words(&line), |_, since| {
        if !thawed && frozen.is_none() && since > moment {
            frozen = freeze(&on).ok();
        }
        if frozen.is_some() && since > moment + Duration::from_millis(700) {
            frozen = None;
            thawed = true;
        }
    });
    drop(frozen);
    let mut findings = Findings::of(&ended);
    findings.must(ended.code == Some(0), || format!("it ended with {:?}", ended.code));
    let count = |key| Report::of(&ended).map_or(0, |report| report.verify(key));
    findings.must(count("checked") == 1024 && count("wrong") == 0, || {
        format!("{} of 1024 blocks checked, {} wrong", count("checked"), count("wrong"))
    });
    Ok(SeedResult { injected: 1, findings: findings.end(), skipped: None })
}

/// A file system in memory of 1 MiB.
fn little_space(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let on = stage.mount.display().to_string();
    command("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs", &on])?;
    let _mounted = iosonde_testing::Mounted::at(stage.mount.clone());
    let pattern = stage.dice.pick(&["read", "randread", "write", "randwrite"]);
    let engine = stage.dice.pick(&["psync", "mmap", "io_uring", "libaio"]);
    let line = format!(
        "--name=j --output-format=json --filename={on}/data --rw={pattern} --bs=64k --size=4m \
         --ioengine={engine}"
    );
    let ended = stage.program.run(&words(&line));
    let mut findings = Findings::of(&ended);
    findings.must(ended.code != Some(0), || "4 MiB are in 1 MiB".to_owned());
    findings.must(!ended.stderr.is_empty(), || "no word of it".to_owned());
    let left = Path::new(&on).join("data").exists();
    findings
        .must(!left || pattern.ends_with("write"), || "a layout that failed is left".to_owned());
    Ok(SeedResult { injected: 1, findings: findings.end(), skipped: None })
}

/// A quota of 1 MiB, in a file system that has more room.
fn quota(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let folder = Folder::within(&stage.aside, "btrfs");
    let (_device, mounted) = filesystem(&folder, "btrfs")?;
    let on = mounted.0.display().to_string();
    command("btrfs", &["quota", "enable", &on])?;
    command("btrfs", &["qgroup", "limit", "1m", &on])?;
    let pattern = stage.dice.pick(&["read", "randread", "write", "randwrite"]);
    let engine = stage.dice.pick(&["psync", "libaio", "io_uring"]);
    let layout = stage.dice.pick(&["none", "posix"]);
    let line = format!(
        "--name=j --output-format=json --filename={on}/data --rw={pattern} --bs=64k --size=4m \
         --ioengine={engine} --fallocate={layout} --fsync=4"
    );
    let ended = stage.program.run(&words(&line));
    let mut findings = Findings::of(&ended);
    findings.must(ended.code != Some(0), || "4 MiB are in 1 MiB".to_owned());
    findings.must(ended.stderr.contains("quota"), || "no word of the quota".to_owned());
    let left = Path::new(&on).join("data").exists();
    findings
        .must(!left || pattern.ends_with("write"), || "a layout that failed is left".to_owned());
    Ok(SeedResult { injected: 1, findings: findings.end(), skipped: None })
}

/// More jobs than a control group lets a program have threads.
fn few_threads(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let most = 2 + stage.dice.below(20);
    let group = Group::new(stage.seed, PROCESSES, &most.to_string())?;
    let engine = stage.dice.pick(&["psync", "posixaio", "io_uring"]);
    let file = stage.mount.join("data");
    let line = format!(
        "--name=j --output-format=json --filename={} --ioengine={engine} --rw=write --bs=4k \
         --size=256k --numjobs=40 --iodepth=4",
        file.display()
    );
    let ended = stage.program.run_under(&group.enter(), &words(&line), |_, _| ());
    let mut findings = Findings::of(&ended);
    findings.must(ended.code != Some(0), || format!("40 jobs are in {most} threads"));
    findings.must(!ended.stderr.is_empty(), || "no word of it".to_owned());
    Ok(SeedResult { injected: 1, findings: findings.end(), skipped: None })
}

/// Buffers that the control group has no room for.
fn little_memory(stage: Stage<'_>) -> Result<SeedResult, String> {
    let group = Group::new(stage.seed, MEMORY, "67108864")?;
    let file = stage.mount.join("data");
    let line = format!(
        "--name=j --output-format=json --filename={} --ioengine=libaio --rw=write --bs=16m \
         --size=512m --iodepth=16 --numjobs=2 --group_reporting",
        file.display()
    );
    let ended = stage.program.run_under(&group.enter(), &words(&line), |_, _| ());
    let mut findings = Findings::of(&ended);
    findings.must(ended.code != Some(0), || "512 MiB are in 64 MiB".to_owned());
    findings.must(ended.stderr.contains("memory"), || "no word of memory".to_owned());
    Ok(SeedResult { injected: 1, findings: findings.end(), skipped: None })
}

/// Where control groups that limit something are, and the file of the limit: in
/// version 2 and in version 1.
type LimitFiles = [(&'static str, &'static str); 2];

const MEMORY: LimitFiles =
    [("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")];
const PROCESSES: LimitFiles = [("/sys/fs/cgroup", "pids.max"), ("/sys/fs/cgroup/pids", "pids.max")];

/// A control group of our own with a limit; removed when dropped.
struct Group {
    path: String,
    _undo: Undo,
}

impl Group {
    fn new(seed: u64, kinds: LimitFiles, limit: &str) -> Result<Group, String> {
        let name = format!("iosonde-faults-{}-{seed}", std::process::id());
        for (root, file) in kinds {
            let group = Path::new(root).join(&name);
            if !Path::new(root).join("cgroup.procs").exists() {
                continue;
            }
            std::fs::create_dir(&group).map_err(|error| format!("{}: {error}", group.display()))?;
            let undo = Undo::by(&format!("again rmdir {}", quoted(&group)));
            std::fs::write(group.join(file), limit)
                .map_err(|error| format!("{}: {file}: {error}", group.display()))?;
            let group = Group { path: group.display().to_string(), _undo: undo };
            return Ok(group);
        }
        Err(format!("no control group that has {}", kinds[0].1))
    }

    /// The words before a command line that runs it in the group.
    fn enter(&self) -> Vec<String> {
        let script = "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"";
        ["sh", "-c", script, &self.path].map(str::to_owned).into()
    }
}
