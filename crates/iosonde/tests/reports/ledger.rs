//! The ledger and the verdict on real file systems: where bytes went is shown
//! as it was.

use crate::support::ledgers::{MIB, TestFileSystem, finds, ledger, share};
use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::{Who, words};
use iosonde_testing::{Folder, LoopDevice, Overlay, or_skip, run, skip, skip_part};
use rustix::process::Signal;
use std::io::Read;

#[test]
fn reads_from_the_page_cache_are_reported_as_such() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    // Each block comes from the device once, and a hundred times out of memory.
    let line = "--rw=randread --bs=4k --size=1m --loops=200 --invalidate=1";
    let first = place.ledger("small", &format!("{line} --loops=1"));
    assert_eq!(share(&first, "device_bytes"), 1.0, "{first}");
    assert_eq!(finds(&first, "page-cache-reads"), None);
    let read = "--rw=randread --bs=4k --size=8m --norandommap --io_size=1g --invalidate=1";
    let often = place.ledger("often", read);
    assert!(share(&often, "cache_bytes") >= 0.99, "{}", often["reads"]);
    assert!(finds(&often, "page-cache-reads").unwrap().contains("from the page cache"));
    // What is mapped is not idle: the kernel leaves it in memory.
    let mut holder = mapped(&place, "often", 8 * MIB);
    let again = place.ledger("often", "--rw=randread --bs=4k --size=8m --invalidate=0");
    assert_eq!(share(&again, "cache_bytes"), 1.0, "{}", again["reads"]);
    assert_eq!(again["reads"]["cached_at_start_bytes"], 8 * MIB);
    holder.signal(Signal::INT);
    holder.end_within(PATIENCE);
}

/// A job that has all of a file mapped, and reads it time and again.
fn mapped(place: &TestFileSystem, name: &str, bytes: u64) -> Running {
    let line = format!(
        "--name=hold --filename={} --ioengine=mmap --rw=read --bs=4k --size={bytes} \
         --invalidate=0 --time_based --runtime=1d --rate_iops=8000",
        place.path(name)
    );
    let mut holder = Running::start(Who::Native, &place.folder, &line);
    let maps = format!("/proc/{}/smaps", holder.id());
    wait_until("all of the file is mapped", || {
        let text = std::fs::read_to_string(&maps).unwrap_or_default();
        let of_file = text.split_once(&place.path(name)).map_or("", |(_, rest)| rest);
        let line = of_file.lines().find_map(|line| line.strip_prefix("Rss:"));
        line.is_some_and(|line| line.trim() == format!("{} kB", bytes / 1024))
    });
    holder
}

#[test]
fn direct_reads_and_writes_of_ext4_and_xfs_are_all_of_the_device() {
    for kind in ["ext4", "xfs"] {
        let Some(place) = TestFileSystem::of(kind) else { continue };
        for engine in ["psync", "libaio --iodepth=4", "io_uring --iodepth=4"] {
            let line = format!("--rw=randread --bs=16k --size=16m --direct=1 --ioengine={engine}");
            let read = place.ledger("f", &line);
            // A page of the program itself that was evicted is read again, and counts too.
            let fetched = share(&read, "device_bytes");
            assert!((1.0..1.1).contains(&fetched), "{kind} {engine}: {read}");
            assert_eq!(share(&read, "cache_bytes"), 0.0, "{kind} {engine}: {read}");
            assert_eq!(read["jobs"][0]["direct"]["honoured"], true, "{kind} {engine}: {read}");
            assert_eq!(finds(&read, "not-direct"), None);
        }
        let written = place.ledger("w", "--rw=write --bs=64k --size=16m --direct=1");
        assert_eq!(written["jobs"][0]["direct"]["honoured"], true, "{written}");
        assert_eq!(written["writes"]["dirty_at_end_bytes"], 0);
        assert_eq!(finds(&written, "not-durable"), None);
        assert!(finds(&written, "write-cache-not-flushed").is_some(), "{written}");
    }
}

