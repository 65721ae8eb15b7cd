//! Tries each kind of I/O: on a temporary file without a name, which is gone when
//! it is closed. Of a device only its first MiB is read.

use super::arguments::ProbeArgs;
use super::io_uring;
use iosonde_base::bare;
use iosonde_command::format::{bytes, exact};
use iosonde_direct::cache::{drop_cached, residency};
use iosonde_direct::durability::{
    CallError, ReadCaching, WriteFlags, full_barrier, read_with, sync_all, write_with,
};
use iosonde_direct::{
    AlignedBuf, Answer, DirectIo, Facts, OpenOptions, PathKind, Tristate, honoured,
};
use iosonde_sys::counters::TaskIo;
use iosonde_sys::files::{self, FileExt};
use iosonde_sys::ring_probe::Background;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How much is written and read.
const BYTES: usize = 1 << 20;

/// The results.
#[derive(Debug)]
pub struct Trials {
    /// What was used, for the report: `a temporary file without a name in /mnt`.
    pub on: String,
    /// Requirements of direct I/O there; `None` if unknown.
    pub needs: Option<DirectIo>,
    /// Each, in order.
    pub all: Vec<Trial>,
}

/// One kind of I/O.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its key in documents.
    pub id: &'static str,
    /// Its name in text.
    pub name: &'static str,
    /// Whether it works as intended here.
    pub verdict: Tristate,
    /// What happened, or why that is unknown.
    pub detail: String,
}

/// Every trial: key, name.
const KINDS: [(&str, &str); 9] = [
    ("direct_read", "direct reads"),
    ("direct_write", "direct writes"),
    ("unaligned_direct_read", "unaligned"),
    ("dontcache_read", "DONTCACHE reads"),
    ("dontcache_write", "DONTCACHE writes"),
    ("atomic_write", "atomic writes"),
    ("io_uring", "io_uring"),
    ("io_uring_polled", "polled io_uring"),
    ("libaio", "libaio"),
];

impl Trials {
    /// The result of one.
    pub fn of(&self, id: &str) -> Option<&Trial> {
        self.all.iter().find(|trial| trial.id == id)
    }

    fn unknown(on: String, why: &str) -> Trials {
        let detail = |id, name| match id {
            "libaio" => libaio(),
            _ => trial(id, name, Tristate::Unknown, why),
        };
        Trials { on, needs: None, all: KINDS.map(|(id, name)| detail(id, name)).into() }
    }
}

fn trial(
    id: &'static str,
    name: &'static str,
    verdict: Tristate,
    detail: impl Into<String>,
) -> Trial {
    Trial { id, name, verdict, detail: bare(&detail.into()) }
}

/// Try everything that is allowed.
pub fn all(arguments: &ProbeArgs, facts: &Facts) -> Trials {
    if arguments.no_touch {
        return Trials::unknown("nothing (--no-touch)".into(), "not tried (--no-touch)");
    }
    let subject = match folder_of(&arguments.path, facts.kind) {
        Some(folder) => Subject::temporary(&folder),
        None => Subject::device(&arguments.path),
    };
    match subject {
        Ok(subject) => subject.try_all(facts),
        Err((on, why)) => Trials::unknown(on, &bare(&why)),
    }
}

/// The file or device that is used.
struct Subject {
    on: String,
    /// Open for reading, and for writing if it is temporary.
    plain: File,
    /// Leads to it as long as it is open.
    link: PathBuf,
    /// Ours to write to.
    is_temporary: bool,
    /// How much of it is used.
    bytes: usize,
}

impl Subject {
    /// A new file; its name is removed at once.
    fn temporary(folder: &Path) -> Result<Subject, (String, String)> {
        let not_made = |error: &dyn fmt::Display| format!("no file can be created there: {error}");
        let on = format!("a temporary file of 1 MiB in {}, removed", folder.display());
        let plain = match files::unnamed(folder) {
            Ok(plain) => plain,
            Err(error) => {
                let nothing = format!("nothing (no file could be created in {})", folder.display());
                return Err((nothing, not_made(&error)));
            }
        };
        let Some(link) = files::path_of(&plain) else {
            let why = "its file cannot be opened again: /proc is not there";
            return Err((on, why.into()));
        };
        Ok(Subject { link, on, plain, is_temporary: true, bytes: BYTES })
    }

