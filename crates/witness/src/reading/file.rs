//! One file of a job: what of it is in memory, what of it is on the device.

use iosonde_direct::sysfs::Tree;
use iosonde_direct::{Fact, cache};
use iosonde_sys::counters::{Attributes, Extents};
use iosonde_sys::files::{self, status, status_of};
use iosonde_sys::stack::Stack;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// mincore(2) takes time in proportion; beyond this it is left out.
const RESIDENCY_BYTES_MAX: u64 = 4 << 30;

/// A file's range before a job, and after.
#[derive(Clone, Debug, Default)]
pub struct FileReading {
    /// Where it is.
    pub path: PathBuf,
    /// The first byte of the range.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// The length of the whole file, before.
    pub file_bytes: u64,
    /// The number of the file system's device, or of the device it is.
    pub device: u64,
    /// It is a block device.
    pub is_device: bool,
    /// What chattr(1) set.
    pub attributes: Fact<Attributes>,
    /// Where it has data, before.
    pub extents: Fact<Extents>,
    /// The same after the job.
    pub extents_after: Fact<Extents>,
    /// In memory before, and after: bytes.
    pub resident: [Fact<u64>; 2],
    /// Not yet written back before, and after: bytes.
    pub unwritten: [Fact<u64>; 2],
}

impl FileReading {
    /// Whether any of its extents is stored compressed or encrypted (FIEMAP's `encoded`).
    pub(crate) fn has_encoded_extents(&self) -> bool {
        self.extents.get().is_some_and(|extents| extents.encoded_bytes > 0)
    }

    /// Bytes of holes in the range, but for what lies past the file's end.
    pub(crate) fn hole_bytes_within(&self) -> u64 {
        let past = self.offset.saturating_add(self.bytes).saturating_sub(self.file_bytes);
        let holes = self.extents.get().map_or(0, |extents| extents.hole_bytes);
        holes.saturating_sub(past.min(self.bytes))
    }

    /// A sample of `bytes` bytes of the file at `path`, before a job.
    ///
    /// # Errors
    /// If it cannot be opened for reading.
    pub fn before(path: &Path, offset: u64, bytes: u64) -> io::Result<FileReading> {
        let file = open(path)?;
        let status = status_of(&file)?;
        let is_device = status.file_type().is_block_device();
        let (resident, unwritten) = in_memory(path, &file, offset, bytes);
        let extents = if is_device {
            Fact::unknown("a device has no extents")
        } else {
            Extents::of(&file, offset, bytes).into()
        };
        Ok(FileReading {
            path: path.to_owned(),
            offset,
            bytes,
            file_bytes: status.len(),
            device: if is_device { status.rdev() } else { status.dev() },
            is_device,
            attributes: Attributes::of(&file).into(),
            extents,
            extents_after: Fact::unknown("it was not inspected again"),
            resident: [resident, Fact::unknown("it was not inspected again")],
            unwritten: [unwritten, Fact::unknown("it was not inspected again")],
        })
    }

    /// Of a file that is not there before the job, which makes it: nothing of it is
    /// in memory.
    pub fn absent(path: &Path, offset: u64, bytes: u64) -> FileReading {
        let later = || Fact::unknown("it was not inspected again");
        FileReading {
            path: path.to_owned(),
            offset,
            bytes,
            file_bytes: 0,
            // Of the folder that it will be in.
            device: path.parent().and_then(|folder| status(folder).ok()).map_or(0, |s| s.dev()),
            is_device: false,
            attributes: Fact::unknown("the file was not there before the run"),
            extents: Fact::unknown("the file was not there before the run"),
            extents_after: Fact::unknown("it was not inspected again"),
            resident: [Fact::Known(0), later()],
            unwritten: [Fact::Known(0), later()],
        }
    }

    /// Look again, after the job.
    pub fn look_again(&mut self) {
        let (resident, unwritten) = match open(&self.path) {
            // A range that nobody knew before: the whole file.
            Ok(file) if self.bytes == 0 && !self.is_device => {
                let bytes = file.metadata().map_or(0, |status| status.len());
                in_memory(&self.path, &file, 0, bytes)
            }
            Ok(file) => {
                if self.extents.get().is_some() {
                    self.extents_after = Extents::of(&file, self.offset, self.bytes).into();
                }
                in_memory(&self.path, &file, self.offset, self.bytes)
            }
            Err(error) => {
                let why = match error.kind() {
                    io::ErrorKind::NotFound => "the file was removed during the run".to_owned(),
                    _ => iosonde_base::bare(&error.to_string()),
                };
                (Fact::unknown(why.clone()), Fact::unknown(why))
            }
        };
        self.resident[1] = resident;
        self.unwritten[1] = unwritten;
    }

