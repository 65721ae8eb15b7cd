//! Devices that this process has for itself while it writes to them.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::files::status_of;
use crate::platform;
use crate::stack::DeviceId;

/// Permission to write to one path. For a block device that nobody uses, it also
/// keeps the system from mounting it, or making it part of something, until
/// dropped; jobs open the device by themselves, not exclusively. Several holds
/// of one device in this process share.
#[derive(Debug)]
#[must_use = "the device is free again once this is dropped"]
pub struct Hold {
    /// The device, and loop devices that show the same bytes.
    pub(super) devices: Vec<Arc<File>>,
}

impl Hold {
    pub(super) const OF_NOTHING: Hold = Hold { devices: Vec::new() };

    /// Whether a device is kept from others. Not so for files that no loop device
    /// shows, and for a mounted device that may be written to anyway.
    pub fn is_exclusive(&self) -> bool {
        !self.devices.is_empty()
    }
}

/// A device that this process has for itself.
#[derive(Debug)]
struct HeldDevice {
    id: DeviceId,
    /// Partitions keep their disk from others, and a disk its partitions.
    disk: String,
    device: Weak<File>,
}

static HELD: Mutex<Vec<HeldDevice>> = Mutex::new(Vec::new());

/// The device for this process alone; the same one again if it has it already.
pub(super) fn hold(path: &Path, id: DeviceId, disk: String) -> io::Result<Option<Arc<File>>> {
    // The list is consistent between any two statements, so a poisoned lock is sound.
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.retain(|one| one.device.strong_count() > 0);
    if let Some(device) = held.iter().find(|one| one.id == id).and_then(|one| one.device.upgrade())
    {
        return Ok(Some(device));
    }
    // Held by ourselves, as the disk or as another of its partitions?
    let ours = held.iter().find(|one| one.disk == disk && one.id != id);
    let ours = ours.and_then(|one| one.device.upgrade());
    let device = match open_exclusively(path, ours.is_none()) {
        Ok(Some(device)) => Arc::new(device),
        Ok(None) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
            return ours.map(Some).ok_or(error);
        }
        Err(error) => return Err(error),
    };
    if DeviceId::from_raw(status_of(&device)?.rdev()) != id {
        return Err(io::Error::other("it became another device just now"));
    }
    held.push(HeldDevice { id, disk, device: Arc::downgrade(&device) });
    Ok(Some(device))
}

/// How often a device that is busy is tried again, and how long is waited before.
const TRIES: usize = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// Open for ourselves alone. Programs that only look at a device, such as losetup(8)
/// for a free one and what reads signatures, hold it for a moment; with `is_patient`
/// they are waited for. `None` where the system lets nobody have a device so.
fn open_exclusively(path: &Path, is_patient: bool) -> io::Result<Option<File>> {
    let tries = if is_patient { TRIES } else { 1 };
    let mut busy = None;
    for tried in 0..tries {
        if tried > 0 {
            thread::sleep(BETWEEN_TRIES);
        }
        match platform::open_alone(path) {
            Ok(device) => return Ok(device),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => busy = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(busy.unwrap_or_else(|| io::ErrorKind::ResourceBusy.into()))
}
