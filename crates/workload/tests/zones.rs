//! `zonemode=zbd` beside recordings of fio 3.42, and its rules on a device that is strict.

mod common;

use common::zoned::{ZONE, zoned_spec};
use iosonde_base::{Op, Planned, Ring, ZoneCondition, ZoneKind, ZoneReport};
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
