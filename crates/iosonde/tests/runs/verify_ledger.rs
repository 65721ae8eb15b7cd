//! Where the reads came from that check what was written: the device, or the
//! page cache, which is a finding.

use crate::filesystems::FileSystem;
use crate::support::ledgers::finds;
use crate::support::{Who, words};
use serde_json::Value;

fn ledger(who: Who, system: &FileSystem, options: &str) -> Value {
    let line = format!(
        "--name=v --filename={} --size=1m --bs=4k --verify=crc32c --verify_state_save=0 --ledger \
         --output-format=json {options}",
        system.path("data").display()
    );
    who.run(&system.folder, &words(&line)).well().json()["iosonde"]["ledger"].clone()
}

fn share(ledger: &Value, of: &str) -> f64 {
    let reads = &ledger["verify_reads"];
    let bytes = |key: &str| reads[key].as_u64().unwrap_or_else(|| panic!("{key}: {ledger}"));
    bytes(of) as f64 / bytes("completed_bytes") as f64
}

#[test]
fn blocks_are_read_back_from_the_device_in_our_own_name() {
    let Some(system) = FileSystem::of("ext4", 64 << 20) else { return };
    for options in [
        "--rw=randwrite",
        "--rw=randwrite --invalidate=0",
        "--rw=write --ioengine=mmap --invalidate=0",
        "--rw=randwrite --direct=1 --ioengine=libaio --iodepth=8",
        "--rw=randwrite --loops=2",
    ] {
        let ledger = ledger(Who::Native, &system, options);
        assert!(share(&ledger, "device_bytes") >= 1.0, "{options}: {ledger}");
        assert_eq!(share(&ledger, "cache_bytes"), 0.0, "{options}: {ledger}");
        assert_eq!(finds(&ledger, "verify-from-cache"), None, "{options}");
    }
}

#[test]
fn what_the_page_cache_answers_is_a_finding() {
    // Memory is all there is.
    let Some(system) = FileSystem::tmpfs(16 << 20) else { return };
    for options in ["--rw=randwrite", "--rw=write --verify_backlog=16", "--rw=randwrite --loops=2"]
    {
        let ledger = ledger(Who::Native, &system, options);
        assert_eq!(share(&ledger, "cache_bytes"), 1.0, "{options}: {ledger}");
        let found = finds(&ledger, "verify-from-cache").unwrap();
        assert!(found.starts_with("100 % of the bytes that verify read back"), "{found}");
        assert_eq!(finds(&ledger, "page-cache-reads"), None, "{options}: one finding is enough");
    }
    // The job's own reads are another matter.
    let mixed = ledger(Who::Native, &system, "--rw=randrw");
    assert!(finds(&mixed, "verify-from-cache").is_some(), "{mixed}");
    assert!(finds(&mixed, "page-cache-reads").is_some(), "{mixed}");
}

#[test]
fn called_as_fio_what_is_dirty_is_read_from_memory_and_found() {
    let Some(system) = FileSystem::of("ext4", 64 << 20) else { return };
    // What is dirty stays, whatever else is evicted from memory meanwhile.
    let ledger = ledger(Who::AsFio, &system, "--rw=randwrite --invalidate=0");
    assert!(share(&ledger, "cache_bytes") > 0.0, "{ledger}");
    assert!(finds(&ledger, "verify-from-cache").is_some(), "{ledger}");
}
