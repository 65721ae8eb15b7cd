//! `zonemode=zbd` beside recordings of fio 3.42, and its rules on a device that is strict.

mod common;

use common::spec;
use iosonde_base::{Op, PerDir, Planned, Ring, ZoneCondition, ZoneKind, ZoneReport};
use iosonde_workload::zbd::*;
use iosonde_workload::*;
use proptest::prelude::*;
use serde_json::Value;

/// A device that knows its zones and takes nothing that a zoned device would refuse.
#[derive(Debug)]
struct StrictDevice {
    name: &'static str,
    zones: Vec<ZoneReport>,
    open_max: usize,
    log: Vec<String>,
}

impl StrictDevice {
    fn new(name: &'static str, zones: Vec<ZoneReport>, open_max: usize) -> StrictDevice {
        StrictDevice { name, zones, open_max, log: Vec::new() }
    }

    fn zone(&mut self, offset: u64) -> &mut ZoneReport {
        self.zones
            .iter_mut()
            .find(|zone| (zone.start..zone.start + zone.len).contains(&offset))
            .unwrap()
    }

    fn write(&mut self, offset: u64, len: u64) {
        let (open, most) = (self.zones.iter().filter(|zone| zone.is_open()).count(), self.open_max);
        let zone = self.zone(offset);
        if zone.kind == ZoneKind::Conventional {
            return;
        }
        assert_eq!(offset, zone.write_pointer, "a write that is not at the pointer");
        assert!(offset + len <= zone.start + zone.capacity, "a write past the capacity");
        assert!(zone.is_open() || most == 0 || open < most, "too many open zones");
        zone.write_pointer += len;
        zone.condition = match zone.write_pointer - zone.start {
            written if written == zone.capacity => ZoneCondition::Full,
            _ => ZoneCondition::ImplicitlyOpen,
        };
    }

    fn read(&mut self, offset: u64, len: u64) {
        let zone = *self.zone(offset);
        if zone.kind == ZoneKind::Sequential {
            assert!(offset + len <= zone.start + zone.written(), "a read past the pointer");
        }
    }

    fn command(&mut self, entry: &Planned, holds_data: bool) {
        let (word, offset) = (entry.op, entry.offset);
        let zone = self.zone(offset);
        assert_eq!(zone.start, offset, "a command inside a zone");
        let len = zone.len;
        let word = match word {
            Op::ZoneReset | Op::ZoneTrim => {
                (zone.write_pointer, zone.condition) = (zone.start, ZoneCondition::Empty);
                if !holds_data {
                    return;
                }
                "reset"
            }
            Op::ZoneFinish => {
                zone.condition = ZoneCondition::Full;
                "finish"
            }
            other => panic!("{other:?} is no command"),
        };
        self.log.push(format!("{} {word} {offset} {len}", self.name));
    }
}

/// The result of a job's run, beside the device's log.
struct ZoneRun {
    /// As `write_iolog` has it: no commands.
    ios: Vec<String>,
    resets: u64,
}

fn run(spec: SourceSpec, device: &mut StrictDevice, reads_beyond: bool) -> ZoneRun {
    let mut source = Source::new(spec).unwrap();
    let (mut ring, mut ios) = (Ring::default(), Vec::new());
    for _ in 0..100_000 {
        match source.refill(&mut ring) {
            Refill::Planned => {}
            Refill::PassDone => source.next_pass(),
            Refill::Done | Refill::Broken => return ZoneRun { ios, resets: source.zone_resets() },
        }
        while let Some(entry) = ring.pop() {
            let Planned { offset, len, op, .. } = entry;
            let io = |word: &str| format!("{} {word} {offset} {len}", device.name);
            match op {
                Op::Write => {
                    let line = io("write");
                    device.write(offset, len.into());
                    device.log.push(line.clone());
                    ios.push(line);
                    source.zone_write_ended(&entry, true);
                }
                Op::Read => {
                    let line = io("read");
                    if !reads_beyond {
                        device.read(offset, len.into());
                    }
                    device.log.push(line.clone());
                    ios.push(line);
                }
                // Of a conventional zone.
                Op::Trim => ios.push(io("trim")),
                command => {
                    if command == Op::ZoneTrim {
                        ios.push(io("trim"));
                    }
                    let holds_data = source.zone_of(&entry).unwrap().holds_data;
                    device.command(&entry, holds_data);
                    source.zone_command_done(&entry);
                }
            }
        }
    }
    panic!("the job does not end");
}

const ZONE: u64 = 65536;