    fn device(path: &Path) -> Result<Subject, (String, String)> {
        let on = "the first MiB of the device, read only".to_owned();
        match OpenOptions::new().read(true).keep_access_time(true).open(path) {
            Ok(plain) => {
                let size = iosonde_direct::device::size(&plain).unwrap_or(0);
                let bytes = BYTES.min(size as usize);
                Ok(Subject { link: path.to_owned(), on, plain, is_temporary: false, bytes })
            }
            Err(error) => Err((on, format!("the device cannot be read: {}", error.source))),
        }
    }

    fn try_all(self, facts: &Facts) -> Trials {
        let mut buffer = match AlignedBuf::new(BYTES, 4096) {
            Ok(buffer) => buffer,
            Err(error) => return Trials::unknown(self.on, &error.to_string()),
        };
        fill(&mut buffer);
        if self.is_temporary
            && let Err(error) = self.lay_out(&buffer)
        {
            return Trials::unknown(self.on, &format!("no data can be written: {error}"));
        }
        let needs = DirectIo::of(&self.plain).ok();
        let part = &mut buffer[..self.bytes];
        let direct_write = self.direct_write(part);
        let direct_read = self.direct_read(part);
        let direct = direct_read.verdict != Tristate::No;
        let block = u64::from(needs.map_or(4096, |needs| needs.offset_alignment).max(4096));
        let (ring, polled) = self.rings(block, direct, facts);
        let all = vec![
            direct_read,
            direct_write,
            self.unaligned(part),
            self.dontcache_read(part),
            self.dontcache_write(part),
            self.atomic_write(part),
            ring,
            polled,
            libaio(),
        ];
        Trials { on: self.on, needs, all }
    }

    fn lay_out(&self, buffer: &[u8]) -> io::Result<()> {
        self.plain.write_all_at(buffer, 0)?;
        full_barrier(&self.plain)?;
        // On tmpfs nothing is dropped; the trials show it.
        let _ = drop_cached(&self.plain, 0, 0);
        Ok(())
    }

    fn open_direct(&self, write: bool) -> Result<File, String> {
        let options = OpenOptions::new().read(true).write(write).direct(true);
        options.open(&self.link).map_err(|error| format!("O_DIRECT is refused: {}", error.source))
    }

    fn write_refusal(&self) -> Option<String> {
        (!self.is_temporary).then(|| "devices are not written to".to_owned())
    }

    fn direct_read(&self, buffer: &mut [u8]) -> Trial {
        let result =
            |verdict, detail: String| trial("direct_read", "direct reads", verdict, detail);
        let open = match self.open_direct(false) {
            Ok(open) => open,
            Err(why) => return result(Tristate::No, why),
        };
        let before = TaskIo::of_thread();
        let read = match open.read_at(buffer, 0) {
            Ok(read) => read as u64,
            Err(error) => return result(Tristate::No, format!("a read fails: {error}")),
        };
        let after = TaskIo::of_thread();
        let counted = before.and_then(|before| Ok(after?.since(&before).storage_read_bytes)).ok();
        let honoured_as = honoured(&open).ok().and_then(|honoured| honoured.reads);
        let honoured_as = honoured_as.unwrap_or(NOT_REPORTED);
        match (honoured_as.verdict, counted) {
            (Tristate::No, _) => result(Tristate::No, honoured_as.why.into()),
            (_, Some(counted)) if counted >= read => result(
                Tristate::Yes,
                format!("{} of {} came from the device", bytes(read), bytes(read)),
            ),
            (Tristate::Yes, Some(counted)) => result(
                Tristate::No,
                format!("{} of {} came from the device", bytes(counted), bytes(read)),
            ),
            (verdict, _) => result(verdict, honoured_as.why.into()),
        }
    }