#[test]
fn reads_of_helper_threads_count_for_the_run_where_they_cannot_be_attributed() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let line = "--rw=randread --bs=16k --size=8m --ioengine=posixaio --numjobs=2 --direct=1";
    let reported = place.ledger("f", line);
    let of_job = &reported["jobs"][0]["reads"]["device_bytes"];
    assert!(of_job["unknown"].as_str().unwrap().contains("while other jobs ran"), "{of_job}");
    assert_eq!(reported["reads"]["completed_bytes"], 16 * MIB);
    assert!(share(&reported, "device_bytes") >= 1.0, "{}", reported["reads"]);
    assert_eq!(share(&reported, "cache_bytes"), 0.0, "{}", reported["reads"]);
}

#[test]
fn what_is_made_of_memory_is_not_direct() {
    let folder = Folder::new("ledger-shm");
    let path = format!("/dev/shm/iosonde-ledger-{}", std::process::id());
    if std::fs::write(&path, []).is_err() {
        skip!("/dev/shm is not writable");
    }
    let line = format!("--name=j --filename={path} --rw=randread --bs=4k --size=4m --direct=1");
    let ran = Who::Native.run(&folder, &words(&format!("--output-format=json {line}")));
    std::fs::remove_file(&path).unwrap();
    if ran.code != Some(0) {
        skip!("this kernel's tmpfs takes no O_DIRECT");
    }
    let reported = ran.json()["iosonde"]["ledger"].clone();
    assert_eq!(reported["jobs"][0]["direct"]["honoured"], false);
    assert!(finds(&reported, "not-direct").unwrap().contains("tmpfs keeps its files in memory"));
    assert_eq!(share(&reported, "cache_bytes"), 1.0);
    assert!(
        reported["other_traffic"]["share"]["unknown"].is_string(),
        "no device, no number: {reported}"
    );
}

#[test]
fn what_is_written_to_memory_is_never_durable() {
    let folder = Folder::new("ledger-shm-write");
    let path = format!("/dev/shm/iosonde-ledger-write-{}", std::process::id());
    if std::fs::write(&path, []).is_err() {
        skip!("/dev/shm is not writable");
    }
    let reported =
        ledger(&folder, &format!("--name=j --filename={path} --rw=write --size=1m --end_fsync=1"));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(reported["writes"]["dirty_at_end_bytes"], MIB, "{}", reported["writes"]);
    let durable = &reported["writes"]["durable_bytes_per_s"]["unknown"];
    assert!(durable.as_str().unwrap().contains("made of memory"), "{durable}");
    assert!(finds(&reported, "not-durable").unwrap().contains("made of memory"));
}

#[test]
fn the_upper_bound_of_a_null_job_is_no_less_than_what_it_reached() {
    let folder = Folder::new("ledger-bound");
    for job in ["--iodepth=1", "--iodepth=32", "--iodepth=8 --bs=1m --rw=write"] {
        let line = format!(
            "--name=j --ioengine=null --size=1g --bs=4k --rw=read --time_based --runtime=200ms {job}"
        );
        let ran = Who::Native.run(&folder, &words(&format!("--output-format=json {line}"))).well();
        let document = ran.json();
        let bound = &document["iosonde"]["ledger"]["jobs"][0]["cpu"]["upper_bound_iops"];
        let way = if job.contains("write") { "write" } else { "read" };
        let number = |key: &str| document["jobs"][0][way][key].as_f64().unwrap();
        // The runtime is cut to whole milliseconds.
        let reached = number("total_ios") * 1000.0 / (number("runtime") + 1.0);
        assert!(bound.as_f64().unwrap() >= reached, "{job}: {bound}, reached {reached}");
    }
}

