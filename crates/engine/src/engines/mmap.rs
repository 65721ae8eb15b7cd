//! mmap: the file is mapped, and I/O is a copy from or to memory.
//!
//! A page that cannot be had (the file was cut shorter, the device failed, the
//! file system is full) is a SIGBUS in the middle of the copy. [`page_loss`] turns
//! it into an error of that I/O.
#![allow(unsafe_code)]

use super::offload::{Alone, pool_of};
use super::{CAPS, always, one_shot};
use crate::platform::{self, Mapping, RawFile, page_loss};
use crate::{
    Caps, EngineDef, EngineOptionTable, Hint, Io, JobContext, OneShot, OpenWith, Opened,
    OwnOptions, OwnSettings,
};
use iosonde_base::{Errno, FileId, Op};
use iosonde_options::{Category, Diagnostic, options, words};

/// Catalogue entry.
pub(crate) static MMAP: EngineDef = EngineDef {
    name: "mmap",
    aliases: &[],
    summary: "memory mapped files",
    doc: "mmap(2): memory is copied from and to the mapped file; msync(2) makes it durable.",
    caps: Caps { no_extend: true, ..CAPS },
    options: Some(&OPTIONS),
    offload: Some(|with, accounting| pool_of(with, accounting, |with| Ok(Alone(open(with))))),
    available: always,
    open: |with, accounting| Ok(one_shot(open(with), accounting)),
};

words! {
    /// Advice for madvise(2) about huge pages.
    pub enum HugePageAdvice {
        Never = "0" : "MADV_NOHUGEPAGE",
        Huge = "1" : "MADV_HUGEPAGE",
    }
}

options! {
    /// mmap
    struct MmapOptions in Category::Engine {
        /// Ask for huge pages (1), for none (0), or leave it to the system.
        thp: Option<HugePageAdvice> = "" as "thp" {
            good: &["0", "1"],
        }
    }
}

static OPTIONS: EngineOptionTable = EngineOptionTable::of::<MmapOptions>(MmapOptions::OPTIONS);

/// How files are mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MmapSettings {
    /// Transparent huge pages by madvise(2).
    pub thp: bool,
}

impl OwnSettings for MmapSettings {}

impl OwnOptions for MmapOptions {
    type Settings = MmapSettings;

    fn settings(&self, _: &JobContext) -> Result<MmapSettings, Diagnostic> {
        Ok(MmapSettings { thp: self.thp.get().is_some() })
    }
}

/// The engine, with nothing mapped.
pub(crate) fn open(with: &OpenWith) -> Mmap {
    Mmap::new(with, WINDOW_BYTES)
}

/// Why a place that the file does not have is not mapped.
pub(crate) const PAST_END: Errno = Errno::ENXIO;

/// How much of a file is mapped at a time: much, as addresses cost nothing
/// until they are touched, yet so that hundreds of files fit in 47 bits.
#[cfg(target_pointer_width = "64")]
const WINDOW_BYTES: u64 = 1 << 38;
#[cfg(not(target_pointer_width = "64"))]
const WINDOW_BYTES: u64 = 1 << 26;

/// The engine: what is mapped of each file.
pub(crate) struct Mmap {
    files: Vec<Mapped>,
    window_bytes: u64,
    thp: bool,
}

/// One file, and the part of it that is mapped.
struct Mapped {
    fd: RawFile,
    /// Bytes from the start that the job may touch.
    bytes: u64,
    writes: bool,
    hint: Option<Hint>,
    window: Option<MappedWindow>,
}

/// A mapped part of a file, and where in the file it begins.
struct MappedWindow {
    mapping: Mapping,
    start: u64,
}

impl Mmap {
    fn new(with: &OpenWith, window_bytes: u64) -> Mmap {
        page_loss::catch();
        let files = (0..with.files).map(|_| Mapped::CLOSED).collect();
        Mmap { files, window_bytes, thp: with.settings.of::<MmapSettings>().thp }
    }
}

impl Mapped {
    const CLOSED: Mapped = Mapped { fd: -1, bytes: 0, writes: false, hint: None, window: None };

