//! Which parts of a file have blocks with data on the device.

use std::fs::File;
use std::io;
use std::ops::Range;

use crate::platform;

/// A range of a file by what is below it, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// With data, on the device or on its way there.
    pub data_bytes: u64,
    /// Reserved and never written (`fallocate`): reads give zeros, and no
    /// device serves.
    pub unwritten_bytes: u64,
    /// Without blocks: as above.
    pub hole_bytes: u64,
    /// Of the data, compressed or encrypted by the file system.
    pub encoded_bytes: u64,
    /// How much of the range was looked at: a file in very many pieces is
    /// looked at in part.
    pub looked_at_bytes: u64,
}

impl Extents {
    /// Of `bytes` bytes of `file` from `offset` on. Past the file's end is a
    /// hole.
    ///
    /// # Errors
    /// If the file system has neither FIEMAP nor SEEK_DATA.
    pub fn of(file: &File, offset: u64, bytes: u64) -> io::Result<Extents> {
        platform::extents(file, offset, bytes)
    }

    /// Where the data of a range lies on the device of the file system, of which the first
    /// pieces: what is compressed, within metadata or still in memory has no place.
    ///
    /// # Errors
    /// If the file system has no FIEMAP.
    pub fn places(file: &File, offset: u64, bytes: u64) -> io::Result<Vec<Range<u64>>> {
        platform::places(file, offset, bytes)
    }

    /// The share of the range, from 0 to 1, that no device serves.
    pub fn empty_share(&self) -> f64 {
        match self.looked_at_bytes {
            0 => 0.0,
            all => (self.hole_bytes + self.unwritten_bytes) as f64 / all as f64,
        }
    }
}

/// Attributes of chattr(1) that change how a file is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Compressed (`+c`).
    pub compressed: bool,
    /// No copies on write, and on btrfs no checksums (`+C`).
    pub no_copy: bool,
    /// Data goes through the journal (`+j`).
    pub journalled: bool,
    /// Blocks are mapped by extents (`e`); without, by the tables of ext2 and ext3.
    pub has_extents: bool,
}

impl Attributes {
    /// Of an open file.
    ///
    /// # Errors
    /// If the file system has no such attributes.
    pub fn of(file: &File) -> io::Result<Attributes> {
        // The numbers of <linux/fs.h>: FS_COMPR_FL, FS_JOURNAL_DATA_FL, FS_NOCOW_FL, FS_EXTENT_FL.
        let flags = platform::attributes(file)?;
        Ok(Attributes {
            compressed: flags & 0x4 != 0,
            journalled: flags & 0x4000 != 0,
            no_copy: flags & 0x0080_0000 != 0,
            has_extents: flags & 0x0008_0000 != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn data_between_holes_is_found() {
        for folder in [std::env::temp_dir().as_path(), std::path::Path::new("/dev/shm")] {
            let path = folder.join(format!("iosonde-extents-{}", std::process::id()));
            let Ok(file) = File::options().read(true).write(true).create_new(true).open(&path)
            else {
                iosonde_testing::skip_part!("{} is not writable", folder.display());
                continue;
            };
            std::fs::remove_file(&path).unwrap();
            file.set_len(3 << 20).unwrap();
            file.write_all_at(&[1; 1 << 20], 1 << 20).unwrap();
            file.sync_all().unwrap();
            let Ok(found) = Extents::of(&file, 0, 3 << 20) else {
                iosonde_testing::skip_part!("{} reports no extents", folder.display());
                continue;
            };
            assert_eq!(found.looked_at_bytes, 3 << 20, "{found:?}");
            assert_eq!(found.data_bytes, 1 << 20, "{found:?}");
            assert_eq!(found.hole_bytes + found.unwritten_bytes, 2 << 20, "{found:?}");
            let inside = Extents::of(&file, 1 << 20, 1 << 20).unwrap();
            assert_eq!((inside.data_bytes, inside.empty_share()), (1 << 20, 0.0));
            let past = Extents::of(&file, 3 << 20, 1 << 20).unwrap();
            assert_eq!((past.hole_bytes, past.empty_share()), (1 << 20, 1.0), "{past:?}");
        }
    }

    #[test]
    fn what_is_no_file_has_no_extents() {
        assert!(Extents::of(&File::open("/proc/self/status").unwrap(), 0, 4096).is_err());
    }
}