#[test]
fn btrfs_with_checksums_is_reported_as_buffered_and_without_as_direct() {
    let Some(place) = TestFileSystem::of("btrfs") else { return };
    let line = "--rw=write --bs=64k --size=32m --direct=1";
    let summed = place.ledger("summed", line);
    let plain = place.path("plain");
    std::fs::File::create(&plain).unwrap();
    if or_skip(run("chattr", &["+C", &plain])).is_none() {
        return;
    }
    let unsummed = place.ledger("plain", line);
    assert_eq!(unsummed["jobs"][0]["direct"]["honoured"], true, "{unsummed}");
    if kernel() < (6, 14) {
        return skip_part!("btrfs falls back since Linux 6.14");
    }
    assert_eq!(summed["jobs"][0]["direct"]["honoured"], false, "{summed}");
    assert!(finds(&summed, "not-direct").unwrap().contains("checksums"));
}

fn kernel() -> (u32, u32) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map(|word| word.trim().parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[test]
fn a_file_that_was_only_reserved_is_reported_as_holes() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    or_skip(run("fallocate", &["-l", "16m", &place.path("reserved")])).unwrap();
    std::fs::File::create(place.path("sparse")).unwrap().set_len(16 * MIB).unwrap();
    for name in ["reserved", "sparse"] {
        for direct in [0, 1] {
            let line = format!("--rw=randread --bs=4k --size=16m --direct={direct}");
            let reported = place.ledger(name, &line);
            assert_eq!(
                share(&reported, "hole_bytes"),
                1.0,
                "{name} {direct}: {}",
                reported["reads"]
            );
            assert_eq!(
                share(&reported, "cache_bytes"),
                0.0,
                "{name} {direct}: {}",
                reported["reads"]
            );
            assert!(finds(&reported, "holes-read").unwrap().starts_with("100 %"));
        }
    }
}

#[test]
fn a_buffered_write_is_reported_as_not_durable_with_the_dirty_bytes() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let reported = place.ledger("w", "--rw=write --bs=1m --size=256m");
    let writes = &reported["writes"];
    assert_eq!(writes["completed_bytes"], 256 * MIB);
    // The kernel may have begun to write back; what is left is not all then.
    let left = writes["dirty_at_end_bytes"].as_u64().unwrap();
    assert!(left > 0 && left <= 256 * MIB, "{writes}");
    let device = &reported["devices"][0]["counters"]["write_bytes"];
    let missing = 256 * MIB - left;
    assert!(device.as_u64().unwrap() + MIB >= missing, "{device}: {missing} left memory");
    assert!(finds(&reported, "not-durable").is_some(), "{reported}");
    let (told_rate, durable) = (
        writes["reported_bytes_per_s"].as_f64().unwrap(),
        writes["durable_bytes_per_s"].as_f64().unwrap(),
    );
    assert!(durable < told_rate, "{writes}");
    let whole = place.ledger("w", "--rw=write --bs=1m --size=64m --end_fsync=1");
    assert_eq!(whole["writes"]["dirty_at_end_bytes"], 0);
    assert_eq!(finds(&whole, "not-durable"), None);
}

#[test]
fn writes_that_were_overwritten_in_memory_are_reported() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let line = "--rw=randwrite --bs=4k --size=4m --norandommap --io_size=64m --end_fsync=1";
    let reported = place.ledger("often", line);
    let found = finds(&reported, "overwritten-in-memory").unwrap_or_else(|| panic!("{reported}"));
    assert!(found.contains("of 64 MiB written"), "{found}");
    let once = place.ledger("once", "--rw=write --bs=4k --size=16m --end_fsync=1");
    assert_eq!(finds(&once, "overwritten-in-memory"), None, "{once}");
    let left = place.ledger("left", "--rw=write --bs=4k --size=16m");
    assert_eq!(finds(&left, "overwritten-in-memory"), None, "it is not durable, no more: {left}");
}

#[test]
fn only_a_sync_after_the_last_write_makes_it_durable() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let in_cache = |line: &str| {
        let reported = place.ledger("f", &format!("--rw=write --bs=4k --direct=1 {line}"));
        let found = finds(&reported, "write-cache-not-flushed");
        assert_eq!(reported["writes"]["in_volatile_cache"], found.is_some(), "{reported}");
        found
    };
    assert_eq!(in_cache("--size=64k --fsync=1"), None);
    assert!(in_cache("--size=64k --fsync=8").unwrap().contains("no sync is known"));
    // The last of the writes may come back after the last sync.
    assert!(in_cache("--size=64k --fsync=1 --ioengine=libaio --iodepth=8").is_some());
}

