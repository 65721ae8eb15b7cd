//! The survey as JSON; docs/tools.md describes the keys.

use super::hazards;
use super::survey::{PathSurvey, QueueSettings};
use iosonde_command::document::Members;
use iosonde_direct::stack::{Layer, LayerKind};
use iosonde_direct::{DeviceFacts, Known, PathKind, WriteCache, ZoneModel};
use serde_json::{Value, json};

/// Raised when a key changes its meaning or goes.
const SCHEMA: u32 = 1;

/// One object.
pub fn write(survey: &PathSurvey) -> String {
    let facts = &survey.facts;
    let devices = facts.devices.iter().zip(&survey.queues);
    let hazards = hazards::all(survey);
    let value = json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "probe",
        "schema": SCHEMA,
        "path": survey.path.to_string_lossy(),
        "resolved": facts.stack.path.to_string_lossy(),
        "kind": match facts.kind {
            PathKind::File => "file",
            PathKind::BlockDevice => "block device",
            PathKind::CharacterDevice => "character device",
            PathKind::Folder => "directory",
            PathKind::Other => "other",
        },
        "bytes": facts.bytes,
        "file_system": file_system(survey),
        "file": file(survey),
        "stack": facts.stack.devices.iter().map(layer).collect::<Vec<_>>(),
        "devices": devices.map(|(device, queue)| one_device(device, queue)).collect::<Vec<_>>(),
        "trials": trials(survey),
        "machine": machine(survey),
        "other_activity": others(survey),
        "hazards": hazards,
    });
    iosonde_command::document::text(&value)
}

fn file_system(survey: &PathSurvey) -> Value {
    let Some(mount) = survey.facts.mount() else { return Value::Null };
    let space = survey.space.as_ref().map(|space| {
        space.as_ref().map(|space| {
            json!({
                "bytes": space.bytes,
                "free_bytes": space.free_bytes,
                "available_bytes": space.available_bytes,
                "fill_percent": space.fill_percent(),
                "inodes": space.files,
                "inodes_free": space.files_free,
            })
        })
    });
    json!({
        "type": mount.filesystem,
        "mount_point": mount.point.to_string_lossy(),
        "source": mount.source.to_string_lossy(),
        "root": mount.root.to_string_lossy(),
        "options": mount.options.split(',').collect::<Vec<_>>(),
        "super_options": mount.super_options.split(',').collect::<Vec<_>>(),
        "memory_is_storage": hazards::is_memory(survey),
        "space": space,
    })
}

fn file(survey: &PathSurvey) -> Option<Value> {
    let file = survey.file.as_ref()?;
    Some(json!({
        "cached_bytes": file.cached.as_ref().map(|cached| cached.cached_bytes()),
        "unwritten_bytes": file.cached.as_ref().map(|cached| cached.unwritten_bytes()),
        "extents": file.extents.as_ref().map(|extents| json!({
            "data_bytes": extents.data_bytes,
            "unwritten_bytes": extents.unwritten_bytes,
            "hole_bytes": extents.hole_bytes,
            "encoded_bytes": extents.encoded_bytes,
        })),
        "attributes": file.attributes.as_ref().map(|attributes| json!({
            "compressed": attributes.compressed,
            "no_copy_on_write": attributes.no_copy,
            "journalled": attributes.journalled,
        })),
    }))
}

fn kind(kind: &LayerKind) -> &'static str {
    match kind {
        LayerKind::Disk => "disk",
        LayerKind::Partition => "partition",
        LayerKind::Mapped(_) => "device-mapper",
        LayerKind::Raid => "raid",
        LayerKind::Loop(_) => "loop",
    }
}

fn layer(layer: &Layer) -> Value {
    json!({
        "name": layer.name,
        "kind": kind(&layer.kind),
        "below": layer.below.iter().map(self::layer).collect::<Vec<_>>(),
    })
}

