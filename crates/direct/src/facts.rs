//! All that is known of a path: what it is, what direct I/O on it needs, and
//! the stack of devices below.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::stack::{Mount, Stack};
use crate::{AtomicWrite, DeviceFacts, DirectIo, Fact, platform};

/// The kind of object that a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A file of bytes.
    File,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharacterDevice,
    /// A folder.
    Folder,
    /// A pipe, a socket.
    Other,
}

/// All that is known of a path.
///
/// ```
/// use iosonde_direct::Facts;
///
/// let facts = Facts::of("Cargo.toml")?;
/// println!("{} bytes", facts.bytes);
/// println!("buffers at multiples of {}", facts.direct.memory_alignment);
/// for device in &facts.devices {
///     println!("{}: serial {}, rotational {}", device.name, device.serial, device.rotational);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub kind: PathKind,
    /// How long a file, or how large a device is.
    pub bytes: Fact<u64>,
    /// The alignment that direct I/O on it needs.
    pub direct: DirectIo,
    /// The writes to it that are done whole or not at all.
    pub atomic_write: Fact<AtomicWrite>,
    /// The stack below: the mount, and the devices with what they are made of.
    pub stack: Stack,
    /// The facts of each device of the stack, from the top down, each
    /// once.
    pub devices: Vec<DeviceFacts>,
}

impl Facts {
    /// The facts of a path that exists. Nothing is written. On Linux no
    /// privilege is needed: devices are not opened where sysfs describes them,
    /// and a file is opened only for a trial read where its filesystem states
    /// no alignment.
    ///
    /// # Errors
    /// If the path is not there or cannot be looked up.
    pub fn of(path: impl AsRef<Path>) -> io::Result<Facts> {
        platform::facts_of_path(path.as_ref())
    }

    /// The same of an open file.
    ///
    /// # Errors
    /// If the system cannot report what the file is.
    pub fn of_file(file: &File) -> io::Result<Facts> {
        platform::facts_of_file(file)
    }

    /// The device itself, or the first one that a file is on; `None` where
    /// it has none, as on tmpfs and network filesystems.
    pub fn device(&self) -> Option<&DeviceFacts> {
        self.devices.first()
    }

    /// The devices at the bottom: those made of nothing else that is known.
    pub fn disks(&self) -> Vec<&DeviceFacts> {
        let layers = self.stack.devices.iter().flat_map(|layer| layer.walk());
        let ends: Vec<_> = layers.filter(|layer| layer.below.is_empty()).map(|l| l.id).collect();
        self.devices.iter().filter(|device| ends.contains(&device.id)).collect()
    }

    /// The filesystem that a file is on; `None` for a device.
    pub fn mount(&self) -> Option<&Mount> {
        self.stack.mount.as_ref()
    }
}
