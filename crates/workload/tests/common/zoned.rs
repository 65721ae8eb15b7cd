//! Jobs on zones, as fio's arguments say them.

use super::spec;
use iosonde_base::PerDir;
use iosonde_workload::zbd::*;
use iosonde_workload::*;

/// The bytes of a zone.
pub const ZONE: u64 = 65536;

/// The job of a recording: fio's arguments, and the zones that they are about.
pub fn zoned_spec(arguments: &[String], table: ZoneTable) -> SourceSpec {
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