/// The job of a recording: fio's arguments, and the zones that they are about.
fn zoned_spec(arguments: &[String], table: ZoneTable) -> SourceSpec {
    let zones = |text: &str| match text.strip_suffix('z') {
        Some(count) => (count.parse::<u64>().unwrap() * ZONE).to_string(),
        None => text.to_owned(),
    };
    let share = ZoneShare::new(table);
    let mut zbd = ZbdSpec {
        files: vec![share.clone()],
        read_beyond_wp: false,
        job_open_max: 0,
        write_remainder: false,
        skip: 0,
        reset: None,
        recover: false,
        imagined: false,
    };
    let (mut rule, mut plain) = (ResetRule { threshold: 0.0, frequency: 0.0 }, Vec::new());
    for argument in arguments {
        let (option, value) = argument.trim_start_matches("--").split_once('=').unwrap();
        match option {
            "zonemode" | "zonesize" | "zonecapacity" | "max_open_zones" | "verify_state_save" => {}
            "zoneskip" => zbd.skip = value.trim_end_matches('k').parse::<u64>().unwrap() << 10,
            "read_beyond_wp" => zbd.read_beyond_wp = true,
            "write_zone_remainder" => zbd.write_remainder = true,
            "zone_reset_threshold" => rule.threshold = value.parse().unwrap(),
            "zone_reset_frequency" => rule.frequency = value.parse().unwrap(),
            _ => plain.push(format!("--{option}={}", zones(value))),
        }
    }
    if !plain.iter().any(|argument| argument.starts_with("--size=")) {
        plain.push("--size=524288".to_owned());
    }
    zbd.reset = (rule.threshold > 0.0).then_some(rule);
    let mut spec = spec(&plain);
    if zbd.write_remainder {
        spec.map = MapMode::Off;
    }
    let directions = spec.directions;
    let dirs = PerDir([directions.read, directions.write, directions.trim]);
    let file = &mut spec.files[0];
    let rounded = round_range(&share.lock(), file.offset, file.size, dirs).unwrap();
    (file.offset, file.size) = (rounded.offset, rounded.bytes);
    spec.size_bytes = rounded.bytes;
    if !spec.io_size_given {
        spec.total_bytes = rounded.bytes;
    }
    spec.zbd = Some(zbd);
    spec
}

