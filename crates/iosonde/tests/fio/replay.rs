//! Recorded I/O done again: the same recording through the installed fio and
//! through ours, round trips of `write_iolog`, every way a recording can come,
//! and what is refused.

use crate::support::{Who, iolog_ios, link_named_fio, trace, words};
use iosonde_testing::{
    Folder, LoopDevice, has_fio, has_fio_for_part, has_strace, is_root, or_skip, skip_part,
};
use iosonde_workload::replay::{Event, write_blktrace};
use serde_json::Value;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Output, Stdio};

/// Two files of 1 MiB.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("a", vec![b'a'; 1 << 20]);
    folder.write("b", vec![b'b'; 1 << 20]);
    folder
}

/// Numbers that look drawn, the same each time.
struct TestNumbers(u64);

impl TestNumbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// The lines of a recording of `ios` actions on files `a` and `b`, without times.
fn actions(ios: usize, seed: u64) -> Vec<String> {
    let mut draws = TestNumbers(seed);
    let mut lines: Vec<String> = ["a add", "b add", "a open", "b open"].map(str::to_owned).into();
    for _ in 0..ios {
        let file = ["a", "b"][draws.below(2) as usize];
        let (offset, len) = (draws.below(200) * 4096, 512 << draws.below(6));
        lines.push(match draws.below(12) {
            0 => format!("{file} sync 0 0"),
            1 => format!("{file} datasync 0 0"),
            n if n % 2 == 0 => format!("{file} read {offset} {len}"),
            _ => format!("{file} write {offset} {len}"),
        });
    }
    lines.extend(["a close", "b close"].map(str::to_owned));
    lines
}

fn version_2(lines: &[String]) -> String {
    format!("fio version 2 iolog\n{}\n", lines.join("\n"))
}

/// The lines at moments `step_us` apart.
fn version_3(lines: &[String], step_us: usize) -> String {
    let timed = lines.iter().enumerate().map(|(n, line)| format!("{} {line}\n", n * step_us));
    format!("fio version 3 iolog\n{}", timed.collect::<String>())
}

/// I/Os and bytes of each direction.
fn counts(document: &Value) -> Vec<(u64, u64)> {
    let job = &document["jobs"][0];
    let number = |way: &str, what: &str| job[way][what].as_u64().unwrap();
    let each = ["read", "write", "trim"];
    each.iter().map(|way| (number(way, "total_ios"), number(way, "io_bytes"))).collect()
}

/// Reads, writes and syncs of a log, as system calls.
fn data_calls(calls: &[String]) -> Vec<String> {
    let kinds = ["read ", "pread ", "write ", "pwrite ", "fsync ", "fdatasync "];
    let is_data = |call: &&String| kinds.iter().any(|kind| call.starts_with(kind));
    let on_files = calls.iter().filter(is_data).filter(|call| !call.contains("log"));
    on_files.cloned().collect()
}

#[test]
fn the_calls_and_the_counts_are_those_of_fio() {
    if !has_fio() || !has_strace() {
        return;
    }
    let cases = [
        (version_2(&actions(60, 1)), ""),
        (version_3(&actions(60, 2), 0), ""),
        (version_3(&actions(60, 3), 1000), "--replay_no_stall=1"),
        (version_3(&actions(20, 4), 2000), ""),
        (version_2(&actions(40, 5)), "--replay_scale=2"),
        (version_2(&actions(40, 6)), "--replay_scale=3 --replay_align=4096"),
        (version_2(&actions(40, 7)), "--read_iolog_chunked=1"),
        (version_2(&actions(40, 8)), "--size=4k --number_ios=3 --loops=3 --rw=randwrite"),
    ];
    for (log, options) in cases {
        let both = [Who::Fio, Who::AsFio].map(|who| {
            let folder = folder("beside");
            folder.write("log", &log);
            let line = format!("--name=r --read_iolog=log --ioengine=psync {options}");
            let json = words(&format!("{line} --output-format=json"));
            let document = who.run(&folder, &json).well().json();
            let program = if who == Who::Fio { "fio".into() } else { link_named_fio() };
            let quiet = words(&format!("{line} --output=/dev/null"));
            let arguments: Vec<&str> = quiet.iter().map(String::as_str).collect();
            let (calls, code) = trace::calls(Path::new(&program), folder.path(), &arguments);
            assert_eq!(code, Some(0), "{who:?} {options}");
            let on_files = calls.into_iter().filter(|call| !call.contains("log"));
            (counts(&document), on_files.collect::<Vec<_>>())
        });
        let [theirs, ours] = both;
        assert_eq!(ours.0, theirs.0, "counts: {options}");
        assert_eq!(ours.1, theirs.1, "calls: {options}");
    }
}

