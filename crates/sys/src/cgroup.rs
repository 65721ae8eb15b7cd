//! Control groups: one made for a while, and who is in it.
//!
//! Where the `blkio` controller of version 1 is mounted, single threads may
//! be in a group of their own. In version 2 the controller of I/O takes whole
//! processes only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use iosonde_direct::stack::Mount;
use iosonde_direct::sysfs::{self, parse_mounts};

/// Which hierarchy of control groups there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hierarchy {
    /// Version 1, with the controller `blkio`, mounted here.
    Blkio(PathBuf),
    /// Version 2, mounted here.
    Unified(PathBuf),
}

impl Hierarchy {
    /// The one that counts for I/O: `blkio` before version 2; `None` where
    /// neither is mounted.
    pub fn of_this_machine() -> Option<Hierarchy> {
        Hierarchy::parse(&sysfs::text("proc/self/mountinfo").ok()?)
    }

    /// The same from the text of /proc/self/mountinfo.
    pub fn parse(mountinfo: &str) -> Option<Hierarchy> {
        let mounts = parse_mounts(mountinfo.as_bytes());
        let has_blkio = |mount: &&Mount| {
            mount.filesystem == "cgroup" && mount.super_options.split(',').any(|one| one == "blkio")
        };
        let blkio = mounts.iter().find(has_blkio).map(|m| Hierarchy::Blkio(m.point.clone()));
        blkio.or_else(|| {
            let unified = mounts.iter().find(|mount| mount.filesystem == "cgroup2")?;
            Some(Hierarchy::Unified(unified.point.clone()))
        })
    }

    fn root(&self) -> &Path {
        match self {
            Hierarchy::Blkio(root) | Hierarchy::Unified(root) => root,
        }
    }

    /// Whether a single thread can be in its own group.
    pub fn takes_threads(&self) -> bool {
        matches!(self, Hierarchy::Blkio(_))
    }

    /// The calling thread's group, as a folder.
    fn present(&self) -> io::Result<PathBuf> {
        let text = sysfs::text("proc/thread-self/cgroup")?;
        let path = text.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let controllers = parts.next()?;
            let wanted = match self {
                Hierarchy::Blkio(_) => controllers.split(',').any(|one| one == "blkio"),
                Hierarchy::Unified(_) => controllers.is_empty(),
            };
            if wanted { parts.next() } else { None }
        });
        let path = path.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(self.root().join(path.trim_start_matches('/')))
    }
}

/// A control group. Dropped, it is removed if it was made here and shall not
/// stay; it must be empty then.
#[derive(Debug)]
pub struct ControlGroup {
    hierarchy: Hierarchy,
    folder: PathBuf,
    remove: bool,
}

impl ControlGroup {
    /// The group `name` below the root of the hierarchy, made if it is not
    /// there; then it goes away again unless it shall `stay`.
    ///
    /// # Errors
    /// If the name leaves the hierarchy, or the group cannot be made.
    pub fn open(hierarchy: &Hierarchy, name: &str, stay: bool) -> io::Result<ControlGroup> {
        let name = name.trim_start_matches('/');
        if name.is_empty() || name.split('/').any(|part| part == "..") {
            let message = format!("{name:?} is no name of a control group");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let folder = hierarchy.root().join(name);
        let made = match fs::create_dir(&folder) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(error),
        };
        Ok(ControlGroup { hierarchy: hierarchy.clone(), folder, remove: made && !stay })
    }

