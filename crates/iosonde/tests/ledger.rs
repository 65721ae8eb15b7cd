//! The ledger and the verdict on real file systems: where bytes went is told
//! as it was.

mod support;

use iosonde_testing::{Folder, Mounted, or_skip, run, skip, skip_part};
use std::process::Command;
use support::ledgers::{MIB, Place, finds, ledger, share};
use support::{Who, words};

#[test]
fn reads_that_memory_answers_are_told_as_such() {
    let Some(place) = Place::of("ext4") else { return };
    // Each block comes from the device once, and a hundred times out of memory.
    let line = "--rw=randread --bs=4k --size=1m --loops=200 --invalidate=1";
    let first = place.ledger("small", &format!("{line} --loops=1"));
    assert_eq!(share(&first, "device_bytes"), 1.0, "{first}");
    assert_eq!(finds(&first, "page-cache-reads"), None);
    let read = "--rw=randread --bs=4k --size=8m --norandommap --io_size=1g --invalidate=1";
    let often = place.ledger("often", read);
    assert!(share(&often, "cache_bytes") >= 0.99, "{}", often["reads"]);
    assert!(finds(&often, "page-cache-reads").unwrap().contains("from the page cache"));
    let again = place.ledger("often", "--rw=randread --bs=4k --size=8m --invalidate=0");
    assert_eq!(share(&again, "cache_bytes"), 1.0, "{}", again["reads"]);
    assert_eq!(again["reads"]["cached_at_start_bytes"], 8 * MIB);
}