#[test]
fn the_files_hold_what_they_hold_after_fio() {
    if !has_fio() {
        return;
    }
    // What was read would be in the buffers of later writes.
    let writes: Vec<String> =
        actions(200, 13).into_iter().filter(|line| !line.contains("read")).collect();
    let [theirs, ours] = [Who::Fio, Who::AsFio].map(|who| {
        let folder = folder("contents");
        folder.write("log", version_2(&writes));
        let line = "--name=r --read_iolog=log --buffer_pattern=0xabcdef";
        who.run(&folder, &words(line)).well();
        ["a", "b"].map(|name| std::fs::read(folder.join(name)).unwrap())
    });
    assert!(ours == theirs, "contents differ");
    assert_ne!(ours[0], vec![b'a'; 1 << 20]);
}

#[test]
fn what_fio_wrote_down_is_done_again_as_it_was() {
    if !has_fio() {
        return;
    }
    let jobs = [
        "--rw=randrw --bs=4k --fsync=3 --nrfiles=2 --openfiles=1",
        "--rw=write --bsrange=512-8k --fdatasync=2 --end_fsync=1 --loops=2",
        "--rw=randread --bs=1k --iodepth=8 --ioengine=libaio",
    ];
    for job in jobs {
        let folder = Folder::new("from-fio");
        let line = format!("--name=w --size=64k {job} --write_iolog=log");
        Who::Fio.run(&folder, &words(&line)).well();
        let line = "--name=r --read_iolog=log --replay_no_stall=1 --write_iolog=again";
        Who::AsFio.run(&folder, &words(line)).well();
        assert_eq!(iolog_ios(&folder, "again"), iolog_ios(&folder, "log"), "{job}");
    }
}

#[test]
fn what_we_wrote_down_is_done_again_by_fio_and_by_us() {
    if !has_fio() || !has_strace() {
        return;
    }
    let folder = Folder::new("from-us");
    let line = "--name=w --size=64k --rw=randrw --bs=4k --fsync=3 --nrfiles=2 --write_iolog=log";
    let arguments = words(&format!("{line} --output=/dev/null"));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (done, _) = trace::calls(&link_named_fio(), folder.path(), &arguments);
    // Of laying out, there were writes and syncs before.
    let done: Vec<String> = data_calls(&done);
    let line = "--name=r --read_iolog=log --replay_no_stall=1 --output=/dev/null";
    let arguments = words(line);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (theirs, _) = trace::calls(Path::new("fio"), folder.path(), &arguments);
    let (ours, _) = trace::calls(&link_named_fio(), folder.path(), &arguments);
    assert_eq!(data_calls(&theirs), data_calls(&ours));
    let theirs = data_calls(&theirs);
    assert_eq!(theirs.len(), iolog_ios(&folder, "log").len());
    assert_eq!(theirs, done[done.len() - theirs.len()..]);
}

/// The same recording as version 2 and 3.
#[test]
fn versions_2_and_3_are_the_same_ios() {
    let folder = folder("versions");
    let lines = actions(200, 9);
    folder.write("two", version_2(&lines));
    folder.write("three", version_3(&lines, 0));
    for log in ["two", "three"] {
        let line = format!("--name=r --read_iolog={log} --write_iolog={log}.again");
        Who::AsFio.run(&folder, &words(&line)).well();
    }
    let done = iolog_ios(&folder, "two.again");
    assert_eq!(done, iolog_ios(&folder, "three.again"));
    assert_eq!(done, lines[4..lines.len() - 2]);
}

/// Run ours with `bytes` on standard input.
#[test]
fn a_rate_beside_recorded_moments_is_ignored_with_a_warning() {
    let folder = folder("replay-rate");
    folder.write("l.log", version_2(&actions(10, 3)));
    let job = words("--name=a --read_iolog=l.log --ioengine=psync --rate_iops=5");
    for who in [Who::AsFio, Who::Native] {
        let ran = who.run(&folder, &job).well();
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(text.contains("the rate is ignored"), "{ran:?}");
    }
}

