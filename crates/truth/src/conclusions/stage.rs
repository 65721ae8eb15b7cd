//! Devices and file systems of which it is known how fast they are.

use iosonde_testing::{LoopDevice, Mounted, Undo, quoted, run};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where a run does its I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StagePlace {
    /// Nowhere.
    None,
    /// A directory on ext4.
    Files,
    /// A directory on ext4 of 16 MiB.
    Small,
    /// A device of memory.
    Memory,
    /// A device on which each request takes so many milliseconds.
    Slow(u32),
    /// The same as a file on FUSE.
    SlowFile(u32),
    /// A device of which every read fails.
    Failing,
    /// A device of which every second read fails.
    HalfFailing,
}

/// A place that was made.
pub(super) struct Made {
    /// The directory, device or file.
    pub(super) on: String,
    /// The number of the device, as control groups name it.
    pub(super) id: String,
    /// The number of the process that serves it.
    pub(super) server: String,
    /// What is behind it: dropped in this order.
    _parts: (Option<Mounted>, Option<LoopDevice>, Vec<Undo>),
}

/// The places of the table, each made when it is first asked for.
pub(super) struct Stage {
    directory: PathBuf,
    made: BTreeMap<StagePlace, Made>,
}

impl Stage {
    /// In a directory of its own.
    pub(super) fn new(directory: &Path) -> Stage {
        Stage { directory: directory.to_owned(), made: BTreeMap::new() }
    }

    pub(super) fn get(&mut self, place: StagePlace) -> Result<&Made, String> {
        if !self.made.contains_key(&place) {
            let made = self.make(place)?;
            self.made.insert(place, made);
        }
        Ok(&self.made[&place])
    }

    fn make(&self, place: StagePlace) -> Result<Made, String> {
        let none = |on: String| Made {
            on,
            id: String::new(),
            server: String::new(),
            _parts: (None, None, Vec::new()),
        };
        match place {
            StagePlace::None => Ok(none(String::new())),
            StagePlace::Files => self.ext4("files", 256 << 20),
            StagePlace::Small => self.ext4("small", 16 << 20),
            StagePlace::Memory => self.of_memory(),
            StagePlace::Slow(ms) => self.served(&format!("slow{ms}"), &delay(ms), true),
            StagePlace::SlowFile(ms) => self.served(&format!("slow-file{ms}"), &delay(ms), false),
            StagePlace::Failing => {
                self.served("failing", "--filter=error memory 16M error-pread-rate=100%", true)
            }
            StagePlace::HalfFailing => {
                self.served("half", "--filter=error memory 16M error-pread-rate=50%", true)
            }
        }
    }

    fn image(&self, at: &Path, bytes: u64) -> Result<PathBuf, String> {
        let path = at.join("image");
        let made = File::create(&path).and_then(|file| file.set_len(bytes));
        made.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.directory.join(name);
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    fn ext4(&self, name: &str, bytes: u64) -> Result<Made, String> {
        let folder = self.folder(name)?;
        let image = self.image(&folder, bytes)?;
        run("mkfs.ext4", &["-q", "-F", "-E", "lazy_itable_init=0", &image.display().to_string()])?;
        let device = LoopDevice::attach(&image, &["--direct-io=on"])?;
        let on = self.folder(&format!("{name}/on"))?;
        let mounted = Mounted::mount(&device.0, &on)?;
        let id = id_of(&device)?;
        let on = on.display().to_string();
        let server = String::new();
        Ok(Made { on, id, server, _parts: (Some(mounted), Some(device), Vec::new()) })
    }

    fn of_memory(&self) -> Result<Made, String> {
        let folder = self.folder("memory")?;
        run("mount", &["-t", "tmpfs", "none", &folder.display().to_string()])?;
        let unmount = Undo::by(&format!("again umount {}", quoted(&folder)));
        let image = self.image(&folder, 64 << 20)?;
        fs::write(&image, vec![7; 64 << 20]).map_err(|error| error.to_string())?;
        let device = LoopDevice::attach(&image, &[])?;
        let (on, id) = (device.text().to_owned(), id_of(&device)?);
        let server = String::new();
        Ok(Made { on, id, server, _parts: (None, Some(device), vec![unmount]) })
    }

    /// A file that nbdkit serves, and a device of it.
    fn served(&self, name: &str, kit: &str, is_device: bool) -> Result<Made, String> {
        let folder = self.folder(name)?;
        let file = folder.join("disk");
        let line = format!("exec nbdfuse {} --command nbdkit -s {kit} 2> /dev/null", quoted(&file));
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &line]).stdin(std::process::Stdio::null());
        let child = command.spawn().map_err(|error| format!("nbdfuse: {error}"))?;
        let (undo, server) = (Undo::kill(&child), child.id().to_string());
        let began = Instant::now();
        while !fs::metadata(&file).is_ok_and(|found| found.len() > 0) {
            if began.elapsed() > Duration::from_secs(20) {
                return Err("nbdfuse did not serve a file within 20 s".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let unmount = Undo::by(&format!("again umount -l {}", quoted(&file)));
        if !is_device {
            let on = file.display().to_string();
            return Ok(Made {
                on,
                id: String::new(),
                server,
                _parts: (None, None, vec![unmount, undo]),
            });
        }
        let device = LoopDevice::attach(&file, &["--direct-io=on"])?;
        let (on, id) = (device.text().to_owned(), id_of(&device)?);
        Ok(Made { on, id, server, _parts: (None, Some(device), vec![unmount, undo]) })
    }
}

fn delay(ms: u32) -> String {
    format!("--threads=64 --filter=delay memory 64M rdelay={ms}ms wdelay={ms}ms")
}

/// `7:3`.
fn id_of(device: &LoopDevice) -> Result<String, String> {
    let path = format!("/sys/class/block/{}/dev", device.name());
    let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    Ok(text.trim().to_owned())
}