fn option(arguments: &[String], name: &str) -> Option<u64> {
    let prefix = format!("--{name}=");
    let value = arguments.iter().find_map(|argument| argument.strip_prefix(&prefix))?;
    let kilo = value.strip_suffix('k');
    Some(kilo.unwrap_or(value).parse::<u64>().unwrap() << if kilo.is_some() { 10 } else { 0 })
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn differences(found: Vec<Option<String>>) {
    let wrong: Vec<String> = found.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Where two runs part, in words.
fn compare(
    name: &str,
    ours: &[String],
    theirs: &[String],
    resets: (u64, &Value),
) -> Option<String> {
    let at = ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
    let same_resets = resets.1.as_u64().is_none_or(|theirs| theirs == resets.0);
    (at < ours.len().max(theirs.len()) || !same_resets).then(|| {
        format!(
            "{name}: {} of {}, at {at} {:?} for {:?}; {} resets for {}",
            ours.len(),
            theirs.len(),
            ours.get(at),
            theirs.get(at),
            resets.0,
            resets.1
        )
    })
}

fn without_reads(ios: Vec<String>) -> Vec<String> {
    ios.into_iter().filter(|io| !io.contains(" read ")).collect()
}

#[test]
fn emulated_zones_are_used_as_recorded() {
    let recorded: Value = serde_json::from_str(include_str!("../vectors/zbd.json")).unwrap();
    let jobs = recorded.as_object().unwrap();
    assert_eq!(jobs.len(), 16);
    differences(
        jobs.iter()
            .map(|(name, job)| {
                let arguments = strings(&job["arguments"]);
                let capacity = option(&arguments, "zonecapacity").unwrap_or(ZONE);
                let open_max = option(&arguments, "max_open_zones").unwrap_or(0) as usize;
                let limits = ZoneLimits { open_max };
                let table = ZoneTable::emulated(262_144, ZONE, capacity, limits).unwrap();
                let zones =
                    (0..4).map(|zone| ZoneReport::empty(zone * ZONE, ZONE, capacity)).collect();
                let mut device = StrictDevice::new("vec", zones, open_max);
                let beyond = name.contains("beyond");
                let ran = run(zoned_spec(&arguments, table), &mut device, beyond);
                let mut theirs = strings(&job["ios"]);
                if name.contains("verify") {
                    // Reads that verify are not the source's.
                    theirs = without_reads(theirs);
                }
                compare(name, &ran.ios, &theirs, (ran.resets, &job["zone_resets"]))
            })
            .collect(),
    );
}

fn reported(device: &Value) -> Vec<ZoneReport> {
    let number = |key: &str| device[key].as_u64().unwrap();
    let open: Vec<u64> = device["implicitly_open"]
        .as_array()
        .unwrap()
        .iter()
        .map(|zone| zone.as_u64().unwrap())
        .collect();
    (0..number("zones"))
        .map(|zone| {
            let start = zone * ZONE;
            if zone < number("conventional") {
                return ZoneReport {
                    kind: ZoneKind::Conventional,
                    condition: ZoneCondition::NotWritePointer,
                    ..ZoneReport::empty(start, ZONE, ZONE)
                };
            }
            let written = device["written"][zone.to_string()].as_u64().unwrap_or(0);
            let condition = match written {
                _ if open.contains(&zone) => ZoneCondition::ImplicitlyOpen,
                0 => ZoneCondition::Empty,
                full if full >= number("capacity") => ZoneCondition::Full,
                _ => ZoneCondition::Closed,
            };
            let empty = ZoneReport::empty(start, ZONE, number("capacity"));
            ZoneReport { write_pointer: start + written, condition, ..empty }
        })
        .collect()
}

#[test]
fn zones_of_a_device_are_written_reset_and_finished_as_recorded() {
    let recorded: Value =
        serde_json::from_str(include_str!("../vectors/zbd-hostmanaged.json")).unwrap();
    let jobs = recorded.as_object().unwrap();
    assert_eq!(jobs.len(), 17);
    differences(
        jobs.iter()
            .map(|(name, job)| {
                let arguments = strings(&job["arguments"]);
                let zones = reported(&job["device"]);
                let of_device = job["device"]["max_open"].as_u64().unwrap();
                let open_max = option(&arguments, "max_open_zones").unwrap_or(of_device) as usize;
                let table = ZoneTable::new(&zones, ZoneLimits { open_max }).unwrap();
                let mut device = StrictDevice::new("dev", zones, open_max);
                let ran = run(zoned_spec(&arguments, table), &mut device, false);
                let mut theirs = strings(&job["ios"]);
                if name.contains("verify") {
                    theirs = without_reads(theirs);
                }
                compare(name, &device.log, &theirs, (ran.resets, &job["zone_resets"]))
            })
            .collect(),
    );
}

proptest! {
    /// Whatever a job is, a strict device refuses nothing: it checks within [`StrictDevice`].
    #[test]
    fn a_strict_device_takes_every_io_of_every_job(
        word in prop::sample::select(vec!["write", "randwrite", "rw", "randrw", "randtrim"]),
        blocks in 1u64..5,
        capacity in 9u64..17,
        conventional in 0u64..3,
        written in prop::collection::vec(0u64..17, 8),
        open_max in 0usize..4,
        remainder in any::<bool>(),
        twice in any::<bool>(),
        threshold in any::<bool>(),
    ) {
        let capacity = capacity * 4096;
        let zones: Vec<ZoneReport> = (0..8).map(|zone| {
            let start = zone * ZONE;
            if zone < conventional {
                return ZoneReport {
                    kind: ZoneKind::Conventional,
                    condition: ZoneCondition::NotWritePointer,
                    ..ZoneReport::empty(start, ZONE, ZONE)
                };
            }
            let written = (written[zone as usize] * 4096).min(capacity);
            let condition = match written {
                0 => ZoneCondition::Empty,
                full if full == capacity => ZoneCondition::Full,
                _ => ZoneCondition::Closed,
            };
            ZoneReport { write_pointer: start + written, condition, ..ZoneReport::empty(start, ZONE, capacity) }
        }).collect();
        let bs = if word == "randtrim" { ZONE } else { blocks * 4096 };
        let io_size = if twice { 1_048_576 } else { 524_288 };
        let mut arguments = vec![format!("--rw={word}"), format!("--bs={bs}"), format!("--io_size={io_size}")];
        if remainder { arguments.push("--write_zone_remainder=1".into()); }
        if threshold {
            arguments.extend(["--zone_reset_threshold=0.5".into(), "--zone_reset_frequency=0.3".into()]);
        }
        let table = ZoneTable::new(&zones, ZoneLimits { open_max }).unwrap();
        let mut device = StrictDevice::new("dev", zones, open_max);
        let spec = zoned_spec(&arguments, table);
        let share = spec.zbd.as_ref().unwrap().files[0].clone();
        run(spec, &mut device, false);
        // What is known of the zones is what the device has.
        let table = share.lock();
        for (index, zone) in device.zones.iter().enumerate() {
            prop_assert_eq!(table.written(index), zone.written());
            prop_assert!(!table.is_busy(index));
        }
        prop_assert!(open_max == 0 || table.open_count() <= open_max);
    }
}

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
