//! All that is known of a path or an open file.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, StatxFlags};

use super::device_facts::Survey;
use super::{device, probe, stack};
use crate::stack::{DeviceId, Mount, Stack};
use crate::sysfs::{Tree, mount_below};
use crate::{DeviceFacts, Fact, Facts, PathKind};

pub(crate) fn facts_of_path(path: &Path) -> io::Result<Facts> {
    // A descriptor of the path alone: nothing is opened, so nothing blocks,
    // and no permission on the file is needed.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    facts_of_file(&file)
}

pub(crate) fn facts_of_file(file: &File) -> io::Result<Facts> {
    let status = rustix::fs::fstat(file)?;
    let kind = kind_of(&status);
    let tree = Tree::here();
    let stack = stack_of(&tree, file, &status, kind)?;
    let mut devices = devices_of(tree, &stack);
    if kind == PathKind::BlockDevice {
        devices.iter_mut().take(1).for_each(|facts| ask_the_device(file, facts));
    }
    let bytes = match (kind, devices.first()) {
        (PathKind::File, _) => Fact::Known(status.st_size.try_into().unwrap_or(0)),
        (PathKind::BlockDevice, Some(device)) => device.bytes.clone(),
        _ => Fact::unknown("it is neither a file nor a block device"),
    };
    Ok(Facts {
        kind,
        bytes,
        direct: probe::direct_io(file)?,
        atomic_write: probe::atomic_write(file),
        stack,
        devices,
    })
}

pub(crate) fn kind_of(status: &Stat) -> PathKind {
    match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => PathKind::File,
        FileType::BlockDevice => PathKind::BlockDevice,
        FileType::CharacterDevice => PathKind::CharacterDevice,
        FileType::Directory => PathKind::Folder,
        _ => PathKind::Other,
    }
}

/// The mount that an open file is reached by.
pub(crate) fn mount_of(tree: &Tree, file: &File) -> Option<Mount> {
    let all = tree.mounts();
    let status = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok();
    let id = status.filter(|status| status.stx_mask & StatxFlags::MNT_ID.bits() != 0);
    if let Some(mount) = id.and_then(|s| all.iter().find(|mount| mount.id == s.stx_mnt_id)) {
        return Some(mount.clone());
    }
    // Before Linux 5.8 the path must do; a mount in another namespace has none.
    mount_below(&all, &path_of(file)).cloned()
}

/// The kernel's name of an open file; of one that was removed, what it was
/// called and ` (deleted)`.
fn path_of(file: &File) -> PathBuf {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    std::fs::read_link(&link).unwrap_or_else(|_| PathBuf::from(link))
}

fn stack_of(tree: &Tree, file: &File, status: &Stat, kind: PathKind) -> io::Result<Stack> {
    let path = path_of(file);
    if kind == PathKind::BlockDevice {
        let id = crate::platform::device_id(status.st_rdev);
        return Ok(Stack { path, mount: None, devices: vec![stack::layer_of(tree, id)] });
    }
    let mount = mount_of(tree, file);
    let devices = mount.as_ref().map_or_else(Vec::new, |mount| stack::below_mount(tree, mount));
    Ok(Stack { path, mount, devices })
}

/// Of each device of a stack, once.
fn devices_of(tree: Tree, stack: &Stack) -> Vec<DeviceFacts> {
    let mut ids: Vec<DeviceId> = Vec::new();
    for layer in stack.devices.iter().flat_map(|layer| layer.walk()) {
        if !ids.contains(&layer.id) {
            ids.push(layer.id);
        }
    }
    let survey = Survey::new(tree);
    ids.into_iter().map(|id| survey.device(id)).collect()
}

/// What sysfs did not report (a container may have none), the device may.
fn ask_the_device(file: &File, facts: &mut DeviceFacts) {
    if facts.bytes.known().is_some() && facts.logical_sector.known().is_some() {
        return;
    }
    if device::ask(file, facts).is_ok() {
        return;
    }
    // Only a path so far. What cannot be opened stays unknown.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let _ = File::open(path).and_then(|opened| device::ask(&opened, facts));
}