    fn direct_write(&self, buffer: &[u8]) -> Trial {
        let result =
            |verdict, detail: String| trial("direct_write", "direct writes", verdict, detail);
        if let Some(why) = self.write_refusal() {
            return result(Tristate::Unknown, why);
        }
        let open = match self.open_direct(true) {
            Ok(open) => open,
            Err(why) => return result(Tristate::No, why),
        };
        let wrote = match open.write_at(buffer, 0) {
            Ok(wrote) => wrote as u64,
            Err(error) => return result(Tristate::No, format!("a write fails: {error}")),
        };
        let unwritten = residency(&open, 0, 0).known().and_then(|now| now.unwritten_bytes().get());
        let honoured_as = honoured(&open).ok().and_then(|honoured| honoured.writes);
        let honoured_as = honoured_as.unwrap_or(NOT_REPORTED);
        match unwritten {
            Some(left) if left > 0 => {
                let detail =
                    format!("{} of {} stayed in the page cache", bytes(left), bytes(wrote));
                result(Tristate::No, detail)
            }
            _ => result(honoured_as.verdict, honoured_as.why.into()),
        }
    }

    /// One byte past an alignment: refused, or done through the page cache.
    fn unaligned(&self, buffer: &mut [u8]) -> Trial {
        let result =
            |verdict, detail: String| trial("unaligned_direct_read", "unaligned", verdict, detail);
        let open = match self.open_direct(false) {
            Ok(open) => open,
            Err(why) => return result(Tristate::No, why),
        };
        if buffer.len() < 8192 {
            return result(Tristate::Unknown, "the device is too small".into());
        }
        match open.read_at(&mut buffer[1..4097], 1) {
            Ok(_) => result(
                Tristate::Yes,
                "a direct read at an odd offset goes through the page cache instead of being refused".into(),
            ),
            Err(error) => result(Tristate::No, format!("a direct read at an odd offset: {error}")),
        }
    }

    fn dontcache_read(&self, buffer: &mut [u8]) -> Trial {
        let result =
            |verdict, detail: String| trial("dontcache_read", "DONTCACHE reads", verdict, detail);
        if self.is_temporary && drop_cached(&self.plain, 0, 0).is_err() {
            return result(
                Tristate::Unknown,
                "the page cache of the file cannot be dropped".into(),
            );
        }
        match read_with(&self.plain, buffer, 0, ReadCaching::Dropped) {
            Ok(read) if self.is_temporary => self.left(read, result),
            Ok(_) => {
                result(Tristate::Yes, "work; remaining pages are not checked on a device".into())
            }
            Err(error) => result(Tristate::No, why(&error)),
        }
    }

    fn dontcache_write(&self, buffer: &[u8]) -> Trial {
        let result =
            |verdict, detail: String| trial("dontcache_write", "DONTCACHE writes", verdict, detail);
        if let Some(why) = self.write_refusal() {
            return result(Tristate::Unknown, why);
        }
        // What is there already would stay.
        if drop_cached(&self.plain, 0, 0).is_err() {
            return result(
                Tristate::Unknown,
                "the page cache of the file cannot be dropped".into(),
            );
        }
        let flags = WriteFlags::new().dont_cache(true);
        let done = write_with(&self.plain, buffer, 0, flags)
            .and_then(|wrote| Ok(sync_all(&self.plain).map(|()| wrote)?));
        match done {
            Ok(wrote) => self.left(wrote, result),
            Err(error) => result(Tristate::No, why(&error)),
        }
    }

    /// What is cached after I/O that should leave nothing cached.
    fn left(&self, moved: usize, result: impl Fn(Tristate, String) -> Trial) -> Trial {
        // The kernel drops the pages in another thread, after completion.
        const PATIENCE: Duration = Duration::from_millis(100);
        let began = Instant::now();
        let left = loop {
            let now = residency(&self.plain, 0, 0);
            match now.known().map(|now| now.cached_bytes()) {
                Some(left) if left > 0 && began.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Some(left) => break left,
                None => {
                    let why = now.why().unwrap_or_default().to_owned();
                    return result(
                        Tristate::Unknown,
                        format!("accepted; whether pages stay cached is unknown: {why}"),
                    );
                }
            }
        };
        match left {
            0 => result(Tristate::Yes, "nothing stays in the page cache".into()),
            left => result(
                Tristate::No,
                format!(
                    "accepted, but {} of {} stay in the page cache{}",
                    bytes(left),
                    bytes(moved as u64),
                    if moved == self.bytes { "" } else { " (short transfer)" }
                ),
            ),
        }
    }