#[test]
fn a_replay_does_not_say_that_it_did_nothing() {
    let folder = folder("replay-not-idle");
    folder.write("l.log", version_2(&actions(10, 3)));
    let job = words("--name=a --read_iolog=l.log --ioengine=psync");
    let ran = Who::AsFio.run(&folder, &job).well();
    assert!(!ran.stderr.contains("did no I/O"), "{ran:?}");
}

fn with_input(folder: &Folder, line: &str, bytes: &[u8]) -> Output {
    let mut command = Who::AsFio.command(folder);
    let command = command.args(words(line)).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_recording_comes_from_a_file_a_pipe_or_a_socket_whole_or_in_pieces() {
    let folder = folder("ways");
    // More than one piece.
    let lines = actions(20_000, 10);
    let log = version_2(&lines);
    assert!(log.len() > 300 << 10);
    folder.write("log", &log);
    let socket = folder.join("socket");
    for (chunked, sent) in [0, 1].into_iter().flat_map(|n| [(n, "log"), (n, "-"), (n, "socket")]) {
        let line = format!(
            "--name=r --ioengine=null --read_iolog={sent} --read_iolog_chunked={chunked} \
             --write_iolog=again"
        );
        let _ = std::fs::remove_file(folder.join("again"));
        if sent == "socket" {
            let _ = std::fs::remove_file(&socket);
            let listener = UnixListener::bind(&socket).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| listener.accept().unwrap().0.write_all(log.as_bytes()).unwrap());
                Who::AsFio.run(&folder, &words(&line)).well();
            });
        } else {
            let output = with_input(&folder, &line, if sent == "-" { log.as_bytes() } else { b"" });
            let reported = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{line}: {reported}");
        }
        assert_eq!(iolog_ios(&folder, "again"), lines[4..lines.len() - 2], "{line}");
    }
    assert!(!folder.names().iter().any(|name| name.contains("tmp")));
}

#[test]
fn every_engine_does_all_of_it_and_copies_take_turns_at_the_recordings() {
    let folder = folder("engines");
    let lines = actions(300, 11);
    folder.write("log", version_2(&lines));
    let count = |word: &str| lines.iter().filter(|line| line.contains(word)).count() as u64;
    let wanted = [count(" read "), count(" write "), 0];
    let engines =
        ["psync", "sync", "pvsync2", "mmap", "libaio --iodepth=16", "io_uring --iodepth=16"];
    for engine in engines {
        let line = format!("--name=r --read_iolog=log --ioengine={engine} --output-format=json");
        let ran = Who::AsFio.run(&folder, &words(&line));
        if engine.starts_with("io_uring") && ran.stderr.contains("cannot run here") {
            skip_part!("io_uring is not to be had here");
            continue;
        }
        let ios: Vec<u64> = counts(&ran.well().json()).iter().map(|(ios, _)| *ios).collect();
        assert_eq!(ios, wanted, "{engine}");
    }
    folder.write("short", version_2(&actions(5, 12)));
    let line = "--name=r --read_iolog=log:short --numjobs=2 --ioengine=null --output-format=json";
    let document = Who::AsFio.run(&folder, &words(line)).well().json();
    let of = |job: usize| {
        let sum = |way: &str| document["jobs"][job][way]["total_ios"].as_u64().unwrap();
        sum("read") + sum("write")
    };
    assert_eq!(of(0), wanted[0] + wanted[1]);
    assert!(of(1) <= 5);
}

/// Reads of a block each, 100 ms apart.
fn slow_reads(ios: usize) -> String {
    let read = |n: usize| format!("{} a read {} 4096\n", n * 100_000, n * 4096);
    let reads: String = (0..ios).map(read).collect();
    format!("fio version 3 iolog\n0 a add\n0 a open\n{reads}")
}