    /// Where `io` is in memory, after mapping the part of the file it is in.
    #[inline]
    fn reach(&mut self, io: &Io, window_bytes: u64, thp: bool) -> Result<*mut u8, Errno> {
        if let Some(window) = &self.window {
            let inside = io.offset.wrapping_sub(window.start);
            let bytes = window.mapping.bytes as u64;
            if inside < bytes && u64::from(io.len) <= bytes - inside {
                return Ok(window.mapping.memory.wrapping_add(inside as usize));
            }
        }
        self.map(io, window_bytes, thp)
    }

    #[cold]
    #[inline(never)]
    fn map(&mut self, io: &Io, window_bytes: u64, thp: bool) -> Result<*mut u8, Errno> {
        let aligned = platform::map_alignment();
        let end = io.offset + u64::from(io.len);
        // The whole file if it fits, else a window that starts at the I/O.
        let start = if self.bytes <= window_bytes { 0 } else { io.offset & !(aligned - 1) };
        let bytes = self.bytes.max(end) - start;
        let bytes = bytes.min(window_bytes.max(end - start));
        let bytes = usize::try_from(bytes).map_err(|_| Errno::ENOMEM)?;
        // The old window goes first, so that there is never room for two to find.
        self.window = None;
        let mapping = Mapping::new(self.fd, (start, bytes), self.writes, self.hint, thp)?;
        if end - start > mapping.bytes as u64 {
            // The file ends before: some systems map no further.
            return Err(PAST_END);
        }
        let memory = mapping.memory.wrapping_add((io.offset - start) as usize);
        self.window = Some(MappedWindow { mapping, start });
        Ok(memory)
    }

    /// Result of an I/O whose place could not be mapped.
    #[cold]
    fn unmapped(&mut self, io: &Io, errno: Errno) -> Result<u32, Errno> {
        if errno == PAST_END { self.missing(io) } else { Err(errno) }
    }

    /// Result of a copy that met an unavailable page.
    #[cold]
    fn missing(&mut self, io: &Io) -> Result<u32, Errno> {
        // The window now holds an empty page in place of the missing one.
        self.window = None;
        platform::missing_page(self.fd, io)
    }

    /// Make it durable: what is mapped by msync(2). Where earlier windows may
    /// have left dirty pages behind, by fsync(2), which covers them too.
    fn sync(&self, io: &Io) -> Result<(), Errno> {
        match &self.window {
            Some(window) if window.start == 0 && window.mapping.bytes as u64 >= self.bytes => {
                window.mapping.sync(io.fd)
            }
            _ => platform::fsync(io.fd),
        }
    }
}

impl OneShot for Mmap {
    fn syncs(&self) -> bool {
        true
    }