#[test]
fn what_a_ramp_moved_is_no_part_of_how_the_rate_went() {
    let folder = Folder::new("ledger-ramp");
    let line = "--name=j --ioengine=null --rw=read --bs=4k --size=1g --time_based \
                --ramp_time=1 --runtime=1";
    let line = format!("{line} --output-format=json");
    let document = Who::Native.run(&folder, &words(&line)).well().json();
    let series = &document["iosonde"]["series"];
    let windows = series["windows"].as_u64().unwrap();
    // Five of 200 ms, and the lateness of a busy machine; with those of the ramp, ten.
    assert!((1..10).contains(&windows), "{series}");
    assert_eq!(series["read"]["bytes"].as_array().unwrap().len() as u64, windows, "{series}");
}

#[test]
fn a_file_that_another_job_removed_is_unknown_in_words() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    // The second still writes when the first has ended and removed the file.
    let second = format!("--name=k --filename={} --rw=write --bs=4k", place.path("f"));
    let line =
        format!("--rw=write --bs=4k --size=64k --unlink=1 {second} --size=64k --rate_iops=8");
    let reported = place.ledger("f", &line);
    let left = &reported["jobs"][1]["writes"]["dirty_at_end_bytes"];
    assert_eq!(left["unknown"], "the file was removed during the run", "{}", reported["jobs"][1]);
}

#[test]
fn a_depth_that_buffered_io_cannot_reach_is_reported() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let line = "--rw=randread --bs=4k --size=32m --ioengine=libaio --iodepth=32";
    let reported = place.ledger("f", line);
    let depth = &reported["jobs"][0]["depth"];
    assert_eq!(depth["requested"], 32);
    assert!(depth["observed_by_job"].as_f64().unwrap() > 16.0, "the job itself held them: {depth}");
    assert!(depth["observed_at_device"].as_f64().unwrap() < 3.0, "{depth}");
    assert!(finds(&reported, "depth-not-reached").unwrap().starts_with("queue depth 32 requested"));
}

#[test]
fn each_fsync_reaches_the_device_as_a_flush() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let reported = place.ledger("f", "--rw=write --bs=4k --size=256k --fsync=1");
    let flushes = reported["devices"][0]["counters"]["flushes"].as_u64().unwrap();
    assert_eq!(reported["jobs"][0]["syncs"]["requested"], 64);
    // A commit of the journal may need a second flush.
    assert!((64..=64 * 3).contains(&flushes), "{}", reported["devices"][0]);
    assert_eq!(finds(&reported, "lost-flushes"), None);
}

/// A loop device keeps its setting when it is attached to another file.
struct WriteThrough(String);

impl WriteThrough {
    fn set(device: &LoopDevice) -> WriteThrough {
        let setting = format!("/sys/block/{}/queue/write_cache", device.name());
        std::fs::write(&setting, "write through").unwrap();
        WriteThrough(setting)
    }
}

impl Drop for WriteThrough {
    fn drop(&mut self) {
        std::fs::write(&self.0, "write back").unwrap();
    }
}

#[test]
fn flushes_that_do_not_reach_the_file_below_a_loop_device_are_reported() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let line = "--rw=write --bs=4k --size=256k --fsync=1";
    assert_eq!(finds(&place.ledger("f", line), "write-cache-not-flushed"), None);
    let setting = WriteThrough::set(&place.device);
    let reported = place.ledger("f", line);
    drop(setting);
    assert_eq!(reported["devices"][0]["backing_direct"], false, "{}", reported["devices"]);
    let found = finds(&reported, "write-cache-not-flushed").unwrap();
    assert!(found.contains("no flush reaches its backing file"), "{found}");
}