#[test]
fn nothing_starts_early_and_lateness_is_reported() {
    let folder = folder("moments");
    folder.write("log", slow_reads(100));
    for (options, most) in [
        ("--runtime=450ms", 5),
        ("--runtime=450ms --replay_time_scale=50", 3),
        ("--runtime=450ms --replay_time_scale=200", 9),
        ("--runtime=450ms --ioengine=libaio --iodepth=8", 5),
        ("--runtime=450ms --gtod_reduce=1", 5),
    ] {
        let line = format!("--name=r --read_iolog=log --output-format=json {options}");
        let document = Who::Native.run(&folder, &words(&line)).well().json();
        let reads = document["jobs"][0]["read"]["total_ios"].as_u64().unwrap();
        assert!((1..=most).contains(&reads), "{options}: {reads}");
        let job = &document["iosonde"]["jobs"][0];
        // The open before them is counted as well.
        assert_eq!(job["lateness_ns"]["N"], reads + 1, "{options}: {job}");
        assert_eq!(job["response_ns"]["read"]["N"], reads, "{options}: {job}");
    }
    let line = "--name=r --read_iolog=log --replay_no_stall=1 --output-format=json";
    let document = Who::Native.run(&folder, &words(line)).well().json();
    assert_eq!(document["jobs"][0]["read"]["total_ios"], 100);
    assert!(document["iosonde"]["jobs"][0].get("lateness_ns").is_none());
    folder.write("log", slow_reads(2));
    let line = "--name=r --read_iolog=log --name=s --read_iolog=log";
    let text = Who::Native.run(&folder, &words(line)).well().stdout;
    assert!(text.contains("s: started p50 "), "{text}");
    let text = Who::Native.run(&folder, &words("--name=r --read_iolog=log")).well().stdout;
    assert!(text.contains("start delay"), "{text}");
}

#[test]
fn syncs_wait_for_their_moment_too() {
    let folder = folder("sync-moments");
    folder.write(
        "log",
        "fio version 3 iolog\n0 a add\n0 a open\n0 a write 0 512\n300000 a sync\n300000 a close\n",
    );
    for engine in ["psync", "libaio --iodepth=4", "io_uring --iodepth=4"] {
        let line = format!("--name=r --read_iolog=log --ioengine={engine} --output-format=json");
        let ran = Who::AsFio.run(&folder, &words(&line));
        if ran.stderr.contains("cannot run here") {
            continue;
        }
        let document = ran.well().json();
        assert!(document["jobs"][0]["job_runtime"].as_u64().unwrap() >= 300, "{engine}");
        assert_eq!(document["jobs"][0]["sync"]["total_ios"], 1, "{engine}");
    }
}

const QUEUED: u32 = 1 | 1 << 20;
const WRITE: u32 = 1 << 17;

/// A trace of reads and writes, a millisecond apart.
fn block_trace(ios: u64, action: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for n in 0..ios {
        let action = QUEUED | if n % 3 == 0 { action } else { 0 };
        let (time_ns, sector) = (7_000_000 + n * 1_000_000, n * 5 % 64);
        let device = 259 << 20;
        let event =
            Event { time_ns, sector, bytes: 512 << (n % 4), action, device, ..Event::default() };
        write_blktrace(&event, n as u32, &mut bytes);
    }
    bytes
}

#[test]
fn a_block_trace_is_done_as_fio_does_it() {
    if !has_fio() || !has_strace() {
        return;
    }
    for options in ["", "--replay_no_stall=1", "--replay_scale=2 --replay_align=4096"] {
        let [theirs, ours] = ["fio".into(), link_named_fio()].map(|program| {
            let folder = folder("block-trace");
            folder.write("log.bin", block_trace(40, WRITE));
            let line = format!(
                "--name=r --read_iolog=log.bin --replay_redirect=a --output=/dev/null {options}"
            );
            let line = words(&line);
            let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
            let (calls, code) = trace::calls(&program, folder.path(), &arguments);
            assert_eq!(code, Some(0), "{program:?} {options}");
            data_calls(&calls)
        });
        assert_eq!(ours.len(), 40, "{options}");
        assert_eq!(ours, theirs, "{options}");
    }
}

#[test]
fn trims_and_flushes_of_a_device_are_counted_as_by_fio() {
    const FLUSH: u32 = 1 << 18;
    const DISCARD: u32 = 1 << 29;
    if !has_fio() || !is_root("attach loop devices") {
        return;
    }
    let images = Folder::temporary("device");
    let Some(device) = or_skip(LoopDevice::attach(&images.image("d", 1 << 20), &[])) else {
        return;
    };
    let folder = Folder::new("device-trace");
    for (name, action) in [("trim", DISCARD | WRITE), ("flush", FLUSH | WRITE), ("write", WRITE)] {
        // Writes as well: else fio opens the device for reading, and cannot trim.
        folder.write(name, [block_trace(10, WRITE), block_trace(30, action)].concat());
        let line = format!(
            "--name=r --read_iolog={name} --replay_redirect={} --replay_no_stall=1 \
             --output-format=json",
            device.text()
        );
        let [theirs, ours] = [Who::Fio, Who::AsFio].map(|who| {
            let document = who.run(&folder, &words(&line)).well().json();
            (counts(&document), document["jobs"][0]["sync"]["total_ios"].as_u64())
        });
        assert_eq!(ours, theirs, "{name}");
    }
}

