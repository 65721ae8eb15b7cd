//! Making the ring: as much as the kernel grants, and why if it grants none.
#![allow(unsafe_code)]

use super::UringSettings;
use crate::{EngineError, Io, OpenWith};
use io_uring::{EnterFlags, IoUring, Submitter};
use iosonde_base::Errno;
use std::io;

/// The largest submission ring that the kernel makes.
const DEPTH_MAX: u32 = 32_768;

/// How long the kernel's thread spins for work before it sleeps, in
/// milliseconds: the kernel's own default, a second, said aloud.
const KERNEL_THREAD_IDLE_MS: u32 = 1_000;

/// How the ring is used, decided when it is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    /// Completions are polled for (IORING_SETUP_IOPOLL).
    pub polled: bool,
    /// A kernel thread takes the submissions (IORING_SETUP_SQPOLL).
    pub kernel_thread: bool,
    /// Requests name files by their number in the registered table.
    pub fixed_files: bool,
    /// `nowait`: EAGAIN is an answer.
    pub nowait: bool,
    /// A wait can have an end.
    pub timeouts: bool,
    /// Flags of every entry into the kernel.
    pub enter: EnterFlags,
}

/// Features that a kernel may lack, the newest first; each is given up only after
/// those before it.
#[derive(Clone, Copy, Debug)]
struct Wishes {
    no_array: bool,
    defer_taskrun: bool,
    single_issuer: bool,
    coop_taskrun: bool,
    submit_all: bool,
}

impl Wishes {
    fn new(kernel_thread: bool) -> Wishes {
        Wishes {
            no_array: true, // Linux 6.6
            // The kernel's thread runs what these are about.
            defer_taskrun: !kernel_thread, // 6.1
            single_issuer: true,           // 6.0
            coop_taskrun: !kernel_thread,  // 5.19
            submit_all: true,              // 5.18
        }
    }

    /// Give up the newest that is still wished for; false when none is left.
    fn give_up_one(&mut self) -> bool {
        let newest_first = [
            &mut self.no_array,
            &mut self.defer_taskrun,
            &mut self.single_issuer,
            &mut self.coop_taskrun,
            &mut self.submit_all,
        ];
        newest_first.into_iter().find(|wish| **wish).map(|wish| *wish = false).is_some()
    }
}

/// The ring for a job, and how it is to be used.
pub(super) fn build(
    with: &OpenWith,
    settings: &UringSettings,
) -> Result<(IoUring, Mode), EngineError> {
    if with.depth > DEPTH_MAX {
        return Err(EngineError {
            message: format!("make a ring of {} requests: the most is {DEPTH_MAX}", with.depth),
            help: Some(format!("use iodepth={DEPTH_MAX} at most, or more jobs")),
            errno: Errno::EINVAL,
        });
    }
    let mut wishes = Wishes::new(settings.sqthread_poll);
    let ring = loop {
        match try_build(with.depth, settings, wishes) {
            Ok(ring) => break ring,
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                if !wishes.give_up_one() {
                    return Err(refusal(error));
                }
            }
            Err(error) => return Err(refusal(error)),
        }
    };
    let parameters = ring.params();
    let mut enter = EnterFlags::empty();
    if wishes.defer_taskrun || settings.hipri {
        // Only an entry that asks for completions makes them.
        enter |= EnterFlags::GETEVENTS;
    }
    if parameters.is_feature_no_iowait() {
        enter |= EnterFlags::NO_IOWAIT;
    }
    let mode = Mode {
        polled: settings.hipri,
        kernel_thread: settings.sqthread_poll,
        // Before Linux 5.11 the kernel's thread took registered files only.
        fixed_files: settings.registerfiles || settings.sqthread_poll,
        nowait: settings.nowait,
        timeouts: parameters.is_feature_ext_arg(),
        enter,
    };
    Ok((ring, mode))
}

fn try_build(depth: u32, settings: &UringSettings, wishes: Wishes) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    // Never more completions than requests: the default is twice as many.
    builder.setup_cqsize(depth.max(1).next_power_of_two());
    if wishes.no_array {
        builder.setup_no_sqarray();
    }
    if wishes.defer_taskrun {
        builder.setup_defer_taskrun();
    }
    if wishes.single_issuer {
        builder.setup_single_issuer();
    }
    if wishes.coop_taskrun {
        builder.setup_coop_taskrun();
    }
    if wishes.submit_all {
        builder.setup_submit_all();
    }
    if settings.hipri {
        builder.setup_iopoll();
    }
    if settings.sqthread_poll {
        builder.setup_sqpoll(KERNEL_THREAD_IDLE_MS);
        if let Some(cpu) = settings.sqthread_poll_cpu {
            builder.setup_sqpoll_cpu(cpu);
        }
    }
    builder.build(depth.max(1))
}