#[test]
fn bytes_that_compression_saves_are_not_called_cached() {
    let Some(place) = TestFileSystem::of("btrfs") else { return };
    let on = place.mounted.0.to_str().unwrap();
    or_skip(run("mount", &["-o", "remount,compress-force=zstd", on]));
    let write = "--rw=write --bs=128k --size=16m --buffer_compress_percentage=50 --end_fsync=1";
    place.ledger("f", &format!("{write} --fallocate=none"));
    let read = place.ledger("f", "--rw=read --bs=128k --size=16m --invalidate=1");
    assert!(share(&read, "device_bytes") < 0.95, "it was compressed: {}", read["reads"]);
    // Nothing of it was in memory before, and so it all came from the device, or nobody can tell.
    let cached = &read["reads"]["cache_bytes"];
    let is_told =
        cached == 0 || cached["unknown"].as_str().is_some_and(|why| why.contains("compressed"));
    assert!(is_told, "{}", read["reads"]);
    assert_eq!(finds(&read, "page-cache-reads"), None);
}

#[test]
fn bytes_read_ahead_do_not_hide_reads_from_the_page_cache() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    // Written out, dropped, and half of it is read.
    place.ledger("f", "--rw=write --bs=64k --size=64m --end_fsync=1");
    place.ledger("f", "--rw=read --bs=4k --size=64m --number_ios=1 --direct=1");
    let mut half = vec![0; 32 << 20];
    std::fs::File::open(place.path("f")).unwrap().read_exact(&mut half).unwrap();
    let read = "--rw=randread:8 --bs=4k --size=64m --invalidate=0 --fadvise_hint=0";
    let reported = place.ledger("f", &format!("{read} --io_size=16m"));
    // Some of the pages may have been evicted meanwhile.
    let shares = ["cache_bytes", "device_bytes"].map(|of| share(&reported, of));
    assert!(shares.iter().all(|&share| share > 0.25), "{}", reported["reads"]);
    assert!(finds(&reported, "page-cache-reads").is_some());
    let each = &reported["reads"]["requests_per_read"];
    assert!(each.as_f64().is_none_or(|each| each < 0.9), "{each}");
}

#[test]
fn a_second_writer_on_the_device_is_reported() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let quiet = place.ledger("f", "--rw=randread --bs=64k --size=32m --direct=1");
    assert_eq!(finds(&quiet, "other-traffic"), None, "{}", quiet["other_traffic"]);
    // It writes from before the job begins until after its end.
    let other = format!(
        "--name=other --filename={} --rw=write --bs=1m --size=64m --direct=1 --time_based --runtime=1d",
        place.path("other")
    );
    let mut writer = Running::start(Who::Native, &place.folder, &other);
    writer.wait_for_work("other");
    let line = "--rw=randread --bs=16k --size=32m --direct=1 --time_based --runtime=2 --rate=8m";
    let reported = place.ledger("f", line);
    writer.signal(Signal::INT);
    writer.end_within(PATIENCE);
    let found = finds(&reported, "other-traffic")
        .unwrap_or_else(|| panic!("{}", reported["other_traffic"]));
    assert!(found.contains("written by others"), "{found}");
    assert!(reported["other_traffic"]["written_bytes"].as_u64().unwrap() >= MIB);
    assert_eq!(share(&reported, "device_bytes"), 1.0, "ours is ours: {}", reported["reads"]);
}

#[test]
fn what_overlayfs_hides_is_seen_in_its_upper_directory() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let overlay = Overlay::in_folder(&place.mounted.0);
    let Some(over) = or_skip(overlay.mount("")) else { return };
    let file = over.0.join("f");
    let line = format!("--name=j --filename={} --rw=write --bs=1m --size=8m", file.display());
    let reported = ledger(&place.folder, &line);
    drop(over);
    assert_eq!(reported["writes"]["dirty_at_end_bytes"], 8 * MIB, "{}", reported["writes"]);
    assert!(finds(&reported, "not-durable").is_some());
    assert_eq!(reported["devices"][0]["kind"], "loop", "{}", reported["devices"]);
    assert_eq!(reported["unknown"], serde_json::json!([]));
}

