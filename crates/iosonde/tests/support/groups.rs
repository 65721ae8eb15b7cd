//! Control groups of either version that hold a program back.

use iosonde_testing::{LoopDevice, Undo, quoted, skip};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

const ROOT: &str = "/sys/fs/cgroup";

/// A control group of a test's own. Taken away when it is dropped, by when
/// whoever was in it must have ended.
pub struct Group {
    folder: PathBuf,
    version: u32,
    _undo: Undo,
}

impl Group {
    /// For a controller, by its name in version 1; `None`, and said, where
    /// none can be made.
    pub fn of(controller: &str) -> Option<Group> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("iosonde-test-{}-{number}", std::process::id());
        let one = Path::new(ROOT).join(controller);
        if std::fs::create_dir(one.join(&name)).is_ok() {
            return Some(Group::made(one.join(name), 1));
        }
        for what in ["+cpu", "+memory", "+io"] {
            // May be on already, or may not be had: who needs it finds out.
            let _ = std::fs::write(Path::new(ROOT).join("cgroup.subtree_control"), what);
        }
        let folder = Path::new(ROOT).join(name);
        let made = folder.parent().is_some_and(|root| root.join("cgroup.controllers").exists())
            && std::fs::create_dir(&folder).is_ok();
        if !made {
            skip::test(format_args!("no control group can be created"));
        }
        made.then(|| Group::made(folder, 2))
    }

    fn made(folder: PathBuf, version: u32) -> Group {
        let undo = Undo::by(&format!("again rmdir {}", quoted(&folder)));
        Group { folder, version, _undo: undo }
    }

    /// Set a limit, in the words of version 1 or of version 2; whether it is
    /// taken. Says so if not.
    pub fn limit(&self, one: (&str, &str), two: (&str, &str)) -> bool {
        let (file, text) = if self.version == 1 { one } else { two };
        let set = std::fs::write(self.folder.join(file), text);
        if let Err(error) = &set {
            skip::test(format_args!("{file}: {error}"));
        }
        set.is_ok()
    }

    /// A program that runs in the group.
    pub fn command(&self, program: &str, arguments: &[String]) -> Command {
        within(&self.folder, program, arguments)
    }
}

fn within(folder: &Path, program: &str, arguments: &[String]) -> Command {
    let enter = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", folder.display());
    let mut command = Command::new("sh");
    command.args(["-c", &enter, "sh", program]).args(arguments);
    command
}

/// A loop device that takes so many bytes a second, whoever writes: the kernel
/// on behalf of a program, too, which version 1 throttles at its root only.
pub struct DeviceThrottle {
    group: Option<Group>,
    id: String,
}

const ROOT_WRITES: &str = "/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device";

impl DeviceThrottle {
    /// `None`, and said, where the kernel does not throttle.
    pub fn new(device: &LoopDevice, bytes_per_s: u64) -> Option<DeviceThrottle> {
        let id = format!("/sys/class/block/{}/dev", device.name());
        let id = std::fs::read_to_string(id).unwrap().trim().to_owned();
        let group = if Path::new(ROOT_WRITES).exists() { None } else { Some(Group::of("blkio")?) };
        let throttle = DeviceThrottle { group, id };
        throttle.set(bytes_per_s).then_some(throttle)
    }

    /// Set another rate.
    pub fn set(&self, bytes_per_s: u64) -> bool {
        let one = format!("{} {bytes_per_s}", self.id);
        match &self.group {
            Some(group) => {
                let two = format!("{} wbps={bytes_per_s}", self.id);
                group.limit(("blkio.throttle.write_bps_device", &one), ("io.max", &two))
            }
            None => {
                let set = std::fs::write(ROOT_WRITES, one);
                if let Err(error) = &set {
                    skip::test(format_args!("{ROOT_WRITES}: {error}"));
                }
                set.is_ok()
            }
        }
    }

    /// A program with writes that it throttles.
    pub fn command(&self, program: &str, arguments: &[String]) -> Command {
        match &self.group {
            Some(group) => group.command(program, arguments),
            None => within(Path::new(ROOT_WRITES).parent().unwrap(), program, arguments),
        }
    }
}

impl Drop for DeviceThrottle {
    fn drop(&mut self) {
        if self.group.is_none() {
            // The next file of this loop device would have it, too.
            self.set(0);
        }
    }
}
