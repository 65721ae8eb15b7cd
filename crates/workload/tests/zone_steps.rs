//! What a job does on zones of each kind, step by step: pointers, resets, writes that fail.

mod common;

use common::zoned::{ZONE, zoned_spec};
use iosonde_base::{Op, PerDir, Planned, Ring, ZoneCondition, ZoneKind, ZoneReport};
use iosonde_workload::zbd::*;
use iosonde_workload::*;

/// A zone of each kind: written in part, empty, full, read-only, conventional, empty, partly.
fn all_kinds() -> ZoneTable {
    let zone = |index: u64, written: u64, condition| {
        let empty = ZoneReport::empty(index * ZONE, ZONE, ZONE);
        ZoneReport { write_pointer: empty.start + written, condition, ..empty }
    };
    let reports = [
        zone(0, 4096, ZoneCondition::Closed),
        zone(1, 0, ZoneCondition::Empty),
        zone(2, ZONE, ZoneCondition::Full),
        zone(3, 8192, ZoneCondition::ReadOnly),
        ZoneReport {
            kind: ZoneKind::Conventional,
            condition: ZoneCondition::NotWritePointer,
            ..ZoneReport::empty(4 * ZONE, ZONE, ZONE)
        },
        zone(5, 0, ZoneCondition::Empty),
        zone(6, 512, ZoneCondition::Closed),
    ];
    ZoneTable::new(&reports, ZoneLimits::default()).unwrap()
}

