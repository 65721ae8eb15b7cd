//! The named files, and how much of each the page cache holds.

use super::arguments::{CacheAction, CacheArgs};
use iosonde_base::bare;
use iosonde_direct::cache::{Residency, residency};
use iosonde_direct::stack::{DeviceId, Stack};
use iosonde_direct::{DeviceFacts, Fact, OpenOptions};
use iosonde_sys::files::{Status, link_status, status};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file is shown in at most this many parts.
pub const PARTS: u64 = 16;

/// A file or a block device.
#[derive(Clone, Debug)]
pub struct CachedFile {
    /// As it was named, or found.
    pub path: PathBuf,
    /// Its file system: `ext4`; `None` for a device.
    pub file_system: Option<String>,
    /// The device it is on, and its number there.
    pub id: (u64, u64),
    /// Its length.
    pub bytes: u64,
    /// How much of it is cached.
    pub found: Fact<Residency>,
    /// How much of each part is cached, in order.
    pub parts: Vec<FilePart>,
    /// Bytes cached before the action.
    pub before: Option<Fact<u64>>,
    /// Why the action failed.
    pub failed: Option<String>,
    /// Why pages are still cached after dropping.
    pub still_cached: Option<String>,
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// Where it begins.
    pub offset: u64,
    /// How long it is; whole pages.
    pub bytes: u64,
    /// How much of it is cached.
    pub cached: u64,
}

impl CachedFile {
    /// For reading, without changing its access time.
    pub fn open(&self) -> io::Result<fs::File> {
        let open = OpenOptions::new().read(true).keep_access_time(true).open(&self.path);
        open.map_err(|error| error.source)
    }

    /// Whether its file system keeps files in memory.
    pub fn is_memory(&self) -> bool {
        matches!(self.file_system.as_deref(), Some("tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs"))
    }

    /// Read the state of the page cache now.
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

    /// Bytes cached.
    pub fn cached(&self) -> Fact<u64> {
        self.count(|found| Fact::Known(found.cached))
    }

    /// Bytes not written back yet.
    pub fn dirty(&self) -> Fact<u64> {
        self.count(|found| found.dirty.clone())
    }

    /// Bytes under writeback.
    pub fn writeback(&self) -> Fact<u64> {
        self.count(|found| found.writeback.clone())
    }

    /// Bytes recently evicted.
    pub fn evicted(&self) -> Fact<u64> {
        self.count(|found| found.evicted.clone())
    }
}

fn length(open: &fs::File) -> u64 {
    iosonde_direct::device::size(open)
        .or_else(|_| open.metadata().map(|metadata| metadata.len()))
        .unwrap_or(0)
}

/// How much of each part is cached. Where all or nothing of the file is cached,
/// the same holds for its parts.
fn parts(open: &fs::File, found: &Residency) -> Vec<FilePart> {
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
            Some(FilePart { offset, bytes, cached })
        })
        .collect()
}

/// The named files.
#[derive(Debug, Default)]
pub struct CachedFiles {
    /// Each once.
    pub files: Vec<CachedFile>,
    /// Named paths that failed, and why.
    pub failed: Vec<(PathBuf, String)>,
    /// Directories on other file systems, which were skipped.
    pub other_file_systems: Vec<PathBuf>,
}

/// Find the named files, and look at each.
pub fn find(arguments: &CacheArgs) -> CachedFiles {
    let mut search = FileSearch {
        arguments,
        found: CachedFiles::default(),
        visited: HashSet::new(),
        kinds: HashMap::new(),
    };
    for path in &arguments.paths {
        search.named(path);
    }
    search.found
}

struct FileSearch<'a> {
    arguments: &'a CacheArgs,
    found: CachedFiles,
    /// Files by device and number: two names of one are one.
    visited: HashSet<(u64, u64)>,
    /// File systems by device.
    kinds: HashMap<u64, Option<String>>,
}

impl FileSearch<'_> {
    fn named(&mut self, path: &Path) {
        let metadata = match status(path) {
            Ok(metadata) => metadata,
            Err(error) => return self.fail(path, bare(&error.to_string())),
        };
        let kind = metadata.file_type();
        let why = match kind {
            _ if metadata.is_dir() && self.arguments.recursive => {
                return self.walk(path, metadata.dev());
            }
            _ if metadata.is_dir() => "is a directory; add --recursive for the files in it",
            _ if kind.is_block_device() => match self.device_in_use(&metadata) {
                Some(why) => return self.fail(path, why),
                None => return self.add(path, &metadata),
            },
            _ if metadata.is_file() => return self.add(path, &metadata),
            _ => "is neither a file nor a block device; nothing of it is cached",
        };
        self.fail(path, why.to_owned());
    }

    fn fail(&mut self, path: &Path, why: String) {
        self.found.failed.push((path.to_owned(), why));
    }

    /// Why the cache of a device must not be dropped.
    fn device_in_use(&self, metadata: &Status) -> Option<String> {
        if self.arguments.action() != CacheAction::Drop {
            return None;
        }
        let facts = DeviceFacts::of(DeviceId::from_raw(metadata.rdev()));
        let by = match (facts.mounts.first(), facts.holders.first()) {
            (Some(point), _) => format!(
                "it is mounted on {}; name files there, or that directory with --recursive",
                point.display()
            ),
            (None, Some(holder)) => format!("/dev/{holder} uses it; name that"),
            (None, None) if facts.swap => "it is swap".to_owned(),
            (None, None) => return None,
        };
        Some(format!("was not dropped: {by}"))
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
                // Symbolic links are not followed; files removed meanwhile are ignored.
                let Ok(metadata) = link_status(entry.path()) else { continue };
                match metadata.dev() == device {
                    _ if metadata.file_type().is_symlink() => {}
                    true if metadata.is_dir() => folders.push(entry.path()),
                    true if metadata.is_file() => self.add(&entry.path(), &metadata),
                    false if metadata.is_dir() => self.found.other_file_systems.push(entry.path()),
                    _ => {}
                }
            }
        }
    }

    fn add(&mut self, path: &Path, metadata: &Status) {
        let is_device = metadata.file_type().is_block_device();
        let id = if is_device { (metadata.rdev(), 0) } else { (metadata.dev(), metadata.ino()) };
        if !self.visited.insert(id) {
            return;
        }
        let mut file = CachedFile {
            path: path.to_owned(),
            file_system: if is_device { None } else { self.kind(path, metadata.dev()) },
            id,
            bytes: metadata.len(),
            found: Fact::unknown("not read"),
            parts: Vec::new(),
            before: None,
            failed: None,
            still_cached: None,
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
