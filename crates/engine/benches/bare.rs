//! The bare kernel interface: random 4 KiB reads of a file, as a loop that
//! counts nothing, times nothing and handles no error. It is an upper bound for
//! any tester; `scripts/bench.py` runs it beside iosonde and fio.
//!
//! `bare pread|libaio|io_uring FILE SECONDS DEPTH BATCH` prints
//! `{"iops": ..., "cpu_ns": ...}`.
//!
//! `bare timer|spin RATE SECONDS` does nothing at moments RATE times a second, for which it is
//! woken by a timer, or looks at the clock until then, and prints how late it was, in microseconds,
//! and the share of a processor that took: `{"p50": ..., "p99": ..., "p99.9": ..., "cpu": ...}`.
#![allow(unsafe_code)]

use io_uring::{IoUring, opcode, types};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

const BLOCK: usize = 4096;

/// Offsets of whole blocks, by xorshift.
struct Offsets {
    state: u64,
    blocks: u64,
}

impl Offsets {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        ((u128::from(self.state) * u128::from(self.blocks)) >> 64) as u64 * BLOCK as u64
    }
}

/// Buffers for `depth` blocks, aligned to their size.
fn buffers(depth: usize) -> *mut u8 {
    let layout = std::alloc::Layout::from_size_align(depth * BLOCK, BLOCK).expect("a small layout");
    // SAFETY: the layout is not empty; the process keeps the memory to its end.
    unsafe { std::alloc::alloc_zeroed(layout) }
}

/// Do rounds of I/O until the time is up; each returns how many it did.
fn until(seconds: f64, mut round: impl FnMut() -> u64) -> u64 {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut ios = 0;
    while Instant::now() < end {
        for _ in 0..256 {
            ios += round();
        }
    }
    ios
}

fn pread(fd: RawFd, offsets: &mut Offsets, seconds: f64) -> u64 {
    let buffer = buffers(1);
    until(seconds, || {
        // SAFETY: the buffer has room for a block.
        let memory = unsafe { std::slice::from_raw_parts_mut(buffer, BLOCK) };
        // SAFETY: the file is open for the whole run.
        let file = unsafe { rustix::fd::BorrowedFd::borrow_raw(fd) };
        assert_eq!(rustix::io::pread(file, memory, offsets.next()), Ok(BLOCK));
        1
    })
}

/// `struct iocb` of linux/aio_abi.h, as 64-bit words: data, key and flags,
/// opcode and file, buffer, bytes, offset, and two for what is not used.
type BareRequest = [u64; 8];

fn libaio(fd: RawFd, offsets: &mut Offsets, seconds: f64, depth: usize, batch: usize) -> u64 {
    let mut context = 0u64;
    // SAFETY: writes one unsigned long.
    let made = unsafe { libc::syscall(libc::SYS_io_setup, depth, &mut context) };
    assert_eq!(made, 0, "io_setup");
    let memory = buffers(depth);
    let mut requests = vec![BareRequest::default(); depth];
    let mut events = vec![[0u64; 4]; depth];
    let mut pending = Vec::with_capacity(batch);
    let mut next = 0;
    // Each batch is collected before the next goes down: the reads of a cached
    // file are done by then.
    until(seconds, || {
        pending.clear();
        for _ in 0..batch {
            let slot = next % depth;
            next += 1;
            // SAFETY: each slot has a block of the memory.
            let buffer = unsafe { memory.add(slot * BLOCK) } as u64;
            let bytes = BLOCK as u64;
            requests[slot] = [0, 0, (fd as u64) << 32, buffer, bytes, offsets.next(), 0, 0];
            pending.push(std::ptr::from_mut(&mut requests[slot]));
        }
        // SAFETY: the requests and buffers stay where they are; the events have
        // room for the depth.
        unsafe {
            let taken = libc::syscall(libc::SYS_io_submit, context, batch, pending.as_ptr());
            assert_eq!(taken, batch as i64, "io_submit");
            let timeout = std::ptr::null::<libc::timespec>();
            let room = events.as_mut_ptr();
            let got = libc::syscall(libc::SYS_io_getevents, context, batch, batch, room, timeout);
            assert_eq!(got, batch as i64, "io_getevents");
        }
        batch as u64
    })
}

