//! Which files are meant, and what the page cache holds of each.

use super::ask::{Act, Ask};
use iosonde_base::bare;
use iosonde_direct::cache::{Residency, residency};
use iosonde_direct::stack::{DeviceId, Stack};
use iosonde_direct::{DeviceFacts, Fact, OpenOptions};
use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// As many parts of a file are told apart at most.
pub const PARTS: u64 = 16;

/// A file or a block device.
#[derive(Clone, Debug)]
pub struct File {
    /// As it was named, or found.
    pub path: PathBuf,
    /// Its file system: `ext4`; `None` for a device.
    pub file_system: Option<String>,
    /// The device it is on, and its number there.
    pub id: (u64, u64),
    /// Its length.
    pub bytes: u64,
    /// What is in memory of all of it.
    pub found: Fact<Residency>,
    /// What is in memory of each part, in order.
    pub parts: Vec<Part>,
    /// Bytes in memory before something was done.
    pub before: Option<Fact<u64>>,
    /// Why what was to be done was not.
    pub failed: Option<String>,
    /// Why it is in memory still.
    pub stayed: Option<String>,
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it begins.
    pub offset: u64,
    /// How long it is; whole pages.
    pub bytes: u64,
    /// How much of it is in memory.
    pub cached: u64,
}

impl File {
    /// For reading, without a trace in its times.
    pub fn open(&self) -> io::Result<fs::File> {
        let open = OpenOptions::new().read(true).keep_access_time(true).open(&self.path);
        open.map_err(|error| error.source)
    }

    /// Whether memory is all the storage there is.
    pub fn is_memory(&self) -> bool {
        matches!(self.file_system.as_deref(), Some("tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs"))
    }

    /// Look at what is in memory now.
    pub fn look(&mut self) {
        self.parts.clear();
        let open = match self.open() {
            Ok(open) => open,
            Err(error) => {
                self.found = Fact::unknown(bare(&format!("it cannot be opened: {error}")));
                return;
            }
        };
        self.bytes = length(&open);
        self.found = residency(&open, 0, 0);
        if let Some(found) = self.found.known() {
            self.parts = parts(&open, found);
        }
    }

    /// One of the counts of pages, in bytes.
    pub fn count(&self, pages: impl Fn(&Residency) -> Fact<u64>) -> Fact<u64> {
        match &self.found {
            Fact::Known(found) => pages(found).map(|count| count.saturating_mul(found.page_bytes)),
            Fact::Unknown(why) => Fact::Unknown(why.clone()),
        }
    }

    /// Bytes in memory.
    pub fn cached(&self) -> Fact<u64> {
        self.count(|found| Fact::Known(found.cached))
    }

    /// Bytes that are in memory only.
    pub fn dirty(&self) -> Fact<u64> {
        self.count(|found| found.dirty.clone())
    }

    /// Bytes that are being written.
    pub fn writeback(&self) -> Fact<u64> {
        self.count(|found| found.writeback.clone())
    }

    /// Bytes that were thrown out.
    pub fn evicted(&self) -> Fact<u64> {
        self.count(|found| found.evicted.clone())
    }
}

fn length(open: &fs::File) -> u64 {
    iosonde_direct::device::size(open)
        .or_else(|_| open.metadata().map(|metadata| metadata.len()))
        .unwrap_or(0)
}

/// What is in memory of each part. What is all or nothing of the whole is of
/// the parts, without asking.
fn parts(open: &fs::File, found: &Residency) -> Vec<Part> {
    let pages = found.pages.div_ceil(PARTS).max(1);
    let starts = (0..found.pages).step_by(usize::try_from(pages).unwrap_or(usize::MAX));
    starts
        .map_while(|first| {
            let (offset, count) = (first * found.page_bytes, pages.min(found.pages - first));
            let bytes = count * found.page_bytes;
            let cached = match found.cached {
                0 => 0,
                all if all >= found.pages => bytes,
                _ => residency(open, offset, bytes).known()?.cached_bytes().min(bytes),
            };
            Some(Part { offset, bytes, cached })
        })
        .collect()
}

