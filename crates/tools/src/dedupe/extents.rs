//! Reading a file extent by extent, and which of them have the same content.

use flate2::{Compress, Compression, FlushCompress};
use iosonde_direct::{AlignedBuf, ExactIo, OpenOptions};
use iosonde_sys::status_line;
use iosonde_verify::BlockType;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The MD5 of an extent.
type Hash = [u8; 16];

/// What to read, and what to find out.
pub struct Scan<'a> {
    /// A file or block device.
    pub file: &'a Path,
    /// Size of an extent, in bytes.
    pub extent_bytes: usize,
    /// Threads that read; 0: one on each processor.
    pub threads: usize,
    /// Read with O_DIRECT.
    pub direct: bool,
    /// Compare extents with equal hashes byte by byte.
    pub compare: bool,
    /// Compress unique extents.
    pub compress: bool,
    /// Keep the offsets of all extents.
    pub keep_offsets: bool,
    /// Show progress on a terminal.
    pub progress: bool,
}

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// Threads that read.
    pub threads: usize,
    /// Extents read: what is left at the end of a file is none.
    pub total: u64,
    /// Different contents.
    pub unique: u64,
    /// Contents that exist more than once.
    pub duplicated: u64,
    /// Size of the unique extents, compressed one by one.
    pub compressed_bytes: u64,
    /// Extents whose hash is another one's and whose content is not.
    pub collisions: u64,
    /// Offsets of each content, by hash, where they are kept.
    pub offsets: BTreeMap<Hash, Vec<u64>>,
}

/// Extents that a thread reads at a time, and counts with one lock.
const BATCH_BYTES: usize = 1 << 20;
/// Memory and lengths that O_DIRECT takes everywhere.
const ALIGNMENT: usize = 4096;

impl Scan<'_> {
    /// Read it to its end.
    ///
    /// # Errors
    /// It cannot be opened or read, or holds no extent: a sentence.
    pub fn run(&self) -> Result<Extents, String> {
        let name = self.file.display();
        let open = || {
            let kind = iosonde_sys::files::status(self.file)?.file_type();
            if kind.is_dir() || !(kind.is_file() || kind.is_block_device()) {
                return Err(io::Error::other("it is neither a file nor a block device"));
            }
            OpenOptions::new()
                .read(true)
                .direct(self.direct)
                .open(self.file)
                .map_err(io::Error::other)
        };
        let mut file = open().map_err(|why| format!("cannot open {name}: {why}"))?;
        let bytes = file.seek(SeekFrom::End(0)).map_err(|why| format!("size of {name}: {why}"))?;
        let extent_bytes = self.extent_bytes as u64;
        let total = bytes.checked_div(extent_bytes).unwrap_or(0);
        if total == 0 {
            return Err(format!(
                "{name} has {bytes} bytes, no extent of {extent_bytes}: change -b"
            ));
        }
        let threads = match self.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let (next, seen) = (AtomicU64::new(0), Mutex::default());
        let reading = Reading { scan: self, file: &file, total, next, seen };
        reading.read_all(threads).map_err(|why| format!("cannot read {name}: {why}"))?;
        if self.progress {
            status_line::clear();
        }
        let seen = reading.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(seen.finish(threads, total))
    }
}

/// A file that several threads read, batch by batch.
struct Reading<'a> {
    scan: &'a Scan<'a>,
    file: &'a File,
    total: u64,
    /// The extent with which the next batch begins.
    next: AtomicU64,
    seen: Mutex<SeenExtents>,
}

/// The extents read so far.
#[derive(Default)]
struct SeenExtents {
    extents: HashMap<Hash, Content>,
    compressed_bytes: u64,
    collisions: u64,
    offsets: BTreeMap<Hash, Vec<u64>>,
}

/// The extents of one content.
struct Content {
    first_offset: u64,
    is_duplicated: bool,
}

impl Reading<'_> {
    fn read_all(&self, threads: usize) -> io::Result<()> {
        // Who has no batch to read is not started.
        let needed = usize::try_from(self.total).map_or(threads, |total| threads.min(total));
        thread::scope(|scope| {
            let read = || self.read_batches();
            let readers: Vec<_> = (0..needed).map(|_| scope.spawn(read)).collect();
            // A thread that panicked has printed why.
            let ended = |_| Err(io::Error::other("a thread has ended"));
            readers.into_iter().try_for_each(|reader| reader.join().unwrap_or_else(ended))
        })
    }

    fn read_batches(&self) -> io::Result<()> {
        let extent_bytes = self.scan.extent_bytes;
        let each = (BATCH_BYTES / extent_bytes).max(1);
        let buffer = |extents: usize| {
            let bytes = extents.checked_mul(extent_bytes).ok_or(io::ErrorKind::OutOfMemory)?;
            AlignedBuf::new(bytes, ALIGNMENT).map_err(io::Error::other)
        };
        let (mut data, mut other) = (buffer(each)?, buffer(1)?);
        let mut exact = ExactIo::of(self.file)?;
        loop {
            let first = self.next.fetch_add(each as u64, Ordering::Relaxed);
            let Some(left) = self.total.checked_sub(first).filter(|&left| left > 0) else {
                return Ok(());
            };
            let extents = usize::try_from(left).map_or(each, |left| left.min(each));
            let data = &mut data[..extents * extent_bytes];
            let from = first * extent_bytes as u64;
            exact.read_exact(data, from)?;
            let hashes: Vec<Hash> = data.chunks(extent_bytes).map(md5).collect();
            self.count(&mut exact, from, data, &hashes, &mut other)?;
            if self.scan.progress {
                status_line::draw(&format!(
                    "{:.2}% done",
                    100.0 * first as f64 / self.total as f64
                ));
            }
        }
    }

    /// Count the extents of a batch, which begins at `from`.
    fn count(
        &self,
        exact: &mut ExactIo<'_>,
        from: u64,
        data: &[u8],
        hashes: &[Hash],
        other: &mut [u8],
    ) -> io::Result<()> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let extent_bytes = self.scan.extent_bytes;
        for ((extent, hash), nth) in data.chunks(extent_bytes).zip(hashes).zip(0..) {
            let offset = from + nth * extent_bytes as u64;
            if self.scan.keep_offsets {
                seen.offsets.entry(*hash).or_default().push(offset);
            }
            match seen.extents.entry(*hash) {
                Entry::Vacant(place) => {
                    place.insert(Content { first_offset: offset, is_duplicated: false });
                    if self.scan.compress {
                        seen.compressed_bytes += compressed(extent)?;
                    }
                }
                Entry::Occupied(mut content) => {
                    let content = content.get_mut();
                    if self.scan.compare {
                        exact.read_exact(other, content.first_offset)?;
                    }
                    if self.scan.compare && extent != other {
                        seen.collisions += 1;
                    } else {
                        content.is_duplicated = true;
                    }
                }
            }
        }
        Ok(())
    }
}

