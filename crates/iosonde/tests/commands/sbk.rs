//! SBK's commands through the program: its lines, and what they do to files.

use crate::support::sbk::{fits, lines, number, sbk};
use crate::support::trace::calls;
use crate::support::words;
use iosonde_testing::{Folder, has_strace};

/// The line of 0.77, as its source has it: one blank and the number's width.
const OLD: &str = "Writing(Total) ########## records, #######.# records/sec, #####.## MB/sec, \
    ######.# ns avg latency, ####### ns max latency; Discarded Latencies:######## lower, \
    ######## higher;  Latency Percentiles: ####### ns 10th, ####### ns 25th, ####### ns 50th, \
    ####### ns 75th, ####### ns 95th, ####### ns 99th, ####### ns 99.9th, ####### ns 99.99th.";

#[test]
fn a_line_of_0_77_has_its_letters_and_widths() {
    let folder = Folder::new("sbk");
    let ran = sbk(&folder, "-class file -file f -size 100 -writers 1 -records 7 -flush 1 -time ns")
        .well();
    let (windows, total) = lines(&ran);
    assert!(windows.is_empty(), "0.77 prints no window that was cut short: {ran:?}");
    fits(&total, OLD);
    assert_eq!(number(&total, "records,"), 7.0);
}

#[test]
fn todays_line_is_that_of_the_golden_file() {
    let folder = Folder::new("sbk");
    let ran = sbk(&folder, "-class file -file f -size 1000 -writers 1 -records 2000").well();
    let (windows, total) = lines(&ran);
    assert_eq!(windows.len(), 1, "the window that was cut short: {ran:?}");
    let golden = include_str!("../golden/sbk-today.txt").trim_end();
    let (date, rest) = total.split_at(19);
    fits(date, "####-##-## ##:##:##");
    fits(rest, golden);
    assert!(ran.stdout.contains("99.99th\n\n"), "a blank line follows each");
    assert_eq!(number(&total, "records,"), 2000.0);
    assert_eq!(number(&total, "MB, "), 1.9, "MB are MiB, rounded: 1.907");
    let plain = windows[0].replacen(", File", ", Total File", 1);
    assert_eq!(plain[19..].split(" seconds").nth(1), rest.split(" seconds").nth(1));
    let sl4j =
        sbk(&folder, "-class file -file f -size 9 -writers 1 -records 2 -out Sl4jLogger").well();
    assert!(sl4j.stdout.starts_with("File Writing "), "no date: {sl4j:?}");
}

#[test]
fn the_seeds_commands_run_as_typed() {
    let folder = Folder::new("sbk");
    let size = || std::fs::metadata(folder.join("tmp.txt")).unwrap().len();
    let common = "-class file -file tmp.txt -size 1048576";
    let flushed = sbk(&folder, &format!("{common} -writers 1 -records 20 -flush 1")).well();
    assert_eq!((number(&lines(&flushed).1, "records,"), size()), (20.0, 20 << 20));
    assert!(flushed.stdout.contains("Syncs in total         20 fdatasync,"), "{flushed:?}");
    assert_eq!(flushed.stdout.matches("(Total)").count(), 1, "as scripts look for it: {flushed:?}");
    let buffered = sbk(&folder, &format!("{common} -writers 1 -records 30")).well();
    assert_eq!((number(&lines(&buffered).1, "records,"), size()), (30.0, 30 << 20));
    let read = sbk(&folder, &format!("{common} -readers 1 -records 10")).well();
    assert_eq!(number(&lines(&read).1, "records,"), 10.0);
    assert!(!read.stdout.contains("came to the end"), "{read:?}");
    let several = sbk(&folder, &format!("{common} -readers 3 -records 50")).well();
    assert_eq!(number(&lines(&several).1, "records,"), 50.0, "17, 17 and 16, each from the start");
}