#[test]
fn a_raw_device_is_not_the_memory_that_its_name_lies_on() {
    let folder = Folder::new("ledger-raw");
    let image = folder.image("image", 16 * MIB);
    let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let line = format!(
        "--name=j --filename={} --rw=write --bs=128k --size=8m --end_fsync=1",
        device.text()
    );
    let reported = ledger(&folder, &line);
    assert_eq!(reported["writes"]["dirty_at_end_bytes"], 0, "{}", reported["writes"]);
    assert!(reported["writes"]["durable_bytes_per_s"].is_number(), "{}", reported["writes"]);
    assert_eq!(finds(&reported, "not-durable"), None);
    assert_eq!(finds(&reported, "memory-device"), None);
}

#[test]
fn a_loop_device_of_memory_is_no_medium() {
    let folder = Folder::within(std::path::Path::new("/dev/shm"), "ledger-shm");
    let image = folder.image("image", 16 * MIB);
    let Some(device) = or_skip(LoopDevice::attach(&image, &[])) else { return };
    let line =
        format!("--name=j --filename={} --rw=write --bs=128k --size=8m --direct=1", device.text());
    let reported = ledger(&folder, &line);
    assert!(finds(&reported, "memory-device").unwrap().contains("made of memory"), "{reported}");
}

#[test]
fn data_that_is_written_and_not_yet_on_the_device_is_no_hole() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let file = std::fs::File::create(place.path("f")).unwrap();
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 8 * MIB).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &vec![7; 8 << 20], 0).unwrap();
    let reported = place.ledger("f", "--rw=read --bs=128k --size=8m --invalidate=0");
    assert_eq!(finds(&reported, "holes-read"), None, "{}", reported["reads"]);
    assert_eq!(share(&reported, "cache_bytes"), 1.0, "{}", reported["reads"]);
}

#[test]
fn a_range_that_is_written_out_is_no_sync() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let line = "--rw=write --bs=4k --size=1m --sync_file_range=write:8";
    let reported = place.ledger("f", line);
    assert_eq!(reported["jobs"][0]["syncs"]["requested"], 0);
    assert_eq!(finds(&reported, "lost-flushes"), None);
    assert_eq!(finds(&reported, "cheap-fsync"), None);
}

#[test]
fn direct_reads_of_holes_that_writes_fill_are_not_called_cached() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    std::fs::File::create(place.path("f")).unwrap().set_len(16 * MIB).unwrap();
    let line = "--rw=randrw --bs=4k --size=16m --io_size=4m --direct=1 --fallocate=none";
    let reported = place.ledger("f", line);
    assert_eq!(finds(&reported, "not-direct"), None, "{}", reported["jobs"][0]["direct"]);
}

#[test]
fn what_a_recording_wrote_is_found_dirty() {
    let Some(place) = TestFileSystem::of("ext4") else { return };
    let file = place.path("made");
    let mut log = format!("fio version 2 iolog\n{file} add\n{file} open\n");
    for at in 0..64 {
        log.push_str(&format!("{file} write {} 131072\n", at * 131_072));
    }
    log.push_str(&format!("{file} close\n"));
    let log = place.folder.write("log", log);
    let line = format!("--name=j --read_iolog={log} --fallocate=none");
    let reported = ledger(&place.folder, &line);
    let writes = &reported["writes"];
    // A sync of others takes what it finds to the device: that is seen there, then.
    let dirty = writes["dirty_at_end_bytes"].as_f64().unwrap();
    let on_device = writes["device_bytes_per_byte"].as_f64().unwrap_or(0.0) * (8 * MIB) as f64;
    assert!(dirty <= (8 * MIB) as f64 && dirty + on_device >= (8 * MIB) as f64, "{writes}");
    assert_eq!(finds(&reported, "not-durable").is_some(), dirty >= (MIB / 8) as f64, "{writes}");
}