    /// Set the weight of its I/O, in the hierarchy's own scale.
    ///
    /// # Errors
    /// If the kernel has no weights here: they come with the scheduler bfq or
    /// with iocost.
    pub fn set_weight(&self, weight: u32) -> io::Result<()> {
        let files: &[(&str, String)] = match &self.hierarchy {
            Hierarchy::Blkio(_) => {
                &[("blkio.bfq.weight", weight.to_string()), ("blkio.weight", weight.to_string())]
            }
            Hierarchy::Unified(root) => {
                // It may be on already, or unavailable: the files below show which.
                let _ = fs::write(root.join("cgroup.subtree_control"), "+io");
                &[("io.weight", format!("default {weight}")), ("io.bfq.weight", weight.to_string())]
            }
        };
        for (name, text) in files {
            let file = self.folder.join(name);
            if file.exists() {
                return fs::write(file, text);
            }
        }
        let message = format!(
            "{} has neither {} nor {}: this kernel weighs no I/O here",
            self.folder.display(),
            files[0].0,
            files[1].0
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }

    /// Move the calling thread in, or in version 2 the whole process, until
    /// what comes back is dropped.
    ///
    /// # Errors
    /// The error of the system.
    pub fn enter(&self) -> io::Result<Stay> {
        let before = self.hierarchy.present()?;
        let (file, who) = match self.hierarchy {
            Hierarchy::Blkio(_) => ("tasks", crate::process::thread_id()),
            Hierarchy::Unified(_) => ("cgroup.procs", std::process::id()),
        };
        fs::write(self.folder.join(file), who.to_string())?;
        Ok(Stay { back: before.join(file), who })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        if self.remove {
            // Whoever is still in it keeps it; a later run takes it as it is.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

/// Being in a group.
#[derive(Debug)]
pub struct Stay {
    back: PathBuf,
    who: u32,
}

impl Drop for Stay {
    fn drop(&mut self) {
        // A thread that has given its rights away stays where it is to its end.
        let _ = fs::write(&self.back, self.who.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &str = "30 20 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
        36 20 0:32 / /sys/fs/cgroup/blkio rw,relatime - cgroup cgroup rw,blkio\n\
        39 20 0:35 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

    #[test]
    fn blkio_comes_before_version_two() {
        let blkio = Hierarchy::Blkio("/sys/fs/cgroup/blkio".into());
        assert_eq!(Hierarchy::parse(BOTH), Some(blkio));
        let only: String = BOTH.lines().filter(|line| !line.contains("blkio")).collect();
        assert_eq!(Hierarchy::parse(&only), None, "lines run together are no mounts");
        let line = BOTH.lines().last().unwrap();
        let unified = Hierarchy::Unified("/sys/fs/cgroup/unified".into());
        assert_eq!(Hierarchy::parse(line), Some(unified));
        assert_eq!(Hierarchy::parse(""), None);
    }

    #[test]
    fn a_name_does_not_leave_the_hierarchy() {
        let hierarchy = Hierarchy::Blkio(std::env::temp_dir());
        assert!(ControlGroup::open(&hierarchy, "../x", false).is_err());
        assert!(ControlGroup::open(&hierarchy, "", false).is_err());
        assert!(ControlGroup::open(&hierarchy, "/", false).is_err());
    }

    #[test]
    fn a_group_that_was_made_goes_and_one_that_was_there_stays() {
        let folder = std::env::temp_dir().join(format!("iosonde-group-{}", std::process::id()));
        fs::create_dir_all(folder.join("old")).unwrap();
        let hierarchy = Hierarchy::Unified(folder.clone());
        drop(ControlGroup::open(&hierarchy, "old", false).unwrap());
        drop(ControlGroup::open(&hierarchy, "new", false).unwrap());
        drop(ControlGroup::open(&hierarchy, "kept", true).unwrap());
        let there = |name: &str| folder.join(name).exists();
        assert_eq!(["old", "new", "kept"].map(there), [true, false, true]);
        let group = ControlGroup::open(&hierarchy, "old", false).unwrap();
        let refused = group.set_weight(500).unwrap_err();
        assert!(refused.to_string().contains("neither io.weight nor"), "{refused}");
        fs::write(folder.join("old/io.weight"), "default 100\n").unwrap();
        group.set_weight(500).unwrap();
        assert_eq!(fs::read_to_string(folder.join("old/io.weight")).unwrap(), "default 500");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_thread_is_in_the_group_until_it_leaves() {
        let Some(hierarchy @ Hierarchy::Blkio(_)) = Hierarchy::of_this_machine() else {
            iosonde_testing::skip!("no blkio controller of version 1 is mounted");
        };
        let name = format!("iosonde-test-{}", std::process::id());
        let Ok(group) = ControlGroup::open(&hierarchy, &name, false) else {
            iosonde_testing::skip!("no control group can be made");
        };
        let folder = group.folder().to_owned();
        std::thread::spawn(move || {
            let before = hierarchy.present().unwrap();
            let stay = group.enter().unwrap();
            assert_eq!(hierarchy.present().unwrap(), group.folder());
            drop(stay);
            assert_eq!(hierarchy.present().unwrap(), before);
        })
        .join()
        .unwrap();
        assert!(!folder.exists());
    }
}