#[test]
fn direct_reads_and_writes_of_ext4_and_xfs_are_all_of_the_device() {
    for kind in ["ext4", "xfs"] {
        let Some(place) = Place::of(kind) else { continue };
        for engine in ["psync", "libaio --iodepth=4", "io_uring --iodepth=4"] {
            let line = format!("--rw=randread --bs=16k --size=16m --direct=1 --ioengine={engine}");
            let read = place.ledger("f", &line);
            assert_eq!(share(&read, "device_bytes"), 1.0, "{kind} {engine}: {read}");
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
fn reads_of_helping_threads_are_the_runs_where_they_cannot_be_told_apart() {
    let Some(place) = Place::of("ext4") else { return };
    let line = "--rw=randread --bs=16k --size=8m --ioengine=posixaio --numjobs=2 --direct=1";
    let told = place.ledger("f", line);
    let of_job = &told["jobs"][0]["reads"]["device_bytes"];
    assert!(of_job["unknown"].as_str().unwrap().contains("while other jobs ran"), "{of_job}");
    assert_eq!(told["reads"]["completed_bytes"], 16 * MIB);
    assert!(share(&told, "device_bytes") >= 1.0, "{}", told["reads"]);
    assert_eq!(share(&told, "cache_bytes"), 0.0, "{}", told["reads"]);
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
    let told = ran.json()["iosonde"]["ledger"].clone();
    assert_eq!(told["jobs"][0]["direct"]["honoured"], false);
    assert!(finds(&told, "not-direct").unwrap().contains("tmpfs keeps its files in memory"));
    assert_eq!(share(&told, "cache_bytes"), 1.0);
    assert!(told["other_traffic"]["share"]["unknown"].is_string(), "no device, no number: {told}");
}

#[test]
fn what_is_written_to_memory_is_never_durable() {
    let folder = Folder::new("ledger-shm-write");
    let path = format!("/dev/shm/iosonde-ledger-write-{}", std::process::id());
    if std::fs::write(&path, []).is_err() {
        skip!("/dev/shm is not writable");
    }
    let told =
        ledger(&folder, &format!("--name=j --filename={path} --rw=write --size=1m --end_fsync=1"));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(told["writes"]["dirty_at_end_bytes"], MIB, "{}", told["writes"]);
    let durable = &told["writes"]["durable_bytes_per_s"]["unknown"];
    assert!(durable.as_str().unwrap().contains("made of memory"), "{durable}");
    assert!(finds(&told, "not-durable").unwrap().contains("made of memory"));
}

#[test]
fn large_blocks_have_a_ceiling_of_buffers_that_were_used_before() {
    let folder = Folder::new("ledger-ceiling");
    let line = "--name=j --filename=f --rw=write --bs=1m --size=8m --ioengine=libaio --iodepth=8";
    let told = ledger(&folder, line);
    let ceiling = told["jobs"][0]["cpu"]["upper_bound_iops"].as_f64().unwrap();
    // Each buffer is taken from the system and filled once, at some thousand a second.
    assert!(ceiling > 8000.0, "{}", told["jobs"][0]["cpu"]);
}

#[test]
fn btrfs_with_checksums_is_told_as_buffered_and_without_as_direct() {
    let Some(place) = Place::of("btrfs") else { return };
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
fn a_file_that_was_only_reserved_is_told_as_holes() {
    let Some(place) = Place::of("ext4") else { return };
    or_skip(run("fallocate", &["-l", "16m", &place.path("reserved")])).unwrap();
    std::fs::File::create(place.path("sparse")).unwrap().set_len(16 * MIB).unwrap();
    for name in ["reserved", "sparse"] {
        for direct in [0, 1] {
            let line = format!("--rw=randread --bs=4k --size=16m --direct={direct}");
            let told = place.ledger(name, &line);
            assert_eq!(share(&told, "hole_bytes"), 1.0, "{name} {direct}: {}", told["reads"]);
            assert_eq!(share(&told, "cache_bytes"), 0.0, "{name} {direct}: {}", told["reads"]);
            assert!(finds(&told, "holes-read").unwrap().starts_with("100 %"));
        }
    }
}

#[test]
fn a_buffered_write_is_told_as_not_durable_with_what_is_left() {
    let Some(place) = Place::of("ext4") else { return };
    let told = place.ledger("w", "--rw=write --bs=1m --size=256m");
    let writes = &told["writes"];
    assert_eq!(writes["completed_bytes"], 256 * MIB);
    // The kernel may have begun to write back; what is left is not all then.
    let left = writes["dirty_at_end_bytes"].as_u64().unwrap();
    assert!(left > 0 && left <= 256 * MIB, "{writes}");
    let device = &told["devices"][0]["counters"]["write_bytes"];
    let missing = 256 * MIB - left;
    assert!(device.as_u64().unwrap() + MIB >= missing, "{device}: {missing} left memory");
    assert!(finds(&told, "not-durable").is_some(), "{told}");
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
fn writes_that_were_overwritten_in_memory_are_told() {
    let Some(place) = Place::of("ext4") else { return };
    let line = "--rw=randwrite --bs=4k --size=4m --norandommap --io_size=64m --end_fsync=1";
    let told = place.ledger("often", line);
    let found = finds(&told, "overwritten-in-memory").unwrap_or_else(|| panic!("{told}"));
    assert!(found.contains("of 64 MiB written"), "{found}");
    let once = place.ledger("once", "--rw=write --bs=4k --size=16m --end_fsync=1");
    assert_eq!(finds(&once, "overwritten-in-memory"), None, "{once}");
    let left = place.ledger("left", "--rw=write --bs=4k --size=16m");
    assert_eq!(finds(&left, "overwritten-in-memory"), None, "it is not durable, no more: {left}");
}

#[test]
fn only_a_sync_after_the_last_write_makes_it_durable() {
    let Some(place) = Place::of("ext4") else { return };
    let in_cache = |line: &str| {
        let told = place.ledger("f", &format!("--rw=write --bs=4k --direct=1 {line}"));
        let found = finds(&told, "write-cache-not-flushed");
        assert_eq!(told["writes"]["in_volatile_cache"], found.is_some(), "{told}");
        found
    };
    assert_eq!(in_cache("--size=64k --fsync=8"), None);
    assert!(in_cache("--size=72k --fsync=8").unwrap().contains("no sync is known"));
    // The last of the writes may come back after the last sync.
    assert!(in_cache("--size=64k --fsync=1 --ioengine=libaio --iodepth=8").is_some());
}

#[test]
fn what_a_ramp_moved_is_no_part_of_how_the_rate_went() {
    let folder = Folder::new("ledger-ramp");
    let line = "--name=j --ioengine=null --rw=read --bs=4k --size=1g --time_based \
                --ramp_time=1 --runtime=1";
    let told = ledger(&folder, line);
    let samples = told["rate"]["bytes"].as_array().unwrap().len();
    assert!(samples <= 6, "five of 200 ms and perhaps one that was begun: {}", told["rate"]);
}

#[test]
fn a_file_that_another_job_removed_is_unknown_in_words() {
    let Some(place) = Place::of("ext4") else { return };
    // The second still writes when the first has ended and removed the file.
    let second = format!("--name=k --filename={} --rw=write --bs=4k", place.path("f"));
    let line =
        format!("--rw=write --bs=4k --size=64k --unlink=1 {second} --size=64k --rate_iops=40");
    let told = place.ledger("f", &line);
    let left = &told["jobs"][1]["writes"]["dirty_at_end_bytes"];
    assert_eq!(left["unknown"], "the file was removed during the run", "{}", told["jobs"][1]);
}

#[test]
fn a_depth_that_buffered_io_cannot_have_is_told() {
    let Some(place) = Place::of("ext4") else { return };
    let line = "--rw=randread --bs=4k --size=32m --ioengine=libaio --iodepth=32";
    let told = place.ledger("f", line);
    let depth = &told["jobs"][0]["depth"];
    assert_eq!(depth["requested"], 32);
    assert!(depth["observed_by_job"].as_f64().unwrap() > 16.0, "the job itself held them: {depth}");
    assert!(depth["observed_at_device"].as_f64().unwrap() < 3.0, "{depth}");
    assert!(finds(&told, "depth-not-reached").unwrap().starts_with("queue depth 32 requested"));
}

#[test]
fn each_fsync_reaches_the_device_as_a_flush() {
    let Some(place) = Place::of("ext4") else { return };
    let told = place.ledger("f", "--rw=write --bs=4k --size=256k --fsync=1");
    let flushes = told["devices"][0]["counters"]["flushes"].as_u64().unwrap();
    assert_eq!(told["jobs"][0]["syncs"]["requested"], 64);
    // A commit of the journal may need a second flush.
    assert!((64..=64 * 3).contains(&flushes), "{}", told["devices"][0]);
    assert_eq!(finds(&told, "lost-flushes"), None);
}

#[test]
fn a_second_writer_on_the_device_is_told() {
    let Some(place) = Place::of("ext4") else { return };
    let quiet = place.ledger("f", "--rw=randread --bs=64k --size=32m --direct=1");
    assert_eq!(finds(&quiet, "other-traffic"), None, "{}", quiet["other_traffic"]);
    let other = format!("of={}", place.path("other"));
    let mut writer = Command::new("dd")
        .args(["if=/dev/zero", &other, "bs=1M", "count=400", "oflag=direct"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let line = "--rw=randread --bs=16k --size=32m --direct=1 --time_based --runtime=2 --rate=8m";
    let told = place.ledger("f", line);
    let _ = writer.kill();
    writer.wait().unwrap();
    let found =
        finds(&told, "other-traffic").unwrap_or_else(|| panic!("{}", told["other_traffic"]));
    assert!(found.contains("written by others"), "{found}");
    assert!(told["other_traffic"]["written_bytes"].as_u64().unwrap() > 8 * MIB);
    assert_eq!(share(&told, "device_bytes"), 1.0, "ours is ours: {}", told["reads"]);
}

#[test]
fn what_overlayfs_hides_is_unknown_and_not_zero() {
    let Some(place) = Place::of("ext4") else { return };
    let folders = ["lower", "upper", "work", "over"].map(|name| {
        let path = place.path(name);
        std::fs::create_dir(&path).unwrap();
        path
    });
    let [lower, upper, work, over] = &folders;
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    if or_skip(run("mount", &["-t", "overlay", "-o", &options, "overlay", over])).is_none() {
        return;
    }
    let over = Mounted(over.into());
    let file = over.0.join("f");
    let line = format!("--name=j --filename={} --rw=write --bs=1m --size=8m", file.display());
    let told = ledger(&place.folder, &line);
    drop(over);
    let left = &told["writes"]["dirty_at_end_bytes"];
    assert!(left["unknown"].as_str().unwrap().contains("overlayfs"), "{left}");
    assert_eq!(finds(&told, "not-durable"), None, "what is unknown is not accused");
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
    let told = Who::Native.run(&folder, &words(line)).stdout;
    let verdict: Vec<&str> = told.lines().filter(|line| line.contains("verdict")).collect();
    assert_eq!(verdict.len(), 1, "{told}");
    assert!(verdict[0].contains("clean"), "{told}");
}

#[test]
fn a_job_that_did_nothing_gets_no_verdict() {
    let folder = Folder::new("ledger-nothing");
    std::fs::create_dir(folder.join("f")).unwrap();
    let told = Who::Native.run(&folder, &words("--name=j --filename=f --rw=write --size=1m"));
    assert_ne!(told.code, Some(0));
    assert!(!told.stdout.contains("clean"), "{told:?}");
}

#[test]
fn each_rule_is_explained_by_its_name() {
    let folder = Folder::new("ledger-explain");
    for rule in iosonde_witness::rules() {
        let told = Who::Native.run(&folder, &["explain", rule.id]);
        assert_eq!(told.code, Some(0));
        assert!(told.stdout.contains(rule.remedy), "{told:?}");
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
    let told = ledger(&folder, line);
    let files = &told["jobs"][0]["files"];
    assert_eq!(files["files"], 100);
    assert_eq!(files["inspected"], 32);
    let many = "--name=j --directory=. --numjobs=40 --rw=write --bs=4k --size=16k --thread";
    let told = ledger(&folder, many);
    let looked_at: u64 = told["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["files"]["inspected"].as_u64().unwrap())
        .sum();
    assert_eq!(looked_at, 40);
}
