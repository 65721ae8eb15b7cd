//! Where cases run: devices and file systems of the bench's own, each made once.

use iosonde_faults::{Caching, FaultMount, Script, Store};
use iosonde_testing::{Cleaner, quoted, run as command};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A place: a directory or a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// `{on}`
    pub(crate) on: PathBuf,
    /// `{dev}`: the kernel's name of the device right below; empty where there is none.
    pub(crate) device: String,
    /// The device below that, of a loop device on a file system of the bench.
    pub(crate) below: String,
}

impl Place {
    /// `{id}`: the number of its device, as control groups want it.
    pub(crate) fn id(&self) -> String {
        let text = fs::read_to_string(format!("/sys/class/block/{}/dev", self.device));
        text.unwrap_or_default().trim().to_owned()
    }
}

/// All that were made so far.
pub(crate) struct Places<'a> {
    directory: &'a Path,
    cleaner: &'a Cleaner,
    made: BTreeMap<String, Result<Place, String>>,
    served: Vec<FaultMount>,
}

const MIB: u64 = 1 << 20;
/// xfs and btrfs want some; images are sparse.
const IMAGE_BYTES: u64 = 768 * MIB;

impl<'a> Places<'a> {
    pub(crate) fn new(directory: &'a Path, cleaner: &'a Cleaner) -> Places<'a> {
        Places { directory, cleaner, made: BTreeMap::new(), served: Vec::new() }
    }

    /// The place of this name; why it cannot be had.
    pub(crate) fn get(&mut self, name: &str) -> Result<Place, String> {
        if let Some(made) = self.made.get(name) {
            return made.clone();
        }
        let made = self.make(name);
        self.made.insert(name.to_owned(), made.clone());
        made
    }

    /// Something that the cleaner undoes.
    pub(crate) fn undo_later(&mut self, command: &str) -> Result<(), String> {
        self.cleaner.at_end(command)
    }

    fn make(&mut self, name: &str) -> Result<Place, String> {
        // Another one of a kind, as one that is cold: `erofs#2`.
        match name.split('#').next().unwrap_or_default() {
            "none" => self.plain_directory(name),
            kind @ ("ext4" | "xfs" | "btrfs") => self.filesystem(name, kind, &[], "defaults"),
            "ext4-no-extents" => {
                self.filesystem(name, "ext4", &["-O", "^extents,^64bit"], "defaults")
            }
            "ext4-data-journal" => self.filesystem(name, "ext4", &[], "data=journal"),
            "ext4-journal-elsewhere" => self.journal_elsewhere(name, "ext4"),
            "xfs-log-elsewhere" => self.journal_elsewhere(name, "xfs"),
            kind @ ("squashfs" | "erofs") => self.image_of_files(name, kind),
            "ext4-nobarrier" => self.filesystem(name, "ext4", &[], "nobarrier"),
            "btrfs-zstd" => self.filesystem(name, "btrfs", &[], "compress-force=zstd"),
            "btrfs-nodatasum" => self.filesystem(name, "btrfs", &[], "nodatasum"),
            "raw" => self.raw(name, true),
            "raw-cached" => self.raw(name, false),
            "raw-other" => self.raw(name, true),
            "ext4-cached" => self.on_cached_loop(name),
            "raw-on-ext4" => self.loop_on_filesystem(name, "defaults", &[]),
            "raw-on-ext4-direct" => self.loop_on_filesystem(name, "defaults", &["--direct-io=on"]),
            "ext4-on-nobarrier" => {
                let on = self.loop_on_filesystem(name, "nobarrier", &["--direct-io=on"])?;
                let upper =
                    self.mkfs(name, "ext4", &[], "defaults", &format!("/dev/{}", on.device))?;
                Ok(Place { below: on.below, ..upper })
            }
            "raw-on-fuse" => {
                let below = self.fuse(&format!("{name}.below"), Caching::None)?;
                self.loop_in(name, &below.on)
            }
            "raw-on-overlay-memory" => {
                let below = self.overlay_on_memory(&format!("{name}.below"))?;
                self.loop_in(name, &below.on)
            }
            "raw-memory" => self.in_memory(name).map(|device| self.of_device(&device)),
            "ext4-memory" => {
                let device = self.in_memory(name)?;
                self.mkfs(name, "ext4", &[], "defaults", &device)
            }
            "tmpfs" => self.tmpfs(name),
            "bind" => self.bind(name),
            "overlay" => self.overlay(name, "", false),
            "overlay-hidden" => self.overlay(name, "", true),
            "overlay-volatile" => self.overlay(name, ",volatile", false),
            "fuse" => self.fuse(name, Caching::None),
            "fuse-cached" => self.fuse(name, Caching::Pages),
            "zram" => self.zram(),
            "mapped" => self.mapped(name).map(|device| self.of_device(&device)),
            "ext4-mapped" => {
                let device = self.mapped(name)?;
                self.mkfs(name, "ext4", &[], "defaults", &device)
            }
            "partition" => self.partition(name),
            _ => Err(format!("no place is named {name:?}")),
        }
    }

    fn directory_of(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.directory.join(name);
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    fn plain_directory(&self, name: &str) -> Result<Place, String> {
        Ok(Place { on: self.directory_of(name)?, ..Place::default() })
    }

    fn of_device(&self, device: &str) -> Place {
        let on = PathBuf::from(device);
        let real = fs::canonicalize(&on).unwrap_or_else(|_| on.clone());
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Place { on, device: name, below: String::new() }
    }

    fn image(&self, folder: &Path, name: &str, bytes: u64) -> Result<PathBuf, String> {
        let path = folder.join(format!("{name}.image"));
        let made = File::create(&path).and_then(|file| file.set_len(bytes));
        made.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    fn attach(&mut self, image: &Path, more: &[&str]) -> Result<String, String> {
        let image = image.display().to_string();
        let device = command("losetup", &[&["--find", "--show"], more, &[&image]].concat())?;
        // Of a device in use: detached when its last user has ended. What a case set stays
        // with the device's number, for whoever gets it next.
        let name = device.trim_start_matches("/dev/");
        self.undo_later(&format!(
            "echo 'write back' > /sys/block/{name}/queue/write_cache 2> /dev/null; \
             limits=/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device; \
             if [ -e $limits ]; then echo \"$(cat /sys/block/{name}/dev) 0\" > $limits; fi; \
             losetup --detach {device}"
        ))?;
        Ok(device)
    }

    /// A loop device that bypasses the page cache of its file, as a disk would.
    fn disk(&mut self, name: &str) -> Result<String, String> {
        let image = self.image(self.directory, name, IMAGE_BYTES)?;
        self.attach(&image, &["--direct-io=on"])
    }

    fn mkfs(
        &mut self,
        name: &str,
        kind: &str,
        options: &[&str],
        mount: &str,
        device: &str,
    ) -> Result<Place, String> {
        // ext4 would go on writing its tables after it is mounted.
        let whole: &[&str] = match kind {
            "ext4" => &["-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
            _ => &["-f"],
        };
        command(&format!("mkfs.{kind}"), &[&["-q"], whole, options, &[device]].concat())?;
        let on = self.directory_of(&format!("{name}.mounted"))?;
        command("mount", &["-o", mount, device, &on.display().to_string()])?;
        Ok(Place { on, ..self.of_device(device) })
    }

    fn filesystem(
        &mut self,
        name: &str,
        kind: &str,
        options: &[&str],
        mount: &str,
    ) -> Result<Place, String> {
        let device = self.disk(name)?;
        self.mkfs(name, kind, options, mount, &device)
    }

    fn raw(&mut self, name: &str, direct: bool) -> Result<Place, String> {
        let image = self.image(self.directory, name, 256 * MIB)?;
        let device = if direct {
            self.attach(&image, &["--direct-io=on"])?
        } else {
            self.attach(&image, &[])?
        };
        Ok(self.of_device(&device))
    }

    fn on_cached_loop(&mut self, name: &str) -> Result<Place, String> {
        let image = self.image(self.directory, name, IMAGE_BYTES)?;
        let device = self.attach(&image, &[])?;
        self.mkfs(name, "ext4", &[], "defaults", &device)
    }

    /// A loop device of a file on a file system of the bench.
    fn loop_on_filesystem(
        &mut self,
        name: &str,
        mount: &str,
        more: &[&str],
    ) -> Result<Place, String> {
        let below = self.filesystem(&format!("{name}.below"), "ext4", &[], mount)?;
        let image = self.image(&below.on, name, 256 * MIB)?;
        let device = self.attach(&image, more)?;
        Ok(Place { below: below.device, ..self.of_device(&device) })
    }

    /// A loop device of a file in this directory.
    fn loop_in(&mut self, name: &str, folder: &Path) -> Result<Place, String> {
        let image = self.image(folder, name, 64 * MIB)?;
        let device = self.attach(&image, &[])?;
        Ok(self.of_device(&device))
    }

    /// A file system whose journal or log is on another device, which is `below`.
    fn journal_elsewhere(&mut self, name: &str, kind: &str) -> Result<Place, String> {
        let image = self.image(self.directory, &format!("{name}.journal"), 64 * MIB)?;
        let journal = self.attach(&image, &["--direct-io=on"])?;
        let device = self.disk(name)?;
        let place = if kind == "ext4" {
            command("mkfs.ext4", &["-q", "-F", "-b", "4096", "-O", "journal_dev", &journal])?;
            let on_journal = format!("device={journal}");
            self.mkfs(name, kind, &["-b", "4096", "-J", &on_journal], "defaults", &device)?
        } else {
            let log = format!("logdev={journal}");
            self.mkfs(name, kind, &["-l", &log], &log, &device)?
        };
        Ok(Place { below: self.of_device(&journal).device, ..place })
    }

    /// A compressed image that cannot be written to, with the file `f` of 64 MiB, half of
    /// which does not compress.
    fn image_of_files(&mut self, name: &str, kind: &str) -> Result<Place, String> {
        let files = self.directory_of(&format!("{name}.files"))?;
        let file = quoted(&files.join("f"));
        let script =
            format!("(head -c 32M /dev/urandom; yes iosonde | head -c 32M) > {file} 2>/dev/null");
        command("sh", &["-c", &script])?;
        let image = self.directory.join(format!("{name}.image"));
        let (files, path) = (files.display().to_string(), image.display().to_string());
        match kind {
            "squashfs" => command(
                "mksquashfs",
                &[&files, &path, "-quiet", "-no-progress", "-noappend", "-comp", "lz4"],
            )?,
            _ => command("mkfs.erofs", &["--quiet", "-zlz4", &path, &files])?,
        };
        // Its device must have been written to and be cold.
        command("sync", &[&path])?;
        let device = self.attach(&image, &["--direct-io=on", "--read-only"])?;
        let on = self.directory_of(&format!("{name}.mounted"))?;
        command("mount", &["-o", "ro", &device, &on.display().to_string()])?;
        Ok(Place { on, ..self.of_device(&device) })
    }

    fn in_memory(&mut self, name: &str) -> Result<String, String> {
        let on = self.tmpfs(&format!("{name}.tmpfs"))?.on;
        let image = self.image(&on, name, 256 * MIB)?;
        self.attach(&image, &[])
    }

    fn tmpfs(&mut self, name: &str) -> Result<Place, String> {
        let on = self.directory_of(name)?;
        command("mount", &["-t", "tmpfs", "tmpfs", &on.display().to_string()])?;
        Ok(Place { on, ..Place::default() })
    }

    fn bind(&mut self, name: &str) -> Result<Place, String> {
        let below = self.get("ext4")?;
        let (from, on) = (below.on.join("bound"), self.directory_of(name)?);
        fs::create_dir_all(&from).map_err(|error| error.to_string())?;
        command("mount", &["--bind", &from.display().to_string(), &on.display().to_string()])?;
        Ok(Place { on, ..below })
    }

    fn overlay(&mut self, name: &str, more: &str, hidden: bool) -> Result<Place, String> {
        let below = self.filesystem(&format!("{name}.below"), "ext4", &[], "defaults")?;
        let on = self.overlay_over(name, more, &below)?;
        if hidden {
            let above = below.on.display().to_string();
            command("mount", &["-t", "tmpfs", "tmpfs", &above])?;
        }
        Ok(Place { on, ..below })
    }

    /// Its directories are on tmpfs.
    fn overlay_on_memory(&mut self, name: &str) -> Result<Place, String> {
        let below = self.tmpfs(&format!("{name}.tmpfs"))?;
        let on = self.overlay_over(name, "", &below)?;
        Ok(Place { on, ..below })
    }

    fn overlay_over(&self, name: &str, more: &str, below: &Place) -> Result<PathBuf, String> {
        let part = |part: &str| -> Result<String, String> {
            let path = below.on.join(part);
            fs::create_dir_all(&path).map_err(|error| error.to_string())?;
            Ok(path.display().to_string())
        };
        let (lower, upper, work) = (part("lower")?, part("upper")?, part("work")?);
        let options = format!("lowerdir={lower},upperdir={upper},workdir={work}{more}");
        let on = self.directory_of(name)?;
        let over = on.display().to_string();
        command("mount", &["-t", "overlay", "-o", &options, "overlay", &over])?;
        Ok(on)
    }

    fn fuse(&mut self, name: &str, caching: Caching) -> Result<Place, String> {
        let on = self.directory_of(name)?;
        let store = Store::new(Script::new(1, Vec::new()), "");
        self.served.push(FaultMount::mount(store, caching, &on)?);
        Ok(Place { on, ..Place::default() })
    }

    /// A zram device of the bench's own.
    fn zram(&mut self) -> Result<Place, String> {
        let control = "/sys/class/zram-control";
        let number = fs::read_to_string(format!("{control}/hot_add"))
            .map_err(|error| format!("zram: {error}"))?;
        let number = number.trim();
        self.undo_later(&format!(
            "echo 1 > /sys/block/zram{number}/reset; echo {number} > {control}/hot_remove"
        ))?;
        fs::write(format!("/sys/block/zram{number}/disksize"), "256M")
            .map_err(|error| format!("zram: {error}"))?;
        Ok(self.of_device(&format!("/dev/zram{number}")))
    }

    fn mapped(&mut self, name: &str) -> Result<String, String> {
        let disk = self.disk(name)?;
        let own = format!("iosonde-truth-{}-{name}", std::process::id());
        let table = format!("0 {} linear {disk} 0", IMAGE_BYTES / 512);
        command("dmsetup", &["create", &own, "--table", &table])?;
        self.undo_later(&format!("dmsetup remove --retry {own}"))?;
        command("dmsetup", &["mknodes", &own])?;
        Ok(format!("/dev/mapper/{own}"))
    }

    fn partition(&mut self, name: &str) -> Result<Place, String> {
        let image = self.image(self.directory, name, 256 * MIB)?;
        let device = self.attach(&image, &["--direct-io=on", "--partscan"])?;
        let sectors = (128 * MIB / 512).to_string();
        command("addpart", &[&device, "1", "2048", &sectors])?;
        let part = format!("{device}p1");
        if Path::new(&part).exists() {
            Ok(Place { on: PathBuf::from(part), ..self.of_device(&device) })
        } else {
            Err(format!("{part} does not appear"))
        }
    }
}