impl SeenExtents {
    fn finish(mut self, threads: usize, total: u64) -> Extents {
        self.offsets.values_mut().for_each(|offsets| offsets.sort_unstable());
        Extents {
            threads,
            total,
            unique: self.extents.len() as u64 + self.collisions,
            duplicated: self.extents.values().filter(|content| content.is_duplicated).count()
                as u64,
            compressed_bytes: self.compressed_bytes,
            collisions: self.collisions,
            offsets: self.offsets,
        }
    }
}

fn md5(extent: &[u8]) -> Hash {
    let sum = BlockType::Md5.checksum(extent);
    let mut hash = Hash::default();
    hash.copy_from_slice(sum.as_bytes());
    hash
}

/// A hash as fio-dedupe prints it: words of 32 bits.
pub fn hash_text(hash: &Hash) -> String {
    let (words, _) = hash.as_chunks();
    let words: Vec<String> =
        words.iter().map(|word| format!("{:8x}", u32::from_le_bytes(*word))).collect();
    words.join(" ")
}

/// Bytes of an extent as a deflate stream; what does not shrink is stored as it is.
fn compressed(extent: &[u8]) -> io::Result<u64> {
    let mut stream = Compress::new(Compression::default(), false);
    let mut out = vec![0; extent.len()];
    stream.compress(extent, &mut out, FlushCompress::Finish).map_err(io::Error::other)?;
    let is_whole = stream.total_in() == extent.len() as u64;
    Ok(if is_whole { stream.total_out() } else { extent.len() as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    fn scan(folder: &Folder, change: impl FnOnce(&mut Scan<'_>)) -> Extents {
        let file = folder.join("data");
        let mut scan = Scan {
            file: &file,
            extent_bytes: 4096,
            threads: 2,
            direct: false,
            compare: true,
            compress: true,
            keep_offsets: true,
            progress: false,
        };
        change(&mut scan);
        scan.run().unwrap()
    }

    #[test]
    fn each_content_counts_once_whoever_reads_it() {
        let folder = Folder::new("dedupe");
        // 600 extents of 200 contents, three of each, and a rest that is no extent.
        let mut data: Vec<u8> =
            (0..600u32).flat_map(|nth| (nth % 200).to_le_bytes().repeat(1024)).collect();
        data.extend([1; 100]);
        folder.write("data", data);
        for (threads, direct) in [(1, false), (3, false), (2, true)] {
            let found = scan(&folder, |scan| (scan.threads, scan.direct) = (threads, direct));
            assert_eq!(
                (found.total, found.unique, found.duplicated, found.collisions),
                (600, 200, 200, 0)
            );
            assert_eq!(found.offsets.len(), 200);
            let zeroes = md5(&[0; 4096]);
            assert_eq!(found.offsets[&zeroes], [0, 200 * 4096, 400 * 4096]);
            assert!(
                (200 * 10..200 * 40).contains(&found.compressed_bytes),
                "{}",
                found.compressed_bytes
            );
        }
        let large = scan(&folder, |scan| scan.extent_bytes = 200 * 4096);
        assert_eq!((large.total, large.unique, large.duplicated), (3, 1, 1));
    }

    #[test]
    fn what_does_not_shrink_is_as_large_as_it_is() {
        let noise: Vec<u8> = (0..4096u32)
            .flat_map(|nth| BlockType::Md5.checksum(&nth.to_le_bytes()).as_bytes()[..1].to_vec())
            .collect();
        assert_eq!(compressed(&noise).unwrap(), 4096);
        assert!(compressed(&[0; 4096]).unwrap() < 40);
    }

    #[test]
    fn a_hash_is_words_of_the_processor() {
        let hash: Hash = [
            0x7d, 0xaa, 0x45, 0x5b, 0x63, 0xa6, 0xf9, 0x2e, 0xe2, 0x28, 0x70, 0x6c, 0xea, 0x37,
            0x3c, 0x0a,
        ];
        assert_eq!(hash_text(&hash), "5b45aa7d 2ef9a663 6c7028e2  a3c37ea");
    }
}