/// Whether a ring can be had at all.
pub(super) fn available() -> Result<(), EngineError> {
    IoUring::new(1).map(drop).map_err(refusal)
}

/// Why there is no ring, and what to do about it.
fn refusal(error: io::Error) -> EngineError {
    let errno = Errno::from(error);
    let setting = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    let (why, help) = explain(errno, setting.as_deref().map_or("", str::trim));
    EngineError {
        message: format!("make an io_uring: {why} ({errno})"),
        help: Some(help.into()),
        errno,
    }
}

/// Meaning of an error of io_uring_setup(2), given `kernel.io_uring_disabled`.
fn explain(errno: Errno, disabled: &str) -> (&'static str, &'static str) {
    match (errno.0, disabled) {
        (libc::EPERM, "2") => (
            "it is switched off for everybody (sysctl kernel.io_uring_disabled=2)",
            "set it to 0, or use ioengine=libaio",
        ),
        (libc::EPERM, "1") => (
            "it is switched off but for one group (sysctl kernel.io_uring_disabled=1)",
            "join the group of kernel.io_uring_group, or use ioengine=libaio",
        ),
        (libc::EPERM | libc::EACCES, _) => (
            "it is forbidden here, as by a container's seccomp profile",
            "allow the io_uring system calls, or use ioengine=libaio",
        ),
        (libc::ENOSYS, _) => (
            "this kernel has none, or a container's seccomp profile hides it",
            "use ioengine=libaio",
        ),
        (libc::ENOMEM, _) => (
            "there is no memory for it, or the limit of locked memory is too low",
            "raise the limit (ulimit -l), use a smaller iodepth, or use ioengine=libaio",
        ),
        (libc::EMFILE | libc::ENFILE, _) => {
            ("too many files are open", "raise the limit (ulimit -n), or use fewer jobs")
        }
        (libc::EINVAL, _) => (
            "the kernel does not know what is asked, such as hipri or sqthread_poll, or the \
             processor of sqthread_poll_cpu is not there",
            "leave those out, or use ioengine=libaio",
        ),
        _ => ("the kernel refused", "use ioengine=libaio"),
    }
}

/// Let the kernel find the ring without looking up a descriptor each time.
/// Linux 5.18; without it things go on as before.
pub(super) fn register_ring(submitter: &mut Submitter<'_>) {
    let _ = submitter.register_ring_fd();
}

/// Make room for `files` in the ring's table.
pub(super) fn register_files(submitter: &Submitter<'_>, files: u32) -> Result<(), EngineError> {
    let files = files.max(1);
    let sparse = submitter.register_files_sparse(files);
    // Before Linux 5.19: a table of holes.
    let registered = sparse.or_else(|_| submitter.register_files(&vec![-1; files as usize]));
    registered.map_err(|error| EngineError {
        message: format!("register {files} files with the ring: {error}"),
        help: Some("leave out registerfiles, or use fewer files (nrfiles)".into()),
        errno: error.into(),
    })
}

/// The job's memory as registered: in one piece, or, as the kernel takes at
/// most 1 GiB in one, in pieces that overlap by half, so that each buffer lies
/// whole within one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RingParts {
    start: usize,
    /// From the start of one to the start of the next, as a power of two.
    stride_log2: u32,
    /// Buffers up to this many bytes are in a piece for certain.
    bytes_max: u32,
}

const PIECE_BYTES: usize = 1 << 30;

impl RingParts {
    fn over(start: usize, bytes: usize) -> (RingParts, Vec<libc::iovec>) {
        let (stride_log2, bytes_max) =
            if bytes <= PIECE_BYTES { (usize::BITS - 1, u32::MAX) } else { (29, 1 << 29) };
        let vectors = (0..)
            .map(|piece: usize| piece << stride_log2)
            .take_while(|&skip| skip == 0 || skip < bytes)
            .take(1 + (bytes >> stride_log2))
            .map(|skip| libc::iovec {
                iov_base: (start + skip) as *mut libc::c_void,
                iov_len: PIECE_BYTES.min(bytes - skip),
            })
            .collect();
        (RingParts { start, stride_log2, bytes_max }, vectors)
    }

    /// The piece that the buffer of `io` lies in.
    #[inline(always)]
    pub(super) fn find(&self, io: &Io) -> Option<u16> {
        let skip = io.buffer as usize - self.start;
        (io.len <= self.bytes_max).then_some((skip >> self.stride_log2) as u16)
    }
}