#[test]
fn file_contents_are_as_many_records_of_capital_letters() {
    let folder = Folder::new("sbk");
    for class in ["file", "filestream", "filestream -buffer true", "asyncfile"] {
        let line = format!("-class {class} -file f -size 333 -writers 1 -records 1001 -sync 10");
        let total = lines(&sbk(&folder, &line).well()).1;
        assert_eq!(number(&total, "records,"), 1001.0, "{class}");
        let bytes = folder.read("f").into_bytes();
        assert_eq!(bytes.len(), 333 * 1001, "{class}");
        let mut records = bytes.chunks(333);
        let first = records.next().unwrap();
        assert!(first.iter().all(u8::is_ascii_uppercase), "{class}");
        assert!(records.all(|record| record == first), "{class}");
        std::fs::remove_file(folder.join("f")).unwrap();
    }
}

#[test]
fn classes_create_keep_and_append_as_sbks_do() {
    let folder = Folder::new("sbk");
    let after = |class: &str| {
        folder.write("f", [b'x'; 5000]);
        sbk(&folder, &format!("-class {class} -file f -size 100 -writers 1 -records 10")).well();
        std::fs::metadata(folder.join("f")).unwrap().len()
    };
    assert_eq!(after("file"), 1000);
    assert_eq!(after("filestream"), 1000);
    assert_eq!(after("filestream -recreate false"), 1000);
    assert_eq!(after("filestream -append true"), 6000);
    assert!(folder.read("f")[..5001].trim_start_matches('x').len() == 1, "what was there stays");
    assert_eq!(after("asyncfile"), 5000, "written over from its start, not cut");
    // A link is removed, not followed: what it leads to stays.
    folder.write("precious", "text");
    std::fs::remove_file(folder.join("f")).unwrap();
    std::os::unix::fs::symlink("precious", folder.join("f")).unwrap();
    sbk(&folder, "-class file -file f -size 100 -writers 1 -records 10").well();
    assert_eq!(folder.read("precious"), "text");
}

