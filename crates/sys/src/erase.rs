//! Data on block devices, and the owner's word that it may be lost.
//!
//! A word names one device by its serial number or model, or by its size if it
//! has neither, so that a mistyped path erases nothing.

use crate::files::status_of;
use crate::guard::{Reason, WriteRefusal};
use crate::signature::signatures;
use crate::stack::DeviceId;
use iosonde_base::bare;
use iosonde_base::text::{bytes, short_size, size};
use iosonde_direct::sysfs::Tree;
use iosonde_direct::{Device, DeviceFacts};
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

/// The names of a device that `--erase` accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceNames {
    /// Its serial number, or its disk's.
    pub serial: Option<String>,
    /// Its model, or its disk's.
    pub model: Option<String>,
    /// Its size.
    pub bytes: u64,
}

impl DeviceNames {
    /// The names of the device with these numbers.
    pub fn of(id: DeviceId, bytes: u64) -> DeviceNames {
        let facts = DeviceFacts::of(id);
        let own = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        DeviceNames {
            serial: facts.serial.known().and_then(own),
            model: facts.model.known().and_then(own),
            bytes,
        }
    }

    /// Whether a word is one of the names.
    pub fn is_named_by(&self, word: &str) -> bool {
        let names = [&self.serial, &self.model];
        let mut names = names.into_iter().flatten().peekable();
        match names.peek() {
            None => size(word) == Ok(self.bytes),
            Some(_) => names.any(|name| name == word),
        }
    }

    /// How to name it: `repeat its size: --erase=16M`.
    pub fn remedy(&self) -> String {
        match (&self.serial, &self.model) {
            (Some(serial), Some(model)) => format!(
                "repeat its serial number or model: --erase='{serial}' or --erase='{model}'"
            ),
            (Some(only), None) | (None, Some(only)) => {
                format!("repeat its name: --erase='{only}'")
            }
            (None, None) => format!(
                "it has no model or serial number, so repeat its size: --erase={}",
                short_size(self.bytes)
            ),
        }
    }
}

/// Data found on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundData {
    /// The partition that it is on; `None` for the device itself.
    pub partition: Option<String>,
    /// `an ext4 file system`.
    pub what: Cow<'static, str>,
}

impl fmt::Display for FoundData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.partition {
            None => f.write_str(&self.what),
            Some(partition) => write!(f, "{} on {partition}", self.what),
        }
    }
}

/// The signatures on a block device and on its partitions.
///
/// # Errors
/// It cannot be read.
pub fn data_on(path: &Path) -> io::Result<Vec<FoundData>> {
    let file = File::open(path)?;
    let end = Device::of(&file)?.bytes;
    let mut found = Vec::new();
    let own = signatures(&file, 0..end)?;
    found.extend(own.into_iter().map(|what| FoundData { partition: None, what }));
    let tree = Tree::here();
    let name = tree.name(DeviceId::from_raw(status_of(&file)?.rdev()));
    for part in name.map_or_else(Vec::new, |name| tree.partitions(&name)) {
        // In sectors of 512 bytes whatever the disk's own are.
        let sectors = |attribute| tree.attribute(&part, attribute)?.trim().parse::<u64>().ok();
        let (Some(start), Some(length)) = (sectors("start"), sectors("size")) else { continue };
        let (start, end) = (start.saturating_mul(512), (start + length).saturating_mul(512));
        let partition = Some(format!("/dev/{part}"));
        let on = signatures(&file, start..end)?.into_iter();
        found.extend(on.map(|what| FoundData { partition: partition.clone(), what }));
    }
    Ok(found)
}

/// Whether all data on a block device may be lost: it carries no signature, or
/// one of `words` names it.
///
/// # Errors
/// Neither is so, or the device cannot be read.
pub fn may_erase(path: &Path, words: &[String]) -> Result<(), WriteRefusal> {
    judge(path, words).map_err(|reason| WriteRefusal { path: path.to_owned(), reason })
}

fn judge(path: &Path, words: &[String]) -> Result<(), Reason> {
    let file = File::open(path).map_err(Reason::Unknown)?;
    let id = DeviceId::from_raw(status_of(&file).map_err(Reason::Unknown)?.rdev());
    let device = Device::of(&file).map_err(|error| Reason::HoldsData {
        holds: format!(
            "how large it is and what it holds cannot be read ({})",
            bare(&error.to_string())
        ),
        remedy: "check its name, and that this user may read it".to_owned(),
    })?;
    let names = DeviceNames::of(id, device.bytes);
    if words.iter().any(|word| names.is_named_by(word)) {
        return Ok(());
    }
    let holds = match data_on(path) {
        Ok(found) if found.is_empty() => return Ok(()),
        Ok(found) => format!("it holds {}", list(&found)),
        // A device that fails now may hold data all the same.
        Err(error) => {
            format!("whether it holds data cannot be read ({})", bare(&error.to_string()))
        }
    };
    let wrong = words.iter().map(|word| format!("--erase={word} does not name it; "));
    let remedy = format!(
        "{}if the data on it ({}) may be lost, {}",
        wrong.collect::<String>(),
        bytes(names.bytes),
        names.remedy()
    );
    Err(Reason::HoldsData { holds, remedy })
}

/// `an ext4 file system and swap space`; of many, the first three.
pub fn list(found: &[FoundData]) -> String {
    const SHOWN: usize = 3;
    let mut words: Vec<String> = found.iter().take(SHOWN).map(ToString::to_string).collect();
    if found.len() > SHOWN {
        words.push(format!("{} more", found.len() - SHOWN));
    }
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} and {last}", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(serial: Option<&str>, model: Option<&str>) -> DeviceNames {
        let own = |text: Option<&str>| text.map(str::to_owned);
        DeviceNames { serial: own(serial), model: own(model), bytes: 64 << 20 }
    }

    #[test]
    fn a_device_is_named_by_its_serial_or_model_and_only_without_them_by_its_size() {
        let both = names(Some("S-1"), Some("Great Disk"));
        assert!(both.is_named_by("S-1") && both.is_named_by("Great Disk"));
        assert!(!both.is_named_by("64M") && !both.is_named_by("s-1") && !both.is_named_by(""));
        assert!(both.remedy().contains("--erase='S-1' or --erase='Great Disk'"));
        let none = names(None, None);
        assert!(none.is_named_by("64m") && none.is_named_by("67108864"));
        assert!(!none.is_named_by("65M") && !none.is_named_by(""));
        assert!(none.remedy().ends_with("--erase=64M"));
    }

    #[test]
    fn what_was_found_is_listed_briefly() {
        let found = |what: &'static str, partition: Option<&str>| FoundData {
            partition: partition.map(str::to_owned),
            what: what.into(),
        };
        let mut all = vec![found("swap space", None)];
        assert_eq!(list(&all), "swap space");
        all.push(found("an XFS file system", Some("/dev/sda1")));
        assert_eq!(list(&all), "swap space and an XFS file system on /dev/sda1");
        all.extend([all[0].clone(), all[1].clone(), all[0].clone()]);
        assert!(list(&all).ends_with(", swap space and 2 more"), "{}", list(&all));
    }
}
