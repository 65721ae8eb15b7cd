//! The target: a file that is created and removed, or something that
//! exists, which takes its owner's word.

use crate::arguments::{Erase, MatrixOptions};
use iosonde_base::text;
use iosonde_direct::Device;
use iosonde_sys::erase::DeviceNames;
use iosonde_sys::files::{FileSystem, link_status, status, status_of};
use iosonde_sys::guard::{Guard, Hold, MountedWrite, Reason, WriteRefusal};
use iosonde_sys::stack::{Layer, Stack};
use iosonde_sys::standard_error;
use iosonde_sys::temporary;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Facts of a target, as plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetFacts {
    /// Where it is.
    pub path: PathBuf,
    /// It is a block device.
    pub is_device: bool,
    /// It was created for the run, and is removed at the end.
    pub temporary: bool,
    /// Its size before the run, in bytes.
    pub bytes: u64,
    /// The type of the file system it is on; `None` for a device.
    pub file_system: Option<String>,
    /// The disks below, by the kernel's names.
    pub disks: Vec<String>,
    /// The model of a device's disk.
    pub model: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
}

/// File systems that hold files in memory only.
const MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

impl TargetFacts {
    /// There is no storage: the file system keeps its files in memory.
    pub fn is_in_memory(&self) -> bool {
        self.file_system.as_deref().is_some_and(|kind| MEMORY.contains(&kind))
    }

    /// `file /x on ext4, vda`, for a title.
    pub fn words(&self) -> String {
        let what = match (self.is_device, self.temporary) {
            (true, _) => "block device ",
            (false, true) => "temporary file ",
            (false, false) => "file ",
        };
        let mut words = format!("{what}{}", self.path.display());
        if let Some(kind) = &self.file_system {
            words += &format!(" on {kind}");
        }
        for disk in self.disks.iter().filter(|disk| !self.path.ends_with(disk)) {
            words += &format!(", {disk}");
        }
        for word in [&self.model, &self.serial].into_iter().flatten() {
            words += &format!(", {word}");
        }
        words
    }
}

/// A target that may be used. What was made for it is removed when it is
/// dropped.
#[derive(Debug)]
pub struct Target {
    /// What it is.
    pub about: TargetFacts,
    /// Bytes from its start that may be used.
    pub span: u64,
    /// The devices right below, or itself if it is one.
    pub devices: Vec<Layer>,
    /// Keeps a device from others.
    _hold: Option<Hold>,
    /// Device and inode of the file that was created.
    made: Option<(u64, u64)>,
}