/// Register all of the job's buffers.
pub(super) fn register_buffers(
    submitter: &Submitter<'_>,
    memory: (*mut u8, usize),
) -> Result<RingParts, EngineError> {
    let (pieces, vectors) = RingParts::over(memory.0 as usize, memory.1);
    // SAFETY: the vectors cover the job's memory, which outlives the engine and
    // with it the ring.
    let registered = unsafe { submitter.register_buffers(&vectors) };
    registered.map_err(|error| {
        let errno = Errno::from(error);
        let help = match errno.0 {
            libc::ENOMEM => "raise the limit of locked memory (ulimit -l), or leave out fixedbufs",
            _ => "leave out fixedbufs",
        };
        EngineError {
            message: format!("register {} bytes of buffers with the ring: {errno}", memory.1),
            help: Some(help.into()),
            errno,
        }
    })?;
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::{FileId, Op};

    fn io(buffer: usize, len: u32) -> Io {
        let buffer = buffer as *mut u8;
        Io { offset: 0, buffer, len, op: Op::Read, file: FileId(0), fd: 3 }
    }

    #[test]
    fn every_buffer_lies_whole_within_its_piece() {
        let start = 1 << 20;
        for bytes in [1, 4096, PIECE_BYTES, PIECE_BYTES + 1, 5 * PIECE_BYTES / 2] {
            let (pieces, vectors) = RingParts::over(start, bytes);
            assert!(vectors.iter().all(|piece| (1..=PIECE_BYTES).contains(&piece.iov_len)));
            for skip in (0..bytes).step_by((bytes / 100).max(1)) {
                let len = (bytes - skip).min(100 << 20) as u32;
                let piece = vectors[usize::from(pieces.find(&io(start + skip, len)).unwrap())];
                let first = piece.iov_base as usize;
                assert!(first <= start + skip);
                assert!(start + skip + len as usize <= first + piece.iov_len, "{bytes} {skip}");
            }
        }
    }

    #[test]
    fn a_buffer_too_large_for_the_overlap_is_not_taken_from_a_piece() {
        let (pieces, _) = RingParts::over(0, 2 * PIECE_BYTES);
        assert_eq!(pieces.find(&io(0, (1 << 29) + 1)), None);
        assert_eq!(pieces.find(&io(0, 1 << 29)), Some(0));
        let (one, _) = RingParts::over(0, PIECE_BYTES);
        assert_eq!(one.find(&io(0, (1 << 29) + 1)), Some(0));
    }

    #[test]
    fn what_is_wished_for_is_given_up_one_by_one() {
        let mut wishes = Wishes::new(false);
        let count = std::iter::from_fn(|| wishes.give_up_one().then_some(())).count();
        assert_eq!(count, 5);
        let mut wishes = Wishes::new(true);
        let count = std::iter::from_fn(|| wishes.give_up_one().then_some(())).count();
        assert_eq!(count, 3);
    }

    #[test]
    fn a_refusal_says_why_and_names_another_engine() {
        let all = [libc::EPERM, libc::ENOSYS, libc::ENOMEM, libc::EINVAL, libc::EIO];
        for errno in all {
            for setting in ["", "0", "1", "2"] {
                let (why, help) = explain(Errno(errno), setting);
                assert!(!why.is_empty() && help.contains("ioengine=libaio"), "{errno} {setting}");
            }
        }
        assert!(explain(Errno::EPERM, "2").0.contains("io_uring_disabled=2"));
        assert!(explain(Errno::EPERM, "0").0.contains("seccomp"));
    }

    #[test]
    fn each_refusal_of_a_ring_says_why_and_what_helps() {
        for (errno, setting, why, help) in [
            (libc::EPERM, "2", "switched off for everybody", "set it to 0"),
            (libc::EPERM, "1", "but for one group", "join the group"),
            (libc::EPERM, "0", "forbidden", "allow"),
            (libc::EACCES, "", "forbidden", "allow"),
            (libc::ENOSYS, "", "has none", "libaio"),
            (libc::ENOMEM, "", "no memory", "ulimit -l"),
            (libc::EMFILE, "", "too many files", "ulimit -n"),
            (libc::ENFILE, "", "too many files", "ulimit -n"),
            (libc::EINVAL, "", "does not know", "leave those out"),
            (libc::EIO, "", "refused", "libaio"),
        ] {
            let words = explain(Errno(errno), setting);
            assert!(
                words.0.contains(why) && words.1.contains(help),
                "{errno} {setting}: {words:?}"
            );
        }
        let error = refusal(io::Error::from_raw_os_error(libc::ENOMEM));
        assert_eq!(error.errno, Errno::ENOMEM);
        assert!(error.message.starts_with("make an io_uring: there is no memory"), "{error:?}");
        assert!(error.help.is_some_and(|help| help.contains("iodepth")));
    }
}