    fn atomic_write(&self, buffer: &[u8]) -> Trial {
        let result =
            |verdict, detail: String| trial("atomic_write", "atomic writes", verdict, detail);
        let open = match self.open_direct(self.is_temporary) {
            Ok(open) => open,
            Err(why) => return result(Tristate::No, why),
        };
        let facts = match Facts::of_file(&open) {
            Ok(facts) => facts,
            Err(error) => return result(Tristate::Unknown, error.to_string()),
        };
        let Some(limits) = facts.atomic_write.get() else {
            let why = facts.atomic_write.why().unwrap_or_default();
            return result(Tristate::Unknown, why.to_owned());
        };
        if !limits.is_supported() {
            return result(Tristate::No, "not supported by device and file system".into());
        }
        let range = format!(
            "from {} to {}",
            exact(u64::from(limits.unit_min)),
            exact(u64::from(limits.unit_max))
        );
        if self.write_refusal().is_some() {
            return result(Tristate::Yes, format!("{range}, as the device reports"));
        }
        let most = (limits.unit_max as usize).min(buffer.len());
        match write_with(&open, &buffer[..most], 0, WriteFlags::new().atomic(true)) {
            Ok(_) => result(
                Tristate::Yes,
                format!("{range}; a write of {} succeeded", exact(most as u64)),
            ),
            Err(error) => result(Tristate::No, why(&error)),
        }
    }

    fn rings(&self, block: u64, direct: bool, facts: &Facts) -> (Trial, Trial) {
        let plain = |verdict, detail: String| trial("io_uring", "io_uring", verdict, detail);
        let poll =
            |verdict, detail: String| trial("io_uring_polled", "polled io_uring", verdict, detail);
        let of_others = not_here("io_uring").map_or(Ok(()), Err);
        let usable =
            of_others.and_then(|()| Background::IoUring.probe().map_err(|e| e.to_string()));
        if let Err(why) = usable {
            return (plain(Tristate::No, why.clone()), poll(Tristate::No, why));
        }
        let how = if direct { "a direct" } else { "a buffered" };
        let read = match io_uring::read_one(&self.link, block, direct, false) {
            Ok(()) => plain(Tristate::Yes, format!("{how} read succeeded")),
            Err(why) => plain(Tristate::No, why),
        };
        let queues = facts.disks().iter().all(|disk| disk.polled.get() != Some(false));
        let polled = match (direct, queues) {
            (false, _) => {
                poll(Tristate::No, "it needs direct I/O, which does not work here".into())
            }
            (true, false) => {
                poll(Tristate::No, "the device has no poll queues (queue/io_poll is 0)".into())
            }
            (true, true) => match io_uring::read_one(&self.link, block, true, true) {
                Ok(()) => poll(Tristate::Yes, "a polled read succeeded".into()),
                Err(why) => poll(Tristate::No, why),
            },
        };
        (read, polled)
    }
}

const NOT_REPORTED: Answer = Answer {
    verdict: Tristate::Unknown,
    why: std::borrow::Cow::Borrowed("the system does not report it"),
};

fn libaio() -> Trial {
    let of_others = not_here("libaio").map_or(Ok(()), Err);
    match of_others.and_then(|()| Background::Libaio.probe().map_err(|e| e.to_string())) {
        Ok(()) => trial("libaio", "libaio", Tristate::Yes, "can be set up"),
        Err(why) => trial("libaio", "libaio", Tristate::No, why),
    }
}

/// Why an engine is none of this system.
fn not_here(engine: &str) -> Option<String> {
    iosonde_engine::elsewhere(engine).map(|systems| format!("an engine of {systems}"))
}

fn why(error: &CallError) -> String {
    match error {
        CallError::Unsupported { why, .. } => why.to_string(),
        other => other.to_string(),
    }
}

/// Incompressible bytes (xorshift64, Marsaglia 2003).
fn fill(buffer: &mut [u8]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for word in buffer.chunks_exact_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word.copy_from_slice(&state.to_le_bytes());
    }
}

/// The directory of the temporary file.
fn folder_of(path: &Path, kind: PathKind) -> Option<PathBuf> {
    match kind {
        PathKind::Folder => Some(path.to_owned()),
        PathKind::File => path.canonicalize().ok()?.parent().map(Path::to_owned),
        _ => None,
    }
}
