//! Real devices: loop devices, file systems, mounts, swap. Each is removed
//! when its guard is dropped. They take root; [`or_skip`](crate::skip::or_skip)
//! reports it where that is missing.

use crate::Folder;
use crate::programs::{is_root, run};
use crate::skip::or_skip;
use crate::undo::{Undo, quoted};
use std::path::{Path, PathBuf};

/// A file as a block device.
pub struct LoopDevice(pub PathBuf, #[expect(dead_code, reason = "its drop detaches it")] Undo);

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
        let name = device.file_name().unwrap().to_str().unwrap();
        let file = format!("/sys/block/{name}/loop/backing_file");
        let backing = std::fs::read_to_string(&file).unwrap_or_default();
        let backing = quoted(Path::new(backing.trim_end().trim_end_matches(" (deleted)")));
        // Detached by somebody else, the number may be another test's device by now.
        let undo = Undo::by(&format!(
            "case \"$(cat {file})\" in {backing} | {backing}' (deleted)') losetup --detach {} ;; esac",
            quoted(&device)
        ));
        LoopDevice(device, undo)
    }

    /// One over `image` in the folder, of so many bytes, with a file system of `kind`;
    /// `None`, and skipped aloud, where that cannot be had.
    #[track_caller]
    pub fn formatted(folder: &Folder, kind: &str, bytes: u64) -> Option<LoopDevice> {
        if !is_root("attach devices") {
            return None;
        }
        let image = folder.image("image", bytes);
        or_skip(run(&format!("mkfs.{kind}"), &["-q", image.to_str().unwrap()]))?;
        or_skip(LoopDevice::attach(&image, &[]))
    }

    /// Such a device, mounted on `on` in the folder.
    #[track_caller]
    pub fn mounted(folder: &Folder, kind: &str, bytes: u64) -> Option<(Mounted, LoopDevice)> {
        let device = LoopDevice::formatted(folder, kind, bytes)?;
        let mounted = or_skip(Mounted::mount(&device.0, &folder.join("on")))?;
        Some((mounted, device))
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

/// A mounted file system.
pub struct Mounted(pub PathBuf, #[expect(dead_code, reason = "its drop unmounts it")] Undo);

impl Mounted {
    /// Mount `device` on a folder, which is created.
    pub fn mount(device: &Path, on: &Path) -> Result<Mounted, String> {
        std::fs::create_dir_all(on).unwrap();
        run("mount", &[device.to_str().unwrap(), on.to_str().unwrap()])?;
        Ok(Mounted::at(on.to_owned()))
    }

    /// A file system in memory on `on` in the folder: `tmpfs` or `ramfs`, with these options;
    /// `None`, and skipped aloud, where it cannot be had.
    #[track_caller]
    pub fn in_memory(folder: &Folder, kind: &str, options: &str) -> Option<Mounted> {
        if !is_root("mount") {
            return None;
        }
        let on = folder.join("on");
        std::fs::create_dir_all(&on).unwrap();
        or_skip(run("mount", &["-t", kind, "-o", options, "none", on.to_str().unwrap()]))?;
        Some(Mounted::at(on))
    }

    /// One that is mounted already, and is to be unmounted at the end.
    pub fn at(path: PathBuf) -> Mounted {
        let word = quoted(&path);
        let undo = Undo::by(&format!("again umount {word} || umount --lazy {word}"));
        Mounted(path, undo)
    }
}

/// The directories of an overlay; `lower` is filled before it is mounted.
pub struct Overlay {
    /// What is below, and never written to.
    pub lower: PathBuf,
    /// What takes changes.
    pub upper: PathBuf,
    /// The kernel's own.
    work: PathBuf,
    /// Where both are seen.
    pub merged: PathBuf,
}

impl Overlay {
    /// Make them in a folder.
    pub fn in_folder(folder: &Path) -> Overlay {
        let [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map(|name| {
            let path = folder.join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        });
        Overlay { lower, upper, work, merged }
    }

    /// Mount it, with `more` options such as `volatile,`.
    pub fn mount(&self, more: &str) -> Result<Mounted, String> {
        let options = format!(
            "{more}lowerdir={},upperdir={},workdir={}",
            self.lower.display(),
            self.upper.display(),
            self.work.display()
        );
        let on = self.merged.to_str().unwrap();
        run("mount", &["-t", "overlay", "overlay", "-o", &options, on])?;
        Ok(Mounted::at(self.merged.clone()))
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

/// Let the file system mounted on `mounted_on` hold writes back: fsfreeze(8).
pub fn freeze(mounted_on: &str) -> Result<Undo, String> {
    run("fsfreeze", &["--freeze", mounted_on])?;
    Ok(Undo::by(&format!("fsfreeze --unfreeze {}", quoted(mounted_on.as_ref()))))
}

/// Format `device` as swap and use it.
pub fn swap_on(device: &Path) -> Result<Undo, String> {
    let text = device.to_str().unwrap();
    run("mkswap", &[text])?;
    run("swapon", &[text])?;
    Ok(Undo::by(&format!("swapoff {}", quoted(device))))
}