#[test]
fn a_table_is_written_and_read_back() {
    let folder = Folder::new("sbk");
    let total = lines(&sbk(&folder, "-class csv -file t -size 5 -writers 1 -records 300").well()).1;
    assert_eq!(number(&total, "records,"), 300.0);
    let text = folder.read("t");
    let mut rows = text.split("\r\n");
    assert_eq!(rows.next(), Some("key,text"));
    for number in 1..=300 {
        let (key, text) = rows.next().unwrap().split_once(',').unwrap();
        assert_eq!((key, text.len()), (&*number.to_string(), 5));
    }
    let read = sbk(&folder, "-class csv -file t -size 5 -readers 2 -records 1000").well();
    assert_eq!(number(&lines(&read).1, "records,"), 600.0, "the header is no record");
    assert!(read.stdout.contains("Reader 1 came to the end of t, after 300 of 500 records"));
    let odd = sbk(&folder, "-class csv -file t -size 6 -readers 1");
    assert_eq!(odd.code, Some(1), "{odd:?}");
    assert!(odd.stderr.contains("not as long as -size says"), "{odd:?}");
    folder.write("bytes", [7; 5000]);
    for none in ["bytes", "/dev/zero"] {
        let ran = sbk(&folder, &format!("-class csv -file {none} -size 5 -readers 1 -records 9"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("it does not begin with the header key,text"), "{ran:?}");
    }
}

#[test]
fn several_writers_and_readers_share_the_records() {
    let folder = Folder::new("sbk");
    sbk(&folder, "-class file -file f -size 100 -writers 3 -records 100 --files").well();
    let sizes = [("f.0", 3400), ("f.1", 3300), ("f.2", 3300)].map(|(n, s)| (n.to_owned(), s));
    assert_eq!(folder.sizes(), sizes);
    sbk(&folder, "-class file -file f -size 100 -writers 1 -records 101").well();
    let split = sbk(&folder, "-class file -file f -size 100 -readers 3 --readers-split").well();
    assert_eq!(number(&lines(&split).1, "records,"), 101.0, "each record once");
    let twice = sbk(&folder, "-class file -file f -size 100 -readers 2").well();
    assert_eq!(number(&lines(&twice).1, "records,"), 202.0, "each record by each");
    let few = sbk(&folder, "-class file -file f -size 100 -readers 5 -records 3").well();
    assert_eq!(number(&lines(&few).1, "records,"), 3.0);
}

#[test]
fn sizes_drawn_from_a_range_fill_the_file_without_gaps() {
    let folder = Folder::new("sbk");
    let ran =
        sbk(&folder, "-class file -file f -size 100-1000 -writers 1 -records 500 -out JSON").well();
    let json = ran.json();
    let written = json["jobs"][0]["write"]["io_bytes"].as_u64().unwrap();
    assert_eq!(json["jobs"][0]["write"]["total_ios"], 500);
    let bytes = std::fs::metadata(folder.join("f")).unwrap().len();
    assert_eq!(written, bytes);
    assert!((500 * 450..500 * 650).contains(&bytes), "the mean is near 550: {bytes}");
    assert!(folder.read("f").bytes().all(|byte| byte.is_ascii_uppercase()), "no hole");
}

#[test]
fn syncs_come_after_every_nth_record_and_once_at_the_end() {
    if !has_strace() {
        return;
    }
    let folder = Folder::new("sbk");
    let traced = |line: &str| {
        let line = words(&format!("sbk {line} -format 0.77"));
        let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_iosonde"));
        let (mut calls, code) = calls(program, folder.path(), &arguments);
        assert_eq!(code, Some(0), "{calls:?}");
        calls.retain(|call| !call.starts_with("open"));
        calls
    };
    let common = "-file f -size 10 -writers 1 -records 5";
    let first = traced(&format!("-class file {common} -sync 2"));
    let pattern = [
        "write f 0+10",
        "write f 10+10",
        "fdatasync f",
        "write f 20+10",
        "write f 30+10",
        "fdatasync f",
        "write f 40+10",
        "fdatasync f",
    ];
    assert_eq!(first, pattern);
    let again = traced(&format!("-class file {common} -flush 5"));
    assert_eq!(again[0], "unlink f");
    assert_eq!(again[5..], ["write f 40+10", "fdatasync f"], "not twice at the end");
    let at_end = traced(&format!("-class filestream {common}"));
    assert_eq!(at_end[6..], ["fsync f"]);
    let buffered = traced(&format!("-class filestream -buffer true {common} -sync 2"));
    let flushes = ["unlink f", "write f 0+20", "write f 20+20", "write f 40+10"];
    assert_eq!(buffered, flushes, "as SBK's: a sync empties the buffer, no fsync");
}

#[test]
fn windows_add_up_to_the_total_in_sync_mode_and_no_record_is_ahead_of_its_rate() {
    let folder = Folder::new("sbk");
    // 64 records a second for 6 seconds.
    let line = "-class file -file f -size 4096 -writers 1 -throughput 0.25 -records 384 -flush 1";
    let ran = sbk(&folder, &format!("{line} --format=10 -time mcs")).well();
    let (windows, total) = lines(&ran);
    assert!(windows.len() >= 2, "{ran:?}");
    let sum: f64 = windows.iter().map(|line| number(line, "records,")).sum();
    assert_eq!((sum, number(&total, "records,")), (384.0, 384.0), "no record is lost");
    // A busy machine is late, never early.
    let rate = number(&total, "records/sec,");
    assert!(rate > 0.0 && rate <= 64.0 * 1.01, "{rate} of 64 a second");
    // The last record is due 383 / 64 s after the first.
    let least = 383.0 / 64.0;
    let seconds = number(&total, "records,") / rate;
    assert!(seconds >= least * 0.99, "{seconds} s, ahead of the schedule: {total}");
    // The windows take the time that the total takes, each at its own rate.
    let windows_s: f64 =
        windows.iter().map(|line| number(line, "records,") / number(line, "records/sec,")).sum();
    assert!((windows_s / seconds - 1.0).abs() < 0.05, "{windows_s} s of {seconds}: {ran:?}");
}

#[test]
fn less_than_a_record_a_second_is_a_rate_too() {
    let folder = Folder::new("sbk");
    // Half a record of 1 MiB a second: the second is due after two seconds.
    let line = "-class file -file f -size 1048576 -writers 1 -throughput 0.5 -records 2";
    let total = lines(&sbk(&folder, &format!("{line} -format 0.77")).well()).1;
    let rate = number(&total, "records/sec,");
    assert!(rate > 0.0 && rate < 1.05, "two records in two seconds at least: {total}");
}

#[test]
fn a_syncs_time_is_in_the_records_latency_only_when_asked() {
    let folder = Folder::new("sbk");
    let run = |more: &str| {
        let line = format!(
            "-class file -file f -size 4096 -writers 1 -records 200 -sync 1 -time ns {more}"
        );
        let ran = sbk(&folder, &line).well();
        let sync = ran.stdout.lines().find(|line| line.starts_with("Syncs in total")).unwrap();
        (number(&lines(&ran).1, "ns avg latency,"), number(sync, "ns avg latency,"))
    };
    let (with, sync) = run("--sync-in-latency");
    assert!(with > sync, "a write and its sync take longer than the sync: {with} {sync}");
}

#[test]
fn direct_and_deep_queues_move_the_same_bytes() {
    let folder = Folder::new("sbk");
    let line = "-class file -file f -size 4096 -writers 1 -records 256 --direct --iodepth=8";
    sbk(&folder, line).well();
    assert_eq!(folder.read("f").len(), 256 * 4096);
    let read = sbk(&folder, "-class asyncfile -file f -size 4000 -readers 1 -records 1000").well();
    let total = lines(&read).1;
    assert_eq!(number(&total, "records,"), 263.0, "262 whole ones and a short one");
    assert_eq!(number(&total, "MB, "), 1.0);
}

#[test]
fn direct_that_is_not_honoured_is_reported() {
    let memory = std::path::Path::new("/dev/shm");
    let Ok(folder) = folder_in_memory(memory) else {
        iosonde_testing::skip!("there is no tmpfs at /dev/shm");
    };
    let file = folder.join("f");
    let run = |who: &str| {
        let line = format!("-class file -file {} -size 4096 {who} 1 -records 9", file.display());
        sbk(&Folder::new("sbk"), &format!("{line} --direct"))
    };
    let (written, read) = (run("-writers"), run("-readers"));
    std::fs::remove_dir_all(&folder).unwrap();
    for ran in [written, read] {
        // Before Linux 6.6 tmpfs refuses O_DIRECT.
        let refused = ran.code == Some(1);
        assert!(refused || ran.stderr.contains("note: -direct is not honoured: "), "{ran:?}");
    }
}

/// A new folder on a tmpfs.
fn folder_in_memory(memory: &std::path::Path) -> std::io::Result<std::path::PathBuf> {
    let mounts = std::fs::read_to_string("/proc/mounts")?;
    if !mounts.contains(&format!(" {} tmpfs ", memory.display())) {
        return Err(std::io::ErrorKind::NotFound.into());
    }
    let folder = memory.join(format!("iosonde-sbk-direct-{}", std::process::id()));
    std::fs::create_dir(&folder).map(|()| folder)
}

#[test]
fn remedies_name_sbks_own_options() {
    let folder = Folder::new("sbk");
    let line = "-class file -file f -size 1000 -writers 1 -records 9 --direct";
    let ran = sbk(&folder, line);
    assert!(ran.stderr.contains("warning: -size: direct I/O in sizes"), "{ran:?}");
    assert!(!ran.stderr.contains("bs=") && !ran.stderr.contains("direct=1"), "{ran:?}");
}

#[test]
fn a_timed_total_shows_the_seconds_that_were_requested() {
    let folder = Folder::new("sbk");
    // A record a second: the last one ends well before the time does.
    let line = "-class file -file f -size 1048576 -writers 1 -throughput 0.7 -seconds 2";
    let table = "-out CSVLogger -csvfile t.csv";
    let total = lines(&sbk(&folder, &format!("{line} {table}")).well()).1;
    assert_eq!(number(&total, "seconds,"), 2.0, "{total}");
    let table = folder.read("t.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(',').collect()).collect();
    let column = rows[0].iter().position(|name| *name == "ReportSeconds").unwrap();
    assert_eq!(rows.last().unwrap()[column].trim(), "2", "{table}");
    let read = "-class file -file f -size 1048576 -readers 1 -seconds 100000";
    let ended = lines(&sbk(&folder, read).well()).1;
    assert!(number(&ended, "seconds,") < 100000.0, "the file ended first: {ended}");
}

#[test]
fn a_ramp_starts_workers_one_after_another() {
    let folder = Folder::new("sbk");
    let line = "-class null -size 10 -writers 3 -wstep 2 -wsec 1 -seconds 2 -records 300 -out JSON";
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let json = sbk(&folder, line).well().json();
    let runtime = |job: usize| json["jobs"][job]["job_runtime"].as_u64().unwrap();
    assert!(runtime(0) >= 2000 && runtime(1) >= 2000 && runtime(2) >= 1000, "{json}");
    let start = json["jobs"][2]["job_start"].as_u64().unwrap();
    assert!(u128::from(start) >= now.as_millis() + 1000, "the third waits a second: {json}");
    let all = line.replace(" -out JSON", "");
    assert!(lines(&sbk(&folder, &all).well()).1.contains("    3 max writers"), "two, then all");
    let late =
        sbk(&folder, "-class null -size 10 -writers 3 -wsec 5 -seconds 1 -records 30").well();
    assert!(lines(&late).1.contains("    1 max writers"), "{late:?}");
}

#[test]
fn what_is_wrong_is_said_with_sbks_exit_codes() {
    let folder = Folder::new("sbk");
    let said = [
        ("-class file -file f -size 1 -writers 2", 1, "Writers should be only 1"),
        ("-class file -file f -size 1 -writers 1 -readers 1", 1, "both are not allowed"),
        ("-class file -file missing -size 1 -readers 1", 1, "open missing: No such file"),
        ("-class file -file . -size 1 -readers 1", 1, "directory"),
        ("-class file -file no/such/f -size 1 -writers 1", 1, "no/such/f"),
        ("-class file -file f -size 1 -writers 1 -recods 1", 2, "did you mean -records?"),
        ("-class file -file f -size 1 -writers 1 --ioengine=warp", 1, "warp"),
        ("-class file -file f -size 1 -writers 1 --ioengine=null", 1, "moves no bytes"),
        ("-class file -file f -size 1 -writers 1 --ioengine=mmap", 1, "cannot write past"),
        ("-class csv -file f -size 1 -writers 1 -out CSVLogger -csvfile f", 1, "the same file"),
        ("-f missing.yml", 1, "missing.yml"),
    ];
    for (line, code, words) in said {
        let ran = sbk(&folder, line);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stderr.contains(words), "{words}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    }
    assert!(folder.names().is_empty(), "nothing was made: {:?}", folder.names());
    let suffix =
        sbk(&folder, "-class file -file f -size 1k -writers 1 -records 2 -thread v").well();
    assert!(suffix.stderr.contains("SBK would refuse it"), "{suffix:?}");
    assert!(suffix.stderr.contains("-thread: of SBK's Java machine"), "{suffix:?}");
    assert_eq!(folder.sizes(), [("f".to_owned(), 2048)]);
}
