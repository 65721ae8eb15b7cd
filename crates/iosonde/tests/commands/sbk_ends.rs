//! How runs of records end: with their files, with a full disk, with a signal;
//! and what they leave alone.

use crate::support::Who;
use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::sbk::{lines, number, sbk};
use iosonde_testing::{Folder, LoopDevice, Mounted, is_root, or_skip, run};
use rustix::process::Signal;

#[test]
fn the_end_of_a_file_is_reported_with_the_records_done() {
    let folder = Folder::new("sbk");
    folder.write("f", [b'x'; 1050]);
    let counted = sbk(&folder, "-class file -file f -size 100 -readers 1 -records 20").well();
    assert_eq!(number(&lines(&counted).1, "records,"), 11.0, "ten and a short one");
    let says = "Reader 0 came to the end of f, after 11 of 20 records\n";
    assert!(counted.stdout.ends_with(says), "{counted:?}");
    let timed = sbk(&folder, "-class file -file f -size 100 -readers 1 -seconds 30").well();
    assert!(timed.stdout.contains("after 11 records, in "), "{timed:?}");
    assert!(timed.stdout.contains(" of 30 seconds"), "{timed:?}");
    let exact = sbk(&folder, "-class file -file f -size 105 -readers 1 -records 10").well();
    assert!(!exact.stdout.contains("came to the end"), "all that was asked for: {exact:?}");
    let large = sbk(&folder, "-class file -file f -size 4096 -readers 1 -records 1").well();
    assert_eq!(number(&lines(&large).1, "records,"), 1.0, "a record of 1050 bytes");
    let json = sbk(&folder, "-class file -file f -size 100 -readers 1 -out JSON").well().json();
    assert_eq!(json["jobs"][0]["read"]["io_bytes"], 1050);
    folder.write("empty", "");
    let empty = sbk(&folder, "-class file -file empty -size 100 -readers 1 -records 5").well();
    assert_eq!(number(&lines(&empty).1, "records,"), 0.0);
    assert!(empty.stdout.contains("nothing to read"), "{empty:?}");
}

#[test]
fn a_file_that_shrinks_ends_its_reader() {
    let folder = Folder::new("sbk");
    let path = folder.write("f", vec![b'x'; 1 << 20]);
    // 256 records of 4 KiB, a hundred a second.
    let line = "sbk -class file -file f -size 4096 -readers 1 -throughput 0.390625 -format 0.77";
    let mut program = Running::start(Who::Native, &folder, line);
    let io = format!("/proc/{}/io", program.id());
    wait_until("it reads", || {
        let text = std::fs::read_to_string(&io).unwrap_or_default();
        let read = text.lines().find_map(|line| line.strip_prefix("rchar: "));
        read.and_then(|n| n.parse::<u64>().ok()).is_some_and(|n| n > 40 * 4096)
    });
    std::fs::File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
    let ran = program.end_within(PATIENCE).well();
    let records = number(&lines(&ran).1, "records,");
    assert!(records > 1.0 && records < 256.0, "{ran:?}");
    let says =
        format!("came to the end of f, which became shorter meanwhile, after {records} records");
    assert!(ran.stdout.contains(&says), "{says}: {ran:?}");
}

#[test]
fn a_full_disk_fails_the_writer_after_its_total() {
    if !is_root("mount") {
        return;
    }
    let folder = Folder::new("sbk");
    std::fs::create_dir(folder.join("on")).unwrap();
    let on = folder.join("on");
    let mounted = run("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs", on.to_str().unwrap()]);
    if or_skip(mounted).is_none() {
        return;
    }
    let _mounted = Mounted::at(on);
    let common = "-file on/f -size 1000 -writers 1 -records 5000";
    let full = sbk(&folder, &format!("-class file {common}"));
    assert_eq!(full.code, Some(1), "{full:?}");
    assert!(full.stderr.contains("Writer 0 failed: write of 1000 bytes at"), "{full:?}");
    assert!(full.stderr.contains("No space left on device"), "{full:?}");
    // 1 MiB holds 1048 whole records and a part of the next.
    assert_eq!(number(&lines(&full).1, "records,"), 1048.0, "{full:?}");
    let buffered = sbk(&folder, &format!("-class filestream -buffer true {common}"));
    assert_eq!(buffered.code, Some(1), "{buffered:?}");
    assert!(buffered.stderr.contains("No space left on device"), "{buffered:?}");
}

#[test]
fn a_signal_ends_the_run_with_its_total() {
    let folder = Folder::new("sbk");
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let line = "sbk -class file -file f -size 100 -writers 1 -throughput 0.1";
        let mut program = Running::start(Who::Native, &folder, line);
        let path = folder.join("f");
        wait_until("it writes", || path.metadata().is_ok_and(|file| file.len() > 1000));
        program.signal(signal);
        let ran = program.end_within(PATIENCE);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let (windows, total) = lines(&ran);
        assert_eq!(windows.len(), 1, "{ran:?}");
        let bytes = std::fs::metadata(&path).unwrap().len();
        assert_eq!(number(&total, "records,") * 100.0, bytes as f64, "counted is what is there");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_timed_run_counts_what_it_wrote_and_makes_it_durable() {
    let folder = Folder::new("sbk");
    let ran =
        sbk(&folder, "-class file -file f -size 4096 -writers 1 -throughput 1 -seconds 1").well();
    let total = lines(&ran).1;
    let bytes = std::fs::metadata(folder.join("f")).unwrap().len() as f64;
    assert_eq!(number(&total, "records,") * 4096.0, bytes, "{ran:?}");
    // A busy machine is late, never early; the first record is due at once.
    assert!(bytes > 0.0 && bytes <= 1048576.0 + 4096.0, "a MiB in a second: {bytes}");
}

#[test]
fn devices_are_kept_and_mounted_ones_refused() {
    let folder = Folder::new("sbk");
    let Some(device) = LoopDevice::formatted(&folder, "ext4", 16 << 20) else { return };
    let name = device.0.display().to_string();
    let line = format!("-class file -file {name} -size 4096 -writers 1 -seconds 30");
    {
        let Some(_mounted) = or_skip(Mounted::mount(&device.0, &folder.join("on"))) else { return };
        let refused = sbk(&folder, &line);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains("is mounted on"), "{refused:?}");
        assert!(!refused.stderr.contains("allow_mounted_write"), "{refused:?}");
    }
    let refused = sbk(&folder, &line);
    assert!(refused.stderr.contains("holds an ext4 file system"), "{refused:?}");
    let ran = sbk(&folder, &format!("{line} -erase 16m")).well();
    assert_eq!(number(&lines(&ran).1, "records,"), 4096.0, "as many as the device holds");
    assert!(ran.stdout.contains("Writer 0 came to the end of"), "{ran:?}");
    use std::os::unix::fs::FileTypeExt;
    assert!(std::fs::metadata(&device.0).unwrap().file_type().is_block_device(), "not removed");
    let read = sbk(&folder, &format!("-class file -file {name} -size 65536 -readers 1")).well();
    assert_eq!(number(&lines(&read).1, "records,"), 256.0);
}