    /// By how much what is in memory has grown.
    pub(crate) fn grown_bytes(&self) -> Fact<u64> {
        match (&self.resident[0], &self.resident[1]) {
            (Fact::Known(before), Fact::Known(after)) => Fact::Known(after.saturating_sub(*before)),
            (Fact::Unknown(why), _) | (_, Fact::Unknown(why)) => Fact::Unknown(why.clone()),
        }
    }
}

pub(super) fn open(path: &Path) -> io::Result<File> {
    // A pipe would wait for its other end.
    files::without_waiting(File::options().read(true)).open(path)
}

/// Whether the file system is made of memory: nothing on it is ever durable. A
/// device has its name on such a one (/dev), and its data elsewhere.
pub(super) fn is_of_memory(file: &File) -> bool {
    let is_device = status_of(file).is_ok_and(|status| status.file_type().is_block_device());
    !is_device && files::is_of_memory(file)
}

/// The file of the directory that a file of overlayfs shows; it has the
/// pages. `None` where the directory is not visible here, as in most containers.
pub(super) fn behind_overlay(path: &Path, file: &File) -> Option<File> {
    let stack = Stack::under(path).ok()?;
    let behind = open(&Tree::here().behind_overlay(&stack.mount?, &stack.path)?).ok()?;
    // Of this mount namespace the path may be another file.
    let (shown, found) = (file.metadata().ok()?, behind.metadata().ok()?);
    let same = shown.len() == found.len() && shown.modified().ok()? == found.modified().ok()?;
    same.then_some(behind)
}

/// Bytes in memory, and bytes of that not yet written back.
fn in_memory(path: &Path, file: &File, offset: u64, bytes: u64) -> (Fact<u64>, Fact<u64>) {
    let overlaid = files::is_overlaid(file);
    let behind = if overlaid { behind_overlay(path, file) } else { None };
    let (overlaid, file) = (overlaid && behind.is_none(), behind.as_ref().unwrap_or(file));
    if overlaid && bytes > RESIDENCY_BYTES_MAX {
        // Page by page (mincore(2)) is all that there is here.
        let why = "overlayfs has no summary, and the file is too large to inspect each page";
        return (Fact::unknown(why), Fact::unknown(why));
    }
    match cache::residency(file, offset, bytes.max(1)) {
        // The kernel calls its pages clean, as there is nowhere to write them to.
        Fact::Known(found) if is_of_memory(file) => {
            (Fact::Known(found.cached_bytes()), Fact::Known(found.cached_bytes()))
        }
        Fact::Known(found) => {
            let unwritten = match found.unwritten_bytes() {
                // A page that is written back and dirty again counts as both.
                Fact::Known(bytes) => Fact::Known(bytes.min(found.cached_bytes())),
                Fact::Unknown(why) => Fact::unknown(why),
            };
            (Fact::Known(found.cached_bytes()), unwritten)
        }
        Fact::Unknown(why) => (Fact::unknown(why.clone()), Fact::unknown(why)),
    }
}

/// Which of `files` files to look at when no more than `most` shall be: evenly
/// spread, the first among them.
pub fn sample(files: usize, most: usize) -> impl Iterator<Item = usize> {
    let inspected = files.min(most.max(1));
    (0..inspected).map(move |at| at * files / inspected.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_over_all_and_no_larger_than_asked() {
        assert_eq!(sample(3, 8).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(sample(100, 4).collect::<Vec<_>>(), [0, 25, 50, 75]);
        assert_eq!(sample(0, 4).count(), 0);
        assert_eq!(sample(5, 0).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn a_file_that_is_not_there_is_no_reading() {
        assert!(FileReading::before(Path::new("/nowhere/at/all"), 0, 1).is_err());
    }

    #[test]
    fn a_file_that_the_job_makes_is_looked_at_after_it() {
        let path = std::env::temp_dir().join(format!("iosonde-absent-{}", std::process::id()));
        let mut reading = FileReading::absent(&path, 0, 0);
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        reading.look_again();
        std::fs::remove_file(&path).unwrap();
        match reading.grown_bytes() {
            Fact::Known(grown) => assert_eq!(grown, 1 << 20),
            Fact::Unknown(why) => iosonde_testing::skip!("{why}"),
        }
    }

    #[test]
    fn a_file_written_meanwhile_has_grown_in_memory() {
        let path = std::env::temp_dir().join(format!("iosonde-reading-{}", std::process::id()));
        std::fs::write(&path, []).unwrap();
        let mut reading = FileReading::before(&path, 0, 1 << 20).unwrap();
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        reading.look_again();
        std::fs::remove_file(&path).unwrap();
        match reading.grown_bytes() {
            Fact::Known(grown) => assert_eq!(grown, 1 << 20),
            Fact::Unknown(why) => iosonde_testing::skip!("{why}"),
        }
    }
}
