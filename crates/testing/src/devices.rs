//! Real devices: loop devices, file systems, mounts, swap. Each is removed
//! when its guard is dropped. They take root; [`or_skip`](crate::skip::or_skip)
//! reports it where that is missing.

use crate::Folder;
use crate::programs::run;
use std::path::{Path, PathBuf};

/// A file as a block device, and the file's name as sysfs has it.
pub struct LoopDevice(pub PathBuf, String);

impl LoopDevice {
    /// Attach `image`, with more arguments for losetup(8).
    pub fn attach(image: &Path, more: &[&str]) -> Result<LoopDevice, String> {
        let mut arguments = vec!["--find", "--show"];
        arguments.extend_from_slice(more);
        arguments.push(image.to_str().unwrap());
        run("losetup", &arguments).map(|name| LoopDevice::attached(name.into()))
    }

    /// One that is attached already, and is to be detached at the end.
    pub fn attached(device: PathBuf) -> LoopDevice {
        let mut attached = LoopDevice(device, String::new());
        attached.1 = attached.backing_file();
        attached
    }

    fn backing_file(&self) -> String {
        let file = format!("/sys/block/{}/loop/backing_file", self.name());
        let name = std::fs::read_to_string(file).unwrap_or_default();
        name.trim_end().trim_end_matches(" (deleted)").to_owned()
    }

    /// Its path as text.
    pub fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// `loop3`, as sysfs has it.
    pub fn name(&self) -> &str {
        self.0.file_name().unwrap().to_str().unwrap()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // Detached by somebody else, the number may be another test's device by now.
        if self.backing_file() == self.1 {
            let _ = run("losetup", &["--detach", self.text()]);
        }
    }
}

/// A mounted file system.
pub struct Mounted(pub PathBuf);

impl Mounted {
    /// Mount `device` on a folder, which is created.
    pub fn mount(device: &Path, on: &Path) -> Result<Mounted, String> {
        std::fs::create_dir_all(on).unwrap();
        run("mount", &[device.to_str().unwrap(), on.to_str().unwrap()])?;
        Ok(Mounted(on.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A program that another thread is starting holds our files open for a
        // moment, so the first attempt may find the mount busy.
        let path = self.0.to_str().unwrap();
        for _ in 0..100 {
            if run("umount", &[path]).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let _ = run("umount", &["--lazy", path]);
    }
}

/// A file system of `kind` on a new image, mounted in the folder.
pub fn filesystem(folder: &Folder, kind: &str) -> Result<(LoopDevice, Mounted), String> {
    // xfs needs at least 300 MiB, btrfs 109; the images stay sparse.
    let image = folder.image(&format!("{kind}.image"), if kind == "ext4" { 32 } else { 320 } << 20);
    let device = LoopDevice::attach(&image, &[])?;
    let force: &[&str] = if kind == "ext4" { &[] } else { &["-f"] };
    run(&format!("mkfs.{kind}"), &[&["-q"], force, &[device.text()]].concat())?;
    let mounted = Mounted::mount(&device.0, &folder.join(kind))?;
    Ok((device, mounted))
}

/// A mounted file system that holds writes back until this is dropped: fsfreeze(8).
pub struct FrozenMount<'a>(&'a str);

impl<'a> FrozenMount<'a> {
    /// Freeze the file system mounted on `mounted_on`.
    pub fn freeze(mounted_on: &'a str) -> Result<FrozenMount<'a>, String> {
        run("fsfreeze", &["--freeze", mounted_on]).map(|_| FrozenMount(mounted_on))
    }
}

impl Drop for FrozenMount<'_> {
    fn drop(&mut self) {
        let _ = run("fsfreeze", &["--unfreeze", self.0]);
    }
}

/// Swap in use.
pub struct Swap(PathBuf);

impl Swap {
    /// Format `device` as swap and use it.
    pub fn on(device: &Path) -> Result<Swap, String> {
        let text = device.to_str().unwrap();
        run("mkswap", &[text])?;
        run("swapon", &[text])?;
        Ok(Swap(device.to_owned()))
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        let _ = run("swapoff", &[self.0.to_str().unwrap()]);
    }
}