#[test]
fn merged_traces_are_written_and_done_and_fio_reads_them() {
    let folder = folder("merge");
    folder.write("one", block_trace(10, WRITE));
    folder.write("two", block_trace(7, 0));
    let merge = "--read_iolog=one:two --merge_blktrace_file=both --merge_blktrace_iters=2:1 \
        --merge_blktrace_scalars=50:100";
    let line = format!("--name=r {merge} --merge-blktrace-only");
    Who::AsFio.run(&folder, &words(&line)).well();
    assert_eq!(std::fs::metadata(folder.join("both")).unwrap().len(), 27 * 48);
    let redirect = "--replay_redirect=a --output-format=json";
    let line = format!("--name=r {merge} {redirect}");
    let document = Who::AsFio.run(&folder, &words(&line)).well().json();
    assert_eq!(counts(&document).iter().map(|(ios, _)| ios).sum::<u64>(), 27);
    if has_fio_for_part() {
        let line = format!("--name=r --read_iolog=both {redirect}");
        assert_eq!(counts(&Who::Fio.run(&folder, &words(&line)).well().json()), counts(&document));
    }
    folder.write("text", "not to be lost");
    let line = "--name=r --read_iolog=one:two --merge_blktrace_file=text --merge-blktrace-only";
    let ran = Who::AsFio.run(&folder, &words(line));
    assert!(ran.stderr.contains("is not overwritten"), "{ran:?}");
    assert_eq!(folder.read("text"), "not to be lost");
}

#[test]
fn what_cannot_be_done_again_is_refused_in_one_line() {
    let folder = folder("refused");
    folder.write("bad", "fio version 2 iolog\na add\na open\na frob 0 4096\n");
    folder.write("none", "fio version 3 iolog\n0 a add\n");
    folder.write("empty", "");
    folder.write("good", version_2(&["a add", "a open", "a read 0 512"].map(str::to_owned)));
    folder.write("gone", version_2(&["c add", "c open", "c read 0 512"].map(str::to_owned)));
    folder.write("far", version_2(&["a add", "a open", "a read 1048576 512"].map(str::to_owned)));
    folder.write("write", version_2(&["a add", "a open", "a write 0 512"].map(str::to_owned)));
    folder.write("trim", version_2(&["a add", "a open", "a trim 0 512"].map(str::to_owned)));
    folder.write("trace", block_trace(1, 0));
    let cases = [
        ("bad", "bad:4:3: frob is no action"),
        ("none", "none holds no I/O to do"),
        ("empty", "empty:1:1: the recording is empty"),
        ("missing", "cannot open missing: "),
        ("good --replay_skip=read", "good holds no I/O to do"),
        ("good --replay_align=1000", "1000 is no power of two"),
        ("good --ioengine=cpuio", "engine cpuio cannot do what was recorded"),
        ("gone", "the recording reads c, which is not there"),
        ("far", "reads up to byte 1049088 of a, which has 1048576"),
        ("write --readonly", "--readonly forbids it"),
        ("trim", "a is no block device"),
        ("trace", "this machine has no device 259:0"),
        ("good --merge_blktrace_file=m", "this is no binary blktrace"),
        (".", "cannot read .: "),
    ];
    for (options, words_told) in cases {
        let ran = Who::Native.run(&folder, &words(&format!("--name=r --read_iolog={options}")));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let errors = ran.stderr.lines().filter(|line| line.contains("error"));
        let errors: Vec<&str> = errors.collect();
        assert!(matches!(errors[..], [line] if line.contains(words_told)), "{options}: {ran:?}");
    }
    // Nothing was made or changed.
    assert!(!folder.names().contains(&"c".to_owned()));
    assert_eq!(std::fs::read(folder.join("a")).unwrap(), vec![b'a'; 1 << 20]);
}
