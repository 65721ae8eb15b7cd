//! Real devices for tests: loop devices, filesystems, mounts, each taken away
//! again when its guard is dropped. Needs root; says so where it cannot run.
#![allow(dead_code)] // Each test binary uses a part.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Run a program; its standard output, or what went wrong.
pub fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin")
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(format!("{program} {arguments:?}: {said}"))
    }
}

/// What `make` makes, or `None` after printing why this test is skipped.
pub fn or_skip<T>(made: Result<T, String>) -> Option<T> {
    made.map_err(|why| eprintln!("skipped: {why}")).ok()
}

/// A folder of the test's own.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("iosonde-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A sparse file of so many bytes.
    pub fn image(&self, name: &str, bytes: u64) -> PathBuf {
        let path = self.join(name);
        std::fs::File::create(&path).unwrap().set_len(bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file as a block device.
pub struct Loop(pub PathBuf);

impl Loop {
    /// Attach `image`, with more arguments for losetup(8).
    pub fn attach(image: &Path, more: &[&str]) -> Result<Loop, String> {
        let mut arguments = vec!["--find", "--show"];
        arguments.extend_from_slice(more);
        arguments.push(image.to_str().unwrap());
        run("losetup", &arguments).map(|name| Loop(PathBuf::from(name)))
    }

    pub fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// `loop3`, as sysfs has it.
    pub fn name(&self) -> &str {
        self.0.file_name().unwrap().to_str().unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = run("losetup", &["--detach", self.text()]);
    }
}

/// A filesystem that is mounted.
pub struct Mounted(pub PathBuf);

impl Mounted {
    pub fn mount(device: &Path, on: &Path) -> Result<Mounted, String> {
        std::fs::create_dir_all(on).unwrap();
        run("mount", &[device.to_str().unwrap(), on.to_str().unwrap()])?;
        Ok(Mounted(on.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Programs that other threads are just starting have our files open
        // for a moment, so the first attempt may find it busy.
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

/// A filesystem of `kind` on an image of its own, mounted in the folder.
pub fn filesystem(folder: &Folder, kind: &str) -> Result<(Loop, Mounted), String> {
    // xfs takes no less than 300 MiB, btrfs 109; they stay sparse.
    let image = folder.image(&format!("{kind}.image"), if kind == "ext4" { 32 } else { 320 } << 20);
    let device = Loop::attach(&image, &[])?;
    let force: &[&str] = if kind == "ext4" { &[] } else { &["-f"] };
    run(&format!("mkfs.{kind}"), &[&["-q"], force, &[device.text()]].concat())?;
    let mounted = Mounted::mount(&device.0, &folder.join(kind))?;
    Ok((device, mounted))
}

/// Swap in use.
pub struct Swap(PathBuf);

impl Swap {
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
