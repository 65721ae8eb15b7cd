//! windowsaio: overlapped ReadFile and WriteFile, whose ends come by a completion port.
#![allow(unsafe_code)]

use super::{CAPS, always, done, files, handle, queued};
use crate::platform::{self, RawFile};
use crate::{
    Caps, EngineDef, EngineError, EngineOptionTable, Io, JobContext, OpenWith, Opened, OwnOptions,
    OwnSettings, Queued, Wanted,
};
use iosonde_base::{Completion, Errno, Op, Slot};
use iosonde_options::{Category, Diagnostic, options};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::Once;
use std::time::{Duration, Instant};
use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_IO_PENDING, GetLastError, HANDLE, INVALID_HANDLE_VALUE,
    RtlNtStatusToDosError, WAIT_TIMEOUT,
};
use windows_sys::Win32::Storage::FileSystem::{ReadFile, WriteFile};
use windows_sys::Win32::System::IO::{
    CancelIoEx, CreateIoCompletionPort, GetQueuedCompletionStatusEx, OVERLAPPED, OVERLAPPED_ENTRY,
};

/// Catalogue entry; the default engine.
pub(crate) static WINDOWSAIO: EngineDef = EngineDef {
    name: "windowsaio",
    aliases: &[],
    summary: "overlapped I/O and a completion port",
    doc: "ReadFile and WriteFile that do not wait (FILE_FLAG_OVERLAPPED); their ends are collected from \
          a completion port. The default. Windows does I/O through its cache at once where it can: \
          set direct=1 for more than one in flight.",
    caps: Caps { sync: false, slat: true, overlapped: true, ..CAPS },
    options: Some(&OPTIONS),
    // A file belongs to one completion port: threads cannot each have theirs.
    offload: None,
    available: always,
    open: |with, accounting| Ok(queued(WindowsAio::new(with)?, with.depth, accounting)),
};

options! {
    /// windowsaio
    struct WindowsAioOptions in Category::Engine {
        /// Reap without a separate thread.
        ///
        /// There never is one: the job's thread collects from the completion port itself.
        no_completion_thread: bool = "0" as "no_completion_thread" {
            bare: Some("1"),
        }
    }
}

static OPTIONS: EngineOptionTable =
    EngineOptionTable::of::<WindowsAioOptions>(WindowsAioOptions::OPTIONS);

/// Nothing is left to choose.
#[derive(Clone, Copy, Debug, Default)]
struct WindowsAioSettings;

impl OwnSettings for WindowsAioSettings {}

impl OwnOptions for WindowsAioOptions {
    type Settings = WindowsAioSettings;

    fn settings(&self, _: &JobContext) -> Result<WindowsAioSettings, Diagnostic> {
        Ok(WindowsAioSettings)
    }
}

/// No single wait is longer, so that a job which is to stop is seen to.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// So long a job that ends waits for what it cancelled.
const LAST_WAIT: Duration = Duration::from_secs(30);

/// One request, where it stays while it is in flight. What the system knows of it comes first: an entry of
/// the port leads to that, and so to the slot.
#[repr(C)]
struct Request {
    overlapped: OVERLAPPED,
    file: RawFile,
    slot: Slot,
    in_flight: bool,
}

/// A completion port, closed when dropped.
struct Port(HANDLE);

impl Port {
    fn new() -> Result<Port, EngineError> {
        // SAFETY: makes a port for no file yet; it is closed once, by `drop`.
        let port = unsafe { CreateIoCompletionPort(INVALID_HANDLE_VALUE, ptr::null_mut(), 0, 1) };
        if port.is_null() {
            return Err(EngineError::system("create a completion port", Errno::last()));
        }
        finer_timer();
        Ok(Port(port))
    }

    /// Collect into `entries` what is there within `wait`: how many.
    fn collect(&self, entries: &mut [OVERLAPPED_ENTRY], wait: Duration) -> Result<usize, Errno> {
        let mut count = 0;
        // It may wait for a tick of the timer more than it is asked: what is left is polled for.
        let wait_ms = wait.as_millis().saturating_sub(1).min(u128::from(u32::MAX - 1)) as u32;
        // SAFETY: the port is open, and the call writes as many entries as there is room for.
        let answer = unsafe {
            GetQueuedCompletionStatusEx(
                self.0,
                entries.as_mut_ptr(),
                entries.len() as u32,
                &raw mut count,
                wait_ms,
                0,
            )
        };
        if answer != 0 {
            return Ok(count as usize);
        }
        // SAFETY: reads a number of this thread.
        match unsafe { GetLastError() } {
            WAIT_TIMEOUT => Ok(0),
            code => Err(Errno::from_native(code as i32)),
        }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // SAFETY: made by `new` and closed once.
        unsafe { CloseHandle(self.0) };
    }
}