#[test]
fn fios_own_texts_are_without_a_ledger_unless_it_is_asked_for() {
    let folder = Folder::new("ledger-fio");
    let line = "--name=j --filename=f --rw=read --bs=64k --size=1m";
    let text = |more: &str| Who::AsFio.run(&folder, &words(&format!("{line} {more}"))).stdout;
    let without = text("");
    assert!(!without.contains("fingerprint"), "{without}");
    let with = text("--ledger");
    let (before, after) = with.split_once("\n\n  reads ").unwrap_or_else(|| panic!("{with}"));
    assert!(before.contains("Run status group 0"), "{with}");
    assert!(after.contains("fingerprint"), "{with}");
    let json = |more: &str| {
        Who::AsFio.run(&folder, &words(&format!("{line} --output-format=json {more}"))).json()
    };
    assert!(json("").get("iosonde").is_none());
    assert!(json("--ledger")["iosonde"]["ledger"]["reads"]["completed_bytes"] == MIB);
    let native = Who::Native.run(&folder, &words(&format!("{line} --ledger=no"))).stdout;
    assert!(!native.contains("fingerprint"), "{native}");
}

#[test]
fn misleading_figures_change_the_exit_code_only_where_that_is_asked_for() {
    let folder = Folder::new("ledger-strict");
    let line = "--name=j --filename=f --rw=write --bs=1m --size=8m";
    let code = |more: &str| Who::Native.run(&folder, &words(&format!("{line} {more}"))).code;
    assert_eq!(code(""), Some(0));
    assert_eq!(code("--strict --bs=4KiB --size=40k --rw=read"), Some(3));
    assert_eq!(code("--strict --rw=read --ioengine=nothing"), Some(1), "refused all the same");
    let null = "--name=j --ioengine=null --rw=read --bs=4k --size=1m --strict";
    assert_eq!(Who::Native.run(&folder, &words(null)).code, Some(0));
}

#[test]
fn a_clean_run_says_so_in_one_line() {
    let folder = Folder::new("ledger-clean");
    let line = "--name=j --ioengine=null --rw=read --bs=4k --size=1m";
    let reported = Who::Native.run(&folder, &words(line)).stdout;
    let verdict: Vec<&str> = reported.lines().filter(|line| line.contains("verdict")).collect();
    assert_eq!(verdict.len(), 1, "{reported}");
    assert!(verdict[0].contains("clean"), "{reported}");
}

#[test]
fn a_job_that_did_nothing_gets_no_verdict() {
    let folder = Folder::new("ledger-nothing");
    std::fs::create_dir(folder.join("f")).unwrap();
    let reported = Who::Native.run(&folder, &words("--name=j --filename=f --rw=write --size=1m"));
    assert_ne!(reported.code, Some(0));
    assert!(!reported.stdout.contains("clean"), "{reported:?}");
}

#[test]
fn each_rule_is_explained_by_its_name() {
    let folder = Folder::new("ledger-explain");
    for rule in iosonde_witness::rules() {
        let reported = Who::Native.run(&folder, &["explain", rule.id]);
        assert_eq!(reported.code, Some(0));
        assert!(reported.stdout.contains(rule.remedy), "{reported:?}");
    }
    let none = Who::Native.run(&folder, &["explain", "no-such-rule"]);
    assert_eq!(none.code, Some(1), "{none:?}");
    let near = Who::Native.run(&folder, &["explain", "not-durabel"]);
    assert!(near.stderr.contains("did you mean not-durable?"), "{near:?}");
}

#[test]
fn many_files_are_looked_at_in_part_and_that_is_said() {
    let folder = Folder::new("ledger-many");
    let line = "--name=j --directory=. --nrfiles=100 --rw=read --bs=4k --size=400k";
    let reported = ledger(&folder, line);
    let files = &reported["jobs"][0]["files"];
    assert_eq!(files["files"], 100);
    assert_eq!(files["inspected"], 32);
    let many = "--name=j --directory=. --numjobs=40 --rw=write --bs=4k --size=16k --thread";
    let reported = ledger(&folder, many);
    let looked_at: u64 = reported["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["files"]["inspected"].as_u64().unwrap())
        .sum();
    assert_eq!(looked_at, 40);
}