/// The files that are meant.
#[derive(Debug, Default)]
pub struct Found {
    /// Each once.
    pub files: Vec<File>,
    /// What was named and cannot be looked at.
    pub failed: Vec<(PathBuf, String)>,
    /// Directories that belong to another file system, and were left out.
    pub elsewhere: Vec<PathBuf>,
}

/// Find the files of `ask`, and look at each.
pub fn find(ask: &Ask) -> Found {
    let mut search =
        Search { ask, found: Found::default(), met: HashSet::new(), kinds: HashMap::new() };
    for path in &ask.paths {
        search.named(path);
    }
    search.found
}

struct Search<'a> {
    ask: &'a Ask,
    found: Found,
    /// Files by device and number: two names of one are one.
    met: HashSet<(u64, u64)>,
    /// File systems by device.
    kinds: HashMap<u64, Option<String>>,
}

impl Search<'_> {
    fn named(&mut self, path: &Path) {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => return self.fail(path, bare(&error.to_string())),
        };
        let kind = metadata.file_type();
        let why = match kind {
            _ if metadata.is_dir() && self.ask.recursive => return self.walk(path, metadata.dev()),
            _ if metadata.is_dir() => "is a directory; add --recursive for the files in it",
            _ if kind.is_block_device() => match self.device_in_use(&metadata) {
                Some(why) => return self.fail(path, why),
                None => return self.add(path, &metadata),
            },
            _ if metadata.is_file() => return self.add(path, &metadata),
            _ => "is neither a file nor a block device, so nothing of it is cached",
        };
        self.fail(path, why.to_owned());
    }

    fn fail(&mut self, path: &Path, why: String) {
        self.found.failed.push((path.to_owned(), why));
    }

    /// Why the cache of a device is not to be dropped.
    fn device_in_use(&self, metadata: &Metadata) -> Option<String> {
        if self.ask.act != Act::Drop {
            return None;
        }
        let facts = DeviceFacts::of(DeviceId::from_raw(metadata.rdev()));
        let by = match (facts.mounts.first(), facts.holders.first()) {
            (Some(point), _) => format!(
                "it is mounted on {}; name the files there, or that directory with --recursive",
                point.display()
            ),
            (None, Some(holder)) => format!("/dev/{holder} is made of it; name that"),
            (None, None) if facts.swap => "it is swap".to_owned(),
            (None, None) => return None,
        };
        Some(format!("is not dropped: {by}"))
    }

    fn walk(&mut self, folder: &Path, device: u64) {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    self.fail(&folder, bare(&error.to_string()));
                    continue;
                }
            };
            for entry in entries.flatten() {
                // Not through links: what they lead to has a place of its own.
                // What is gone by now is of no interest.
                let Ok(metadata) = entry.metadata() else { continue };
                match metadata.dev() == device {
                    _ if metadata.is_symlink() => {}
                    true if metadata.is_dir() => folders.push(entry.path()),
                    true if metadata.is_file() => self.add(&entry.path(), &metadata),
                    false if metadata.is_dir() => self.found.elsewhere.push(entry.path()),
                    _ => {}
                }
            }
        }
    }

    fn add(&mut self, path: &Path, metadata: &Metadata) {
        let is_device = metadata.file_type().is_block_device();
        let id = if is_device { (metadata.rdev(), 0) } else { (metadata.dev(), metadata.ino()) };
        if !self.met.insert(id) {
            return;
        }
        let mut file = File {
            path: path.to_owned(),
            file_system: if is_device { None } else { self.kind(path, metadata.dev()) },
            id,
            bytes: metadata.len(),
            found: Fact::unknown("it was not looked at"),
            parts: Vec::new(),
            before: None,
            failed: None,
            stayed: None,
        };
        match file.open() {
            Ok(_) => {
                file.look();
                self.found.files.push(file);
            }
            Err(error) => self.fail(path, bare(&error.to_string())),
        }
    }

    fn kind(&mut self, path: &Path, device: u64) -> Option<String> {
        let look = || Some(Stack::under(path).ok()?.mount?.filesystem);
        self.kinds.entry(device).or_insert_with(look).clone()
    }
}