fn arguments(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_range_of_writes_is_whole_zones_and_one_of_reads_begins_where_it_is_told() {
    let table = all_kinds();
    let reads = PerDir([true, false, false]);
    let range = |offset, bytes, bytes_before| Ok(RoundedRange { offset, bytes, bytes_before });
    let (end, inside) = (3 * ZONE, ZONE + 4096);
    for dirs in [PerDir([false, true, false]), PerDir([true, true, false])] {
        let rounded = |offset, bytes| round_range(&table, offset, bytes, dirs);
        assert_eq!(rounded(inside, end - inside), range(2 * ZONE, ZONE, None));
        assert_eq!(rounded(ZONE, 2 * ZONE + 512), range(ZONE, 2 * ZONE, Some(2 * ZONE + 512)));
        assert_eq!(rounded(inside, ZONE), Err(RangeError::LessThanAZone));
        assert_eq!(rounded(0, ZONE), range(0, ZONE, None));
    }
    let rounded = |offset, bytes| round_range(&table, offset, bytes, reads);
    assert_eq!(rounded(inside, end - inside), range(inside, end - inside, None));
    assert_eq!(rounded(inside, ZONE), range(inside, ZONE - 4096, Some(ZONE)));
    assert_eq!(rounded(4 * ZONE + 512, 1024), range(4 * ZONE + 512, 1024, None), "conventional");
}

#[test]
fn before_writes_that_are_verified_the_zones_that_hold_data_are_reset() {
    let line = "--rw=write --bs=4096 --verify=crc32c --size=7z";
    let resets = |line: &str| {
        let mut source = Source::new(zoned_spec(&arguments(line), all_kinds())).unwrap();
        let mut ring = Ring::default();
        let mut resets = Vec::new();
        loop {
            assert_eq!(source.refill(&mut ring), Refill::Planned);
            let entry = ring.pop().unwrap();
            if entry.op != Op::ZoneReset {
                return resets;
            }
            resets.push((entry.offset / ZONE, entry.len));
            source.zone_command_done(&entry);
        }
    };
    // The read-only one cannot be reset, and the empty ones need not be.
    assert_eq!(resets(line), [(0, 0), (2, 0), (6, 0)]);
    assert!(resets("--rw=read --bs=512 --size=7z").is_empty());
}

#[test]
fn a_job_that_ends_with_a_write_in_flight_holds_no_other_job_up() {
    let line = arguments("--rw=write --bs=4096 --size=7z");
    let spec = zoned_spec(&line, all_kinds());
    let share = spec.zbd.as_ref().unwrap().files[0].clone();
    let mut source = Source::new(spec).unwrap();
    let mut ring = Ring::default();
    assert_eq!(source.refill(&mut ring), Refill::Planned);
    let busy = || (0..7).filter(|&zone| share.lock().is_busy(zone)).count();
    assert_eq!(busy(), 1);
    drop(source);
    assert_eq!(busy(), 0);
    // The zones of one target are one; a copy is another, whatever it holds.
    assert_eq!(share, share.clone());
    assert_ne!(share, share.private_copy());
}

/// The places of a job's I/Os in one pass, as zone, byte in it, and length.
fn places(line: &str, op: Op) -> Vec<(u64, u64, u32)> {
    let mut source = Source::new(zoned_spec(&arguments(line), all_kinds())).unwrap();
    let (mut ring, mut found) = (Ring::default(), Vec::new());
    while source.refill(&mut ring) == Refill::Planned {
        while let Some(entry) = ring.pop() {
            if entry.op == op {
                found.push((entry.offset / ZONE, entry.offset % ZONE, entry.len));
            }
            if matches!(entry.op, Op::ZoneTrim | Op::ZoneReset) {
                source.zone_command_done(&entry);
            }
        }
    }
    found
}

#[test]
fn reads_in_order_pass_over_what_is_not_written_and_trims_go_to_data() {
    let found = places("--rw=read --bs=4096 --size=7z", Op::Read);
    let blocks = |zone, count: u64| (0..count).map(move |block| (zone, block * 4096, 4096));
    let wanted: Vec<_> = blocks(0, 1).chain(blocks(2, 16)).chain(blocks(4, 16)).collect();
    assert_eq!(found, wanted);
    let found = places("--rw=randtrim --bs=65536 --size=7z --norandommap=1", Op::ZoneTrim);
    let zones: std::collections::BTreeSet<u64> = found.iter().map(|&(zone, ..)| zone).collect();
    assert_eq!(zones.into_iter().collect::<Vec<_>>(), [0, 2, 6], "{found:?}");
}

/// A job on zones of all kinds, and the table that it shares with others.
fn job_on(table: ZoneTable, line: &str, recover: bool) -> (Source, ZoneShare) {
    let mut spec = zoned_spec(&arguments(line), table);
    let zbd = spec.zbd.as_mut().unwrap();
    zbd.recover = recover;
    let share = zbd.files[0].clone();
    (Source::new(spec).unwrap(), share)
}

/// Bytes written in a zone, whether a write is in flight, and whether it is open.
fn state(share: &ZoneShare, zone: usize) -> (u64, bool, bool) {
    let table = share.lock();
    (table.written(zone), table.is_busy(zone), table.is_open(zone))
}

fn next(source: &mut Source) -> Planned {
    let mut ring = Ring::default();
    assert_eq!(source.refill(&mut ring), Refill::Planned);
    let entry = ring.pop().unwrap();
    assert!(ring.pop().is_none(), "the next depends on how this one ends");
    entry
}

#[test]
fn a_write_that_failed_leaves_the_pointer_where_it_was() {
    let (mut source, share) = job_on(all_kinds(), "--rw=write --bs=4096 --size=7z", false);
    let write = next(&mut source);
    assert_eq!((write.op, write.offset, write.len), (Op::Write, 4096, 4096));
    assert_eq!(state(&share, 0), (4096, true, false));
    source.zone_write_ended(&write, false);
    assert_eq!(state(&share, 0), (4096, false, false));
    let again = next(&mut source);
    assert_eq!((again.op, again.offset), (Op::Write, 4096));
    source.zone_write_ended(&again, true);
    assert_eq!(share.lock().pointer(0), 8192);
    // One that has ended is not ended again by another to a conventional zone.
    source.zone_write_ended(&Planned { offset: 4 * ZONE, ..again }, true);
    assert_eq!(share.lock().pointer(4), 5 * ZONE);
}

#[test]
fn the_rest_of_a_write_that_failed_is_written_before_anything_else() {
    let table = ZoneTable::emulated(8 * ZONE, ZONE, ZONE, ZoneLimits { open_max: 1 }).unwrap();
    let (mut source, share) = job_on(table, "--rw=write --bs=32768", true);
    let first = next(&mut source);
    source.zone_write_ended(&first, true);
    let failed = next(&mut source);
    assert_eq!((failed.op, failed.offset, failed.len), (Op::Write, ZONE / 2, 32768));
    source.zone_write_ended(&failed, false);
    assert_eq!(state(&share, 0), (ZONE / 2, true, true), "its end is not known yet");
    let rest = next(&mut source);
    assert_eq!((rest.op, rest.offset, rest.len), (Op::ZoneRecover, ZONE, 32768));
    let zone = source.zone_of(&rest).unwrap();
    assert_eq!((zone.start, zone.bytes, zone.holds_data), (0, ZONE, true));
    source.zone_command_done(&rest);
    assert_eq!(state(&share, 0), (ZONE, false, false), "it is full");
    let further = next(&mut source);
    assert_eq!((further.op, further.offset), (Op::Write, ZONE));
}

#[test]
fn a_zone_that_is_not_full_after_a_recovery_stays_open() {
    let table = ZoneTable::emulated(8 * ZONE, ZONE, ZONE, ZoneLimits { open_max: 1 }).unwrap();
    let (mut source, share) = job_on(table, "--rw=write --bs=4096", true);
    let failed = next(&mut source);
    source.zone_write_ended(&failed, false);
    let rest = next(&mut source);
    assert_eq!((rest.op, rest.offset), (Op::ZoneRecover, 4096));
    source.zone_command_done(&rest);
    assert_eq!(state(&share, 0), (4096, false, true));
}

#[test]
fn resets_count_where_there_was_data_and_from_zero_after_the_ramp() {
    let (mut source, share) = job_on(all_kinds(), "--rw=write --bs=4096 --size=7z", false);
    let reset = |zone: u64| Planned {
        op: Op::ZoneReset,
        file: iosonde_base::FileId(0),
        offset: zone * ZONE,
        len: 0,
    };
    for (zone, so_far) in [(0, 1), (1, 1), (2, 2), (2, 2)] {
        source.zone_command_done(&reset(zone));
        assert_eq!(source.zone_resets(), so_far, "zone {zone}");
        assert_eq!(share.lock().written(zone as usize), 0);
    }
    source.clear_zone_resets();
    assert_eq!(source.zone_resets(), 0);
    source.zone_command_done(&reset(6));
    assert_eq!(source.zone_resets(), 1);
}

#[test]
fn writes_to_a_conventional_zone_end_where_a_sequential_one_begins() {
    let reports = [
        ZoneReport {
            kind: ZoneKind::Conventional,
            condition: ZoneCondition::NotWritePointer,
            ..ZoneReport::empty(0, ZONE, ZONE)
        },
        ZoneReport::empty(ZONE, ZONE, ZONE),
    ];
    let table = ZoneTable::new(&reports, ZoneLimits::default()).unwrap();
    let line = "--rw=randwrite --bs=24576 --size=2z --norandommap=1";
    let (mut source, _) = job_on(table, line, false);
    let mut lengths = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let mut ring = Ring::default();
        if source.refill(&mut ring) != Refill::Planned {
            break;
        }
        while let Some(entry) = ring.pop() {
            let (end, zone) = (entry.offset + u64::from(entry.len), entry.offset / ZONE);
            if entry.op != Op::Write {
                source.zone_command_done(&entry);
                continue;
            }
            assert!(entry.len > 0 && end <= (zone + 1) * ZONE, "{entry:?}");
            if zone == 0 {
                lengths.insert((entry.offset, entry.len));
            }
            source.zone_write_ended(&entry, true);
        }
    }
    assert!(!lengths.is_empty());
}