    #[inline]
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        let Mmap { files, window_bytes, thp } = self;
        let file = &mut files[io.file.0 as usize];
        let (from, to) = match io.op {
            Op::Read => match file.reach(io, *window_bytes, *thp) {
                Ok(memory) => (memory, io.buffer),
                Err(errno) => return file.unmapped(io, errno),
            },
            Op::Write => match file.reach(io, *window_bytes, *thp) {
                Ok(memory) => (io.buffer, memory),
                Err(errno) => return file.unmapped(io, errno),
            },
            Op::Trim => return platform::discard(io),
            _ => return file.sync(io).map(|()| io.len),
        };
        let window = file.window.as_ref().expect("reach mapped it");
        let Mapping { memory, bytes, .. } = window.mapping;
        // SAFETY: `io.len` bytes at the buffer are this I/O's alone, as many
        // in the mapping were checked by `reach`, and the two do not overlap:
        // one is the job's memory, the other the kernel's pages. Other
        // jobs may write the same pages of the file, as with any
        // shared file: bytes then mix, and nothing depends on them.
        let whole = unsafe { page_loss::copy((memory, bytes), from, to, io.len as usize) };
        if whole { Ok(io.len) } else { file.missing(io) }
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        let Opened { fd, bytes, writes, hint, .. } = *file;
        self.files[file.file.0 as usize] = Mapped { fd, bytes, writes, hint, window: None };
        Ok(())
    }

    fn closing(&mut self, file: FileId) {
        self.files[file.0 as usize].window = None;
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        match errno {
            Errno::EIO if matches!(op, Op::Read | Op::Write) => {
                Some("I/O error on a page of the mapped file (SIGBUS)")
            }
            Errno::ENODEV => Some("the file cannot be mapped; use another ioengine"),
            Errno::EACCES => Some("the file is not open for what the mapping needs"),
            _ => platform::explain_trim(op, errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_sys::clock::Clock;
    use std::io::Write;

    fn temporary(name: &str, bytes: &[u8]) -> std::fs::File {
        let path = std::env::temp_dir().join(format!("iosonde-mmap-{name}-{}", std::process::id()));
        let mut file =
            std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn engine(file: &std::fs::File, bytes: u64, window_bytes: u64) -> Mmap {
        let with = OpenWith {
            depth: 1,
            files: 1,
            memory: (std::ptr::null_mut(), 0),
            clock: Clock::monotonic(),
            settings: Default::default(),
            sync_range: Default::default(),
        };
        let mut engine = Mmap::new(&with, window_bytes);
        let opened =
            Opened { file: FileId(0), fd: platform::raw(file), bytes, writes: true, hint: None };
        engine.opened(&opened).unwrap();
        engine
    }

    fn io(file: &std::fs::File, op: Op, offset: u64, buffer: &mut [u8]) -> Io {
        let (buffer, len) = (buffer.as_mut_ptr(), buffer.len() as u32);
        Io { offset, buffer, len, op, file: FileId(0), fd: platform::raw(file) }
    }

    #[test]
    fn a_file_larger_than_the_window_is_reached_everywhere() {
        let bytes: Vec<u8> = (0..100_000u32).map(|at| (at / 7) as u8).collect();
        let file = temporary("window", &bytes);
        let mut engine = engine(&file, 100_000, 8192);
        for offset in [0, 1, 4095, 8000, 90_000, 99_900, 3] {
            let mut buffer = [0; 100];
            let io = io(&file, Op::Read, offset, &mut buffer);
            assert_eq!(engine.perform(&io), Ok(100));
            assert_eq!(buffer[..], bytes[offset as usize..][..100]);
        }
        let mut large = vec![0xAA; 50_000];
        assert_eq!(engine.perform(&io(&file, Op::Write, 20_000, &mut large)), Ok(50_000));
        assert_eq!(engine.perform(&io(&file, Op::Sync, 0, &mut [])), Ok(0));
        let now = crate::engines::tests_read_all(&file);
        assert_eq!(now.len(), 100_000);
        assert!(now[20_000..70_000].iter().all(|&byte| byte == 0xAA));
        assert_eq!(now[70_000..], bytes[70_000..]);
    }

    #[test]
    fn a_file_that_shrinks_is_an_end_of_file_and_no_crash() {
        let file = temporary("shrinks", &[1; 1 << 16]);
        let mut engine = engine(&file, 1 << 16, WINDOW_BYTES);
        let mut buffer = vec![0; 4096];
        assert_eq!(engine.perform(&io(&file, Op::Read, 61_440, &mut buffer)), Ok(4096));
        if file.set_len(4096).is_err() {
            iosonde_testing::skip!("this system does not cut off a file that is mapped");
        }
        assert_eq!(engine.perform(&io(&file, Op::Read, 61_440, &mut buffer)), Ok(0));
        assert_eq!(engine.perform(&io(&file, Op::Write, 61_440, &mut buffer)), Ok(0));
        assert_eq!(engine.perform(&io(&file, Op::Read, 0, &mut buffer)), Ok(4096));
        assert_eq!(buffer, [1; 4096]);
        file.set_len(1 << 16).unwrap();
        assert_eq!(engine.perform(&io(&file, Op::Read, 61_440, &mut buffer)), Ok(4096));
        assert_eq!(buffer, [0; 4096], "what was cut off is zero");
    }

    #[test]
    fn errors_of_a_mapping_say_what_they_mean() {
        let file = temporary("words", &[0; 4096]);
        let engine = engine(&file, 4096, 4096);
        let words = |op, errno| engine.explain(op, errno).unwrap_or_default();
        for op in [Op::Read, Op::Write] {
            assert!(words(op, Errno::EIO).contains("SIGBUS"));
        }
        assert_eq!(words(Op::Sync, Errno::EIO), "", "no page was touched");
        assert!(words(Op::Read, Errno::ENODEV).contains("cannot be mapped"));
        assert!(words(Op::Write, Errno::EACCES).contains("not open"));
        assert!(words(Op::Trim, Errno::EOPNOTSUPP).contains("discard"));
        assert_eq!(words(Op::Read, Errno::ENOTTY), "");
    }
}
