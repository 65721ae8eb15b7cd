//! Where a workload runs: in a new directory, on a file that is only
//! read, or on a device.

use super::preset::Preset;
use iosonde_base::text::bytes;
use iosonde_direct::Device;
use iosonde_sys::erase::DeviceNames;
use iosonde_sys::files::{status, status_of};
use iosonde_sys::stack::DeviceId;
use iosonde_sys::temporary::OwnDirectory;
use std::fs::File;
use std::path::Path;

/// Reading less says nothing about a disk.
const BYTES_LEAST: u64 = 16 << 20;

/// Where a workload runs.
#[derive(Debug)]
pub struct LikeTarget {
    /// The line of the job file.
    pub option: String,
    /// It was there before.
    pub is_existing: bool,
    /// The size of a file that was there: jobs must not extend it.
    pub bytes: Option<u64>,
    /// The word that allows a device to be overwritten.
    pub erase: Option<String>,
    /// Removes the directory that was made here.
    _own: Option<OwnDirectory>,
}

impl LikeTarget {
    /// What `path` names.
    ///
    /// # Errors
    /// It is not there, or may not be written to.
    pub fn of(path: &Path, preset: &Preset, erase: Option<&str>) -> Result<LikeTarget, String> {
        let named = |why: String| format!("{}: {why}", path.display());
        let found = status(path).map_err(|error| named(error.to_string()))?;
        let kind = found.file_type();
        if kind.is_dir() {
            return in_directory(path).map_err(named);
        }
        let option = format!("filename={}", escaped(path)?);
        if kind.is_block_device() {
            if preset.writes {
                may_erase(path, erase).map_err(named)?;
            }
            let erase = erase.map(str::to_owned);
            return Ok(LikeTarget { option, is_existing: true, bytes: None, erase, _own: None });
        }
        match (kind.is_file(), preset.writes) {
            (true, false) if found.len() < BYTES_LEAST => {
                Err(named(format!("it has {}: 16 MiB or more are needed", bytes(found.len()))))
            }
            (true, false) => Ok(LikeTarget {
                option,
                is_existing: true,
                bytes: Some(found.len() - found.len() % (1 << 20)),
                erase: None,
                _own: None,
            }),
            (true, true) => Err(named(
                "it exists, and the workload would overwrite it: name a directory".to_owned(),
            )),
            (false, _) => Err(named("it is neither a directory, a file nor a block device".into())),
        }
    }
}

/// Whether `word` names the device: a workload overwrites it, whatever it holds.
pub fn may_erase(path: &Path, word: Option<&str>) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot read it: {error}");
    let file = File::open(path).map_err(cannot)?;
    let id = DeviceId::from_raw(status_of(&file).map_err(cannot)?.rdev());
    let names = DeviceNames::of(id, Device::of(&file).map_err(cannot)?.bytes);
    let lost =
        format!("if the data on it ({}) may be lost, {}", bytes(names.bytes), names.remedy());
    match word {
        Some(word) if names.is_named_by(word) => Ok(()),
        Some(word) => Err(format!("--erase={word} does not name it; {lost}")),
        None => Err(format!("the workload overwrites the device: {lost}")),
    }
}

fn in_directory(path: &Path) -> Result<LikeTarget, String> {
    // Made here, so that nothing of anybody's is written to or removed.
    let own = OwnDirectory::make(path, ".iosonde-like")
        .map_err(|error| format!("cannot create a directory in it: {error}"))?;
    let option = format!("directory={}", escaped(own.path())?);
    Ok(LikeTarget { option, is_existing: false, bytes: None, erase: None, _own: Some(own) })
}

/// A path in the job language: a colon separates files.
pub fn escaped(path: &Path) -> Result<String, String> {
    let text = path.to_str().ok_or("its name is not UTF-8, as job files are")?;
    if text.contains('\n') {
        Err("its name has more than one line".to_owned())
    } else {
        Ok(text.replace('\\', "\\\\").replace(':', "\\:"))
    }
}