impl Target {
    /// Find the target, and check that it may be used.
    ///
    /// # Errors
    /// The reason, with what to do.
    pub fn find(options: &MatrixOptions) -> Result<Target, String> {
        let path = options.target.clone().unwrap_or_else(|| PathBuf::from("."));
        let status = match status(&path) {
            Ok(status) => status,
            Err(error) if error.kind() == ErrorKind::NotFound => return make(options, path),
            Err(error) => {
                return Err(format!("cannot read the metadata of {}: {error}", path.display()));
            }
        };
        let kind = status.file_type();
        if kind.is_dir() {
            let name = temporary::unpredictable_name("iosonde-matrix");
            let inside = if path == Path::new(".") { name.into() } else { path.join(name) };
            make(options, inside)
        } else if kind.is_file() {
            existing_file(options, path, status.len())
        } else if kind.is_block_device() {
            device(options, path)
        } else {
            Err(format!("{} is neither a file nor a block device", path.display()))
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let Some(made) = self.made else { return };
        let path = &self.about.path;
        // Only the file created here, not one that has replaced it.
        let is_it = link_status(path).is_ok_and(|status| (status.dev(), status.ino()) == made);
        if is_it && let Err(error) = std::fs::remove_file(path) {
            standard_error::print_line(format_args!(
                "iosonde: could not remove {}: {error}",
                path.display()
            ));
        }
    }
}

/// A file that does not exist yet.
fn make(options: &MatrixOptions, path: PathBuf) -> Result<Target, String> {
    let hold = may_write(&path)?;
    let parent = parent(&path);
    if !parent.is_dir() {
        return Err(format!(
            "cannot create {}: {} is not a directory",
            path.display(),
            parent.display()
        ));
    }
    has_room(&path, &parent, options.span)?;
    let file = File::create_new(&path).map_err(|error| {
        if path.is_symlink() {
            format!(
                "{} is a link to a file that does not exist: name the file itself",
                path.display()
            )
        } else {
            format!("cannot create {}: {error}", path.display())
        }
    })?;
    let status = status_of(&file)
        .map_err(|error| format!("cannot read the metadata of {}: {error}", path.display()))?;
    let made = Some((status.dev(), status.ino()));
    let (about, devices) = about(path, false, 0);
    let about = TargetFacts { temporary: true, ..about };
    Ok(Target { about, span: options.span, devices, _hold: Some(hold), made })
}

fn existing_file(options: &MatrixOptions, path: PathBuf, bytes: u64) -> Result<Target, String> {
    if !options.kinds.iter().any(|kind| kind.writes()) {
        if bytes == 0 {
            return Err(format!("{} is empty: there is nothing to read", path.display()));
        }
        let (about, devices) = about(path, false, bytes);
        let span = options.span.min(bytes);
        return Ok(Target { about, span, devices, _hold: None, made: None });
    }
    let hold = may_write(&path)?;
    match &options.erase {
        Erase::Yes => {}
        Erase::No => {
            return Err(format!(
                "{} exists, and its first {} would be overwritten: give --erase if its contents \
                 may be lost, or name a new file",
                path.display(),
                text::bytes(options.span)
            ));
        }
        Erase::Word(word) => {
            return Err(format!(
                "--erase={word} names a block device, and {} is a file: use --erase without a word \
                 if its contents may be lost",
                path.display()
            ));
        }
    }
    has_room(&path, &parent(&path), options.span.saturating_sub(bytes))?;
    let (about, devices) = about(path, false, bytes);
    Ok(Target { about, span: options.span, devices, _hold: Some(hold), made: None })
}

fn device(options: &MatrixOptions, path: PathBuf) -> Result<Target, String> {
    let writes = options.kinds.iter().any(|kind| kind.writes());
    let hold = if writes { Some(may_write(&path)?) } else { None };
    let size = File::open(&path).and_then(|file| Device::of(&file)).map(|device| device.bytes);
    let bytes = size.map_err(|error| format!("cannot open {}: {error}", path.display()))?;
    let (about, devices) = about(path, true, bytes);
    if bytes == 0 {
        return Err(format!("{} has no medium: its size is 0", about.path.display()));
    }
    if writes {
        confirm(&options.erase, &about)?;
    }
    Ok(Target { span: options.span.min(bytes), about, devices, _hold: hold, made: None })
}

/// Whether the word given is one of the device's.
fn confirm(erase: &Erase, about: &TargetFacts) -> Result<(), String> {
    let names = DeviceNames {
        serial: about.serial.clone(),
        model: about.model.clone(),
        bytes: about.bytes,
    };
    let what = format!("{} ({})", about.path.display(), text::bytes(about.bytes));
    let agree = names.remedy();
    match erase {
        Erase::No => {
            Err(format!("{what} would be overwritten: if its contents may be lost, {agree}"))
        }
        Erase::Yes => Err(format!("--erase alone is not enough for a device: for {what}, {agree}")),
        Erase::Word(word) if names.is_named_by(word) => Ok(()),
        Erase::Word(word) => Err(format!("--erase={word} does not name {what}: {agree}")),
    }
}

/// The guard's permission; its own remedy for mounts does not exist here.
fn may_write(path: &Path) -> Result<Hold, String> {
    let guard = Guard::now(MountedWrite::Refuse);
    let unlocked = guard.may_write(path).and_then(|hold| guard.is_unlocked(path).map(|()| hold));
    unlocked.map_err(|WriteRefusal { path, reason }| match reason {
        Reason::Locked(lock) => format!(
            "cannot write to {}: {lock}; end that program first, or name a new file",
            path.display()
        ),
        Reason::InUse(by) => {
            format!("cannot write to {}: {by}; a device in use is never written to", path.display())
        }
        reason => format!("cannot {}", WriteRefusal { path, reason }),
    })
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Whether a file system has room for so many bytes more.
fn has_room(path: &Path, folder: &Path, bytes: u64) -> Result<(), String> {
    // A file system that does not report it is found full when it is written to.
    let Ok(FileSystem { available_bytes: free, .. }) = FileSystem::of(folder) else {
        return Ok(());
    };
    if free >= bytes {
        return Ok(());
    }
    Err(format!(
        "{} needs {} and its file system has {} free: make room, or give a smaller --size and --bs",
        path.display(),
        text::bytes(bytes),
        text::bytes(free)
    ))
}

fn about(path: PathBuf, is_device: bool, bytes: u64) -> (TargetFacts, Vec<Layer>) {
    let (mount, devices) = match Stack::under(&path) {
        Ok(stack) => (stack.mount, stack.devices),
        Err(_) => (None, Vec::new()),
    };
    let device = devices.first().filter(|_| is_device);
    let names = device.map(|device| DeviceNames::of(device.id, bytes)).unwrap_or_default();
    let mut disks: Vec<String> = Vec::new();
    for layer in devices.iter().flat_map(Layer::walk) {
        if !disks.contains(&layer.name) {
            disks.push(layer.name.clone());
        }
    }
    let file_system = mount.filter(|_| !is_device).map(|mount| mount.filesystem);
    let about = TargetFacts {
        path,
        is_device,
        temporary: false,
        bytes,
        file_system,
        disks,
        model: names.model,
        serial: names.serial,
    };
    (about, devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(model: Option<&str>, serial: Option<&str>) -> TargetFacts {
        let own = |text: Option<&str>| text.map(str::to_owned);
        TargetFacts {
            path: "/dev/x".into(),
            is_device: true,
            bytes: 64 << 20,
            model: own(model),
            serial: own(serial),
            ..TargetFacts::default()
        }
    }

    fn word(text: &str) -> Erase {
        Erase::Word(text.into())
    }

    #[test]
    fn a_device_is_erased_when_its_model_or_serial_is_repeated() {
        let about = disk(Some("Great Disk"), Some("S-1"));
        assert_eq!(confirm(&word("Great Disk"), &about), Ok(()));
        assert_eq!(confirm(&word("S-1"), &about), Ok(()));
        for wrong in [Erase::No, Erase::Yes, word("S-2"), word("64m"), word("great disk")] {
            let refusal = confirm(&wrong, &about).unwrap_err();
            assert!(refusal.contains("--erase='S-1' or --erase='Great Disk'"), "{refusal}");
        }
    }

    #[test]
    fn a_device_without_a_name_is_erased_when_its_size_is_repeated() {
        let about = disk(None, None);
        for right in ["64m", "64MiB", "67108864", "65536k"] {
            assert_eq!(confirm(&word(right), &about), Ok(()), "{right}");
        }
        for wrong in [Erase::Yes, word("67108865"), word("63m"), word("yes")] {
            let refusal = confirm(&wrong, &about).unwrap_err();
            assert!(refusal.contains("repeat its size: --erase=64M"), "{refusal}");
        }
    }
}