// Of <timeapi.h>: the one function of that library.
#[link(name = "winmm")]
unsafe extern "system" {
    fn timeBeginPeriod(milliseconds: u32) -> u32;
}

/// Let waits end within a millisecond of when they are to: else the timer ticks 64 times a second. For as
/// long as the process runs.
fn finer_timer() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the call takes a number.
        unsafe { timeBeginPeriod(1) };
    });
}

/// The engine.
struct WindowsAio {
    port: Port,
    /// One for each slot. The system writes to those in flight.
    requests: Box<[UnsafeCell<Request>]>,
    /// What never went to the port: trims, and what the system refused.
    ready: Vec<Completion>,
    entries: Box<[OVERLAPPED_ENTRY]>,
    in_flight: u32,
}

impl WindowsAio {
    fn new(with: &OpenWith) -> Result<WindowsAio, EngineError> {
        let depth = with.depth as usize;
        let request = |slot| {
            UnsafeCell::new(Request {
                overlapped: OVERLAPPED::default(),
                file: -1,
                slot: Slot(slot),
                in_flight: false,
            })
        };
        Ok(WindowsAio {
            port: Port::new()?,
            requests: (0..with.depth).map(request).collect(),
            ready: Vec::with_capacity(depth),
            entries: vec![OVERLAPPED_ENTRY::default(); depth].into(),
            in_flight: 0,
        })
    }

    /// Begin a transfer; its error, if it does not begin.
    fn begin(&mut self, slot: Slot, io: &Io) -> Result<(), u32> {
        let request = self.requests[slot.0 as usize].get();
        let file = handle(io.fd);
        // SAFETY: the slot is free, so the system does not know the request and nobody else looks
        // at it; from the call on until its entry comes back it is the system's, and so are the
        // `len` bytes at `buffer`, as `Io` promises. `drop` waits for both.
        let answer = unsafe {
            (*request).overlapped = files::at(io.offset);
            (*request).file = io.fd;
            let overlapped = (&raw mut (*request).overlapped).cast();
            match io.op {
                Op::Read => ReadFile(file, io.buffer, io.len, ptr::null_mut(), overlapped),
                _ => WriteFile(file, io.buffer, io.len, ptr::null_mut(), overlapped),
            }
        };
        if answer == 0 {
            // SAFETY: reads a number of this thread.
            let code = unsafe { GetLastError() };
            if code != ERROR_IO_PENDING {
                return Err(code);
            }
        }
        // SAFETY: the system has the rest of the request, not this mark.
        unsafe { (&raw mut (*request).in_flight).write(true) };
        self.in_flight += 1;
        Ok(())
    }

    /// The completion that an entry of the port is.
    fn completion(&mut self, entry: OVERLAPPED_ENTRY) -> Completion {
        let request = entry.lpOverlapped.cast::<Request>();
        self.in_flight -= 1;
        // SAFETY: every entry leads to a request of `requests`: no other place is given to calls on
        // this port's files, `discard` keeps out of it. The system is done with it.
        let (status, slot) = unsafe {
            (*request).in_flight = false;
            ((*request).overlapped.Internal as i32, (*request).slot)
        };
        let result = match status {
            0 => Ok(entry.dwNumberOfBytesTransferred),
            // SAFETY: the call takes a number.
            status => files::failed(unsafe { RtlNtStatusToDosError(status) }),
        };
        Completion { slot, result }
    }

    /// Move what the port has within `wait` to `done`, `most` at most: how many.
    fn take(
        &mut self,
        most: usize,
        wait: Duration,
        done: &mut Vec<Completion>,
    ) -> Result<usize, Errno> {
        let most = most.min(self.entries.len());
        let count = self.port.collect(&mut self.entries[..most], wait)?;
        for at in 0..count {
            let completion = self.completion(self.entries[at]);
            done.push(completion);
        }
        Ok(count)
    }
}

impl Queued for WindowsAio {
    fn push(&mut self, slot: Slot, io: &Io) {
        let result = match io.op {
            Op::Trim => platform::discard(io),
            _ => match self.begin(slot, io) {
                Ok(()) => return,
                Err(code) => files::failed(code),
            },
        };
        self.ready.push(Completion { slot, result });
    }