fn one_device(device: &DeviceFacts, queue: &QueueSettings) -> Value {
    let backing = match &device.kind {
        LayerKind::Loop(file) => Some(file.to_string_lossy().into_owned()),
        _ => None,
    };
    let mapped = match &device.kind {
        LayerKind::Mapped(name) => name.clone(),
        _ => None,
    };
    let mut value = json!({
        "name": device.name,
        "number": device.id.to_string(),
        "kind": kind(&device.kind),
        "mapped_name": mapped,
        "loop_file": backing,
        "loop_direct": device.loop_direct,
        "transport": device.transport,
        "vendor": device.vendor,
        "model": device.model,
        "serial": device.serial,
        "firmware": device.firmware,
        "world_wide_id": device.world_wide_id,
        "bytes": device.bytes,
        "logical_sector_bytes": device.logical_sector,
        "physical_sector_bytes": device.physical_sector,
        "io_bytes_min": device.io_bytes_min,
        "io_bytes_optimal": device.io_bytes_optimal,
        "io_bytes_max": device.io_bytes_max,
        "memory_alignment_bytes": device.memory_alignment,
        "alignment_offset_bytes": device.alignment_offset,
    });
    let queue = queue_json(device, queue);
    if let (Value::Object(value), Value::Object(queue)) = (&mut value, queue) {
        value.extend(queue);
    }
    value
}

/// How the system treats a device.
fn queue_json(device: &DeviceFacts, queue: &QueueSettings) -> Value {
    json!({
        "rotational": device.rotational,
        "scheduler": device.scheduler,
        "schedulers": queue.schedulers,
        "requests_max": device.requests_max,
        "read_ahead_bytes": queue.read_ahead_bytes,
        "writeback_throttle_us": queue.throttle_us,
        "counts_io": queue.counted,
        "no_merges": queue.no_merges,
        "write_cache": device.write_cache.as_ref().map(|cache| match cache {
            WriteCache::Back => "back",
            WriteCache::Through => "through",
        }),
        "fua": device.fua,
        "zones": device.zones.as_ref().map(|zones| match zones {
            ZoneModel::None => json!({ "model": "none" }),
            ZoneModel::Aware(size) => json!({ "model": "host-aware", "bytes": size }),
            ZoneModel::Managed(size) => json!({ "model": "host-managed", "bytes": size }),
        }),
        "discard": device.discard.as_ref().map(|discard| json!({
            "granularity_bytes": discard.granularity,
            "bytes_max": discard.bytes_max,
        })),
        "atomic_write": device.atomic_write.as_ref().map(|limits| json!({
            "bytes_min": limits.unit_min,
            "bytes_max": limits.unit_max,
        })),
        "polled": device.polled,
        "stable_writes": device.stable_writes,
        "read_only": device.read_only,
        "removable": device.removable,
        "mounts": device.mounts.iter().map(|point| point.to_string_lossy()).collect::<Vec<_>>(),
        "holders": device.holders,
        "swap": device.swap,
        "rebuilding": queue.rebuilding.as_deref().map(str::trim),
    })
}

fn trials(survey: &PathSurvey) -> Value {
    let trials = &survey.trials;
    let needs = trials.needs.map(|needs| {
        let (known, why) = match needs.known {
            Known::Stated => ("stated", None),
            Known::Sector => ("sector", None),
            Known::Tried => ("tried", None),
            Known::Guessed(why) => ("guessed", Some(why)),
        };
        json!({
            "direct_possible": needs.possible,
            "memory_bytes": needs.memory_alignment,
            "offset_bytes": needs.offset_alignment,
            "read_offset_bytes": needs.read_offset_alignment,
            "source": known,
            "reason": why,
        })
    });
    let mut value = json!({ "on": trials.on, "alignment": needs });
    for trial in &trials.all {
        value[trial.id] = json!({ "verdict": trial.verdict.to_string(), "detail": trial.detail });
    }
    value
}

fn machine(survey: &PathSurvey) -> Value {
    let (machine, limits) = (&survey.machine, &survey.limits);
    json!({
        "kernel": machine.kernel,
        "cpu_model": machine.cpu_model,
        "cpus": machine.cpus,
        "governor": machine.governor,
        "memory_bytes": machine.memory_bytes,
        "available_bytes": machine.available_bytes,
        "virtual_machine": machine.virtual_machine,
        "container": machine.container,
        "group_cpus": limits.cpus,
        "group_memory_bytes": limits.memory_bytes,
        "group_io": limits.io,
    })
}

fn others(survey: &PathSurvey) -> Value {
    let others = &survey.others;
    let requests = others.requests.iter().map(|(name, count)| (name.clone(), count));
    json!({
        "observed_ms": others.observed.as_millis() as u64,
        "requests": Members(requests.collect()),
        "cpu_percent": others.cpu_percent.as_ref().map(|&(used, _)| used),
        "steal_percent": others.cpu_percent.as_ref().map(|&(_, stolen)| stolen),
        "io_wait_percent": others.io_wait_percent,
    })
}