fn io_uring(fd: RawFd, offsets: &mut Offsets, seconds: f64, depth: usize, batch: usize) -> u64 {
    let mut builder = IoUring::builder();
    builder.setup_single_issuer().setup_defer_taskrun().setup_coop_taskrun();
    let mut ring: IoUring = builder.build(depth as u32).expect("a ring");
    let memory = buffers(depth);
    let whole = libc::iovec { iov_base: memory.cast(), iov_len: depth * BLOCK };
    // SAFETY: the memory lives as long as the process.
    unsafe { ring.submitter().register_buffers(&[whole]) }.expect("buffers registered");
    ring.submitter().register_files(&[fd]).expect("files registered");
    let (mut next, mut in_flight) = (0, 0);
    // As deep as asked: a batch is collected for each that is submitted once no
    // more fit. Cached reads complete in order, so that slots take turns.
    until(seconds, || {
        for _ in 0..batch {
            let slot = next % depth;
            next += 1;
            // SAFETY: each slot has a block of the memory.
            let buffer = unsafe { memory.add(slot * BLOCK) };
            let read = opcode::ReadFixed::new(types::Fixed(0), buffer, BLOCK as u32, 0);
            let entry = read.offset(offsets.next()).build();
            // SAFETY: the buffer outlives the request.
            unsafe { ring.submission().push(&entry) }.expect("room for the batch");
        }
        in_flight += batch;
        let wanted = if in_flight + batch > depth { batch } else { 0 };
        ring.submit_and_wait(wanted).expect("io_uring_enter");
        let done = ring.completion().take(wanted).filter(|done| done.result() == BLOCK as i32);
        assert_eq!(done.count(), wanted, "whole reads");
        in_flight -= wanted;
        batch as u64
    })
}

/// User and system time of this process, in nanoseconds.
fn cpu_ns() -> f64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    used.tv_sec as f64 * 1e9 + used.tv_nsec as f64
}

/// As iosonde opens it, without a time of access to note: that takes 60 to 75 ns of a read.
fn opened(file: &str) -> std::fs::File {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::File::options();
    options.read(true);
    let quiet = options.clone().custom_flags(libc::O_NOATIME).open(file);
    // Who does not own the file may not ask for it.
    quiet.or_else(|_| options.open(file)).expect("the file opens")
}

/// How late each of RATE moments a second is, in nanoseconds, waited for by `wait`.
fn lateness(rate: u64, seconds: f64, wait: impl Fn(u64)) -> Vec<u64> {
    let interval_ns = 1_000_000_000 / rate;
    let begin_ns = now_ns() + 1_000_000;
    let late = |moment: u64| {
        let due_ns = begin_ns + moment * interval_ns;
        // One that is late does not make the next late.
        if now_ns() < due_ns {
            wait(due_ns);
        }
        now_ns() - due_ns
    };
    (0..(rate as f64 * seconds) as u64).map(late).collect()
}

fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn by_timer(due_ns: u64) {
    let (tv_sec, tv_nsec) = ((due_ns / 1_000_000_000) as i64, (due_ns % 1_000_000_000) as i64);
    let due = libc::timespec { tv_sec, tv_nsec };
    let nowhere = std::ptr::null_mut();
    // SAFETY: the time is read during the call.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &due, nowhere) };
}

/// Print how late moments are that nothing is done at.
fn print_lateness(how: &str, rate: &str, seconds: &str) {
    let slack = std::num::NonZeroU64::MIN;
    rustix::thread::set_current_timer_slack(Some(slack)).expect("a slack of 1 ns");
    let rate = rate.parse().expect("a rate");
    let seconds = seconds.parse().expect("seconds");
    let (before, began) = (cpu_ns(), Instant::now());
    let mut late = match how {
        "timer" => lateness(rate, seconds, by_timer),
        _ => lateness(rate, seconds, |due_ns| while now_ns() < due_ns {}),
    };
    let cpu = 100.0 * (cpu_ns() - before) / began.elapsed().as_nanos() as f64;
    late.sort_unstable();
    let [p50, p99, p999] = [0.5, 0.99, 0.999]
        .map(|part| late[((late.len() - 1) as f64 * part) as usize] as f64 / 1000.0);
    println!("{{\"p50\": {p50:.1}, \"p99\": {p99:.1}, \"p99.9\": {p999:.1}, \"cpu\": {cpu:.0}}}");
}

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [how, rate, seconds] = &arguments[..]
        && ["timer", "spin"].contains(&how.as_str())
    {
        return print_lateness(how, rate, seconds);
    }
    let [how, file, seconds, depth, batch] = &arguments[..] else {
        println!("bare pread|libaio|io_uring FILE SECONDS DEPTH BATCH (scripts/bench.py runs it)");
        println!("bare timer|spin RATE SECONDS");
        return;
    };
    let file = opened(file);
    let bytes = file.metadata().expect("the file has a size").len();
    let seconds: f64 = seconds.parse().expect("seconds");
    let [depth, batch] = [depth, batch].map(|word| word.parse::<usize>().expect("a count"));
    let mut offsets = Offsets { state: 88_172_645_463_325_252, blocks: bytes / BLOCK as u64 };
    let (fd, before, began) = (file.as_raw_fd(), cpu_ns(), Instant::now());
    let ios = match how.as_str() {
        "pread" => pread(fd, &mut offsets, seconds),
        "libaio" => libaio(fd, &mut offsets, seconds, depth, batch),
        "io_uring" => io_uring(fd, &mut offsets, seconds, depth, batch),
        other => panic!("{other}: pread, libaio or io_uring"),
    } as f64;
    let (iops, cpu) = (ios / began.elapsed().as_secs_f64(), (cpu_ns() - before) / ios);
    println!("{{\"iops\": {iops:.0}, \"cpu_ns\": {cpu:.1}}}");
}