    fn submit(&mut self) -> Result<(), Errno> {
        // Each began as it was pushed.
        Ok(())
    }

    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        let (min, max) = (wanted.min as usize, wanted.max as usize);
        let ready = self.ready.len().min(max);
        done.extend(self.ready.drain(..ready));
        if self.in_flight == 0 || done.len() == max {
            return Ok(());
        }
        let took = self.take(max - done.len(), Duration::ZERO, done)?;
        if done.len() >= min || took == self.entries.len() {
            return Ok(());
        }
        let began = Instant::now();
        let patience = Duration::from_nanos(wanted.patience.0).min(LONGEST_WAIT);
        while done.len() < min && self.in_flight > 0 {
            let left = patience.saturating_sub(began.elapsed());
            if self.take(max - done.len(), left, done)? == 0 && left.is_zero() {
                break;
            }
        }
        Ok(())
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        // SAFETY: both are open; the system adds the file to the port and gives that back.
        let port = unsafe { CreateIoCompletionPort(handle(file.fd), self.port.0, 0, 1) };
        done(i32::from(!port.is_null()))
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        platform::explain_trim(op, errno)
    }
}

impl Drop for WindowsAio {
    /// What is in flight is cancelled and waited for: until then the system may write to the job's
    /// buffers, and to the requests.
    fn drop(&mut self) {
        for request in &self.requests {
            let request = request.get();
            // SAFETY: the mark is not the system's; the file is open as long as the job's table of
            // files, which outlives the engine, or was closed, which cancels by itself.
            unsafe {
                if (*request).in_flight {
                    CancelIoEx(handle((*request).file), (&raw const (*request).overlapped).cast());
                }
            }
        }
        let (began, mut ended) = (Instant::now(), Vec::with_capacity(self.requests.len()));
        while self.in_flight > 0 && began.elapsed() < LAST_WAIT {
            ended.clear();
            if self.take(self.entries.len(), LONGEST_WAIT, &mut ended).is_err() {
                break;
            }
        }
        if self.in_flight > 0 {
            // A device that never answers: its requests stay, as the system may still write there.
            let requests = std::mem::take(&mut self.requests);
            std::mem::forget(requests);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::{FileId, Nanos};
    use iosonde_sys::clock::Clock;
    use std::fs::File;
    use std::os::windows::fs::OpenOptionsExt;
    use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OVERLAPPED;

    fn engine(depth: u32) -> WindowsAio {
        let with = OpenWith {
            depth,
            files: 1,
            memory: (ptr::null_mut(), 0),
            clock: Clock::monotonic(),
            settings: Default::default(),
            sync_range: Default::default(),
        };
        WindowsAio::new(&with).unwrap()
    }

    fn overlapped(folder: &iosonde_testing::Folder, engine: &mut WindowsAio) -> File {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.custom_flags(FILE_FLAG_OVERLAPPED).open(folder.join("f")).unwrap();
        let fd = platform::raw(&file);
        let opened = Opened { file: FileId(0), fd, bytes: 1 << 40, writes: true, hint: None };
        engine.opened(&opened).unwrap();
        file
    }

    fn io(fd: RawFile, op: Op, offset: u64, buffer: &mut [u8]) -> Io {
        let (buffer, len) = (buffer.as_mut_ptr(), buffer.len() as u32);
        Io { offset, buffer, len, op, file: FileId(0), fd }
    }

    /// All that is in flight, by slot.
    fn reap(engine: &mut WindowsAio, count: u32) -> Vec<(u32, Result<u32, Errno>)> {
        let (mut all, mut some) = (Vec::new(), Vec::new());
        while all.len() < count as usize {
            let wanted = Wanted { min: 1, max: count, patience: Nanos::from_millis(200) };
            engine.reap(wanted, &mut some).unwrap();
            all.extend(some.drain(..).map(|done| (done.slot.0, done.result)));
        }
        all.sort_by_key(|done| done.0);
        all
    }

    #[test]
    fn as_many_are_in_flight_as_the_depth_says_and_each_comes_back_once() {
        let folder = iosonde_testing::Folder::new("windowsaio-depth");
        let mut engine = engine(32);
        let file = overlapped(&folder, &mut engine);
        let fd = platform::raw(&file);
        let mut buffers: Vec<Vec<u8>> = (0..32).map(|slot| vec![slot as u8 + 1; 4096]).collect();
        for (slot, buffer) in buffers.iter_mut().enumerate() {
            engine.push(Slot(slot as u32), &io(fd, Op::Write, slot as u64 * 4096, buffer));
        }
        engine.submit().unwrap();
        let all: Vec<_> = (0..32).map(|slot| (slot, Ok(4096))).collect();
        assert_eq!(reap(&mut engine, 32), all);
        for (slot, buffer) in buffers.iter_mut().enumerate() {
            buffer.fill(0);
            engine.push(Slot(slot as u32), &io(fd, Op::Read, slot as u64 * 4096, buffer));
        }
        assert_eq!(reap(&mut engine, 32), all);
        for (slot, buffer) in buffers.iter().enumerate() {
            assert!(buffer.iter().all(|&byte| byte == slot as u8 + 1), "slot {slot}");
        }
        assert_eq!(engine.in_flight, 0);
    }

    #[test]
    fn a_read_ends_with_the_file_and_offsets_go_beyond_4_gib() {
        let folder = iosonde_testing::Folder::new("windowsaio-end");
        let mut engine = engine(2);
        let file = overlapped(&folder, &mut engine);
        let fd = platform::raw(&file);
        let far = (4u64 << 30) + 512;
        let mut data = vec![7; 1000];
        engine.push(Slot(0), &io(fd, Op::Write, far, &mut data));
        assert_eq!(reap(&mut engine, 1), [(0, Ok(1000))]);
        assert_eq!(file.metadata().unwrap().len(), far + 1000);
        let (mut short, mut past) = (vec![0; 4096], vec![0; 512]);
        engine.push(Slot(0), &io(fd, Op::Read, far, &mut short));
        engine.push(Slot(1), &io(fd, Op::Read, far + 1000, &mut past));
        assert_eq!(reap(&mut engine, 2), [(0, Ok(1000)), (1, Ok(0))]);
        assert!(short[..1000].iter().all(|&byte| byte == 7));
        assert_eq!(short[1000], 0);
    }

    #[test]
    fn an_error_comes_back_with_its_slot() {
        let mut engine = engine(2);
        let (mut a, mut b) = ([0; 16], [0; 16]);
        engine.push(Slot(1), &io(-1, Op::Read, 0, &mut a));
        engine.push(Slot(0), &io(-1, Op::Write, 0, &mut b));
        let bad = Err(Errno::EBADF);
        assert_eq!(reap(&mut engine, 2), [(0, bad), (1, bad)]);
    }

    #[test]
    fn patience_ends_a_wait_for_nothing() {
        let mut engine = engine(1);
        let mut done = Vec::new();
        let wanted = Wanted { min: 1, max: 1, patience: Nanos::from_millis(5) };
        engine.reap(wanted, &mut done).unwrap();
        assert!(done.is_empty(), "nothing was in flight");
    }

    #[test]
    fn what_is_in_flight_at_the_end_is_cancelled_and_waited_for() {
        // Nobody ever writes to the pipe: the reads stay in flight until they are cancelled.
        let (mut engine, mut buffers) = (engine(4), vec![vec![0u8; 64]; 4]);
        let Some(pipe) = silent_pipe() else { iosonde_testing::skip!("no named pipes here") };
        let fd = platform::raw(&pipe);
        let opened = Opened { file: FileId(0), fd, bytes: 0, writes: false, hint: None };
        engine.opened(&opened).unwrap();
        for (slot, buffer) in buffers.iter_mut().enumerate() {
            engine.push(Slot(slot as u32), &io(fd, Op::Read, 0, buffer));
        }
        let (mut done, began) = (Vec::new(), Instant::now());
        let wanted = Wanted { min: 4, max: 4, patience: Nanos::from_millis(20) };
        engine.reap(wanted, &mut done).unwrap();
        assert!(done.is_empty() && began.elapsed() >= Duration::from_millis(19));
        assert_eq!(engine.in_flight, 4);
        drop(engine);
        assert!(began.elapsed() < LAST_WAIT, "cancelled, not given up");
    }

    /// A pipe of our own, both ends open.
    fn silent_pipe() -> Option<File> {
        use std::os::windows::io::FromRawHandle;
        use windows_sys::Win32::System::Pipes as pipes;
        let name = format!(r"\\.\pipe\iosonde-test-{}", std::process::id());
        let wide: Vec<u16> = name.encode_utf16().chain([0]).collect();
        let access = 3 | FILE_FLAG_OVERLAPPED;
        // SAFETY: the name ends with a zero and lives until the call returns.
        let pipe = unsafe {
            pipes::CreateNamedPipeW(wide.as_ptr(), access, 0, 1, 4096, 4096, 0, ptr::null())
        };
        if pipe == INVALID_HANDLE_VALUE {
            return None;
        }
        // Kept open for as long as the process.
        std::mem::forget(File::options().read(true).write(true).open(name).ok()?);
        // SAFETY: it was just made and is nobody else's.
        Some(unsafe { File::from_raw_handle(pipe.cast()) })
    }
}
