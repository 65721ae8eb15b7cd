//! The survey as text.

use super::hazards;
use super::survey::{PathSurvey, QueueSettings, Space};
use iosonde_base::text::{counted, percent_of};
use iosonde_command::format::{bytes, exact, findings, printable, wrapped};
use iosonde_direct::stack::LayerKind;
use iosonde_direct::{DeviceFacts, Discard, Fact, Known, PathKind, WriteCache, ZoneModel};

/// The report.
pub fn report(survey: &PathSurvey) -> String {
    let mut text = String::new();
    let facts = &survey.facts;
    let place = match facts.mount() {
        Some(mount) => format!(" on {}", mount.filesystem),
        None => String::new(),
    };
    wrapped(&mut text, "", &format!("{}: {}{place}", printable(&survey.path), kind(facts.kind)));
    text.push('\n');
    file_system(&mut text, survey);
    for (device, queue) in facts.devices.iter().zip(&survey.queues) {
        text.push('\n');
        one_device(&mut text, device, queue);
    }
    text.push('\n');
    trials(&mut text, survey);
    text.push('\n');
    machine(&mut text, survey);
    text.push('\n');
    add_hazards(&mut text, survey);
    text
}

fn kind(kind: PathKind) -> &'static str {
    match kind {
        PathKind::File => "a file",
        PathKind::BlockDevice => "a block device",
        PathKind::CharacterDevice => "a character device",
        PathKind::Folder => "a directory",
        PathKind::Other => "something else",
    }
}

/// A line that begins with a name.
fn line(text: &mut String, name: &str, words: &str) {
    wrapped(text, &format!("  {name:<16} "), words);
}

fn fact<T: Clone>(fact: &Fact<T>, show: impl Fn(T) -> String) -> String {
    match fact {
        Fact::Known(value) => show(value.clone()),
        Fact::Unknown(_) => "unknown".to_owned(),
    }
}

fn yes_no(fact_: &Fact<bool>) -> String {
    fact(fact_, |yes| if yes { "yes" } else { "no" }.to_owned())
}

fn file_system(text: &mut String, survey: &PathSurvey) {
    if let Some(mount) = survey.facts.mount() {
        let (point, source) = (printable(&mount.point), mount.source.to_string_lossy());
        line(text, "file system", &format!("{} on {point}, from {source}", mount.filesystem));
        let mut options: Vec<&str> = mount.options.split(',').collect();
        options.extend(
            mount
                .super_options
                .split(',')
                .filter(|one| !one.is_empty() && !mount.options.split(',').any(|o| o == *one)),
        );
        line(text, "mounted", &options.join(", "));
    }
    match &survey.space {
        Some(Fact::Known(space)) => line(text, "space", &room(space)),
        Some(Fact::Unknown(why)) => line(text, "space", &format!("unknown: {why}")),
        None => {}
    }
    if let Some(file) = &survey.file {
        let length = survey.facts.bytes.get().unwrap_or(0);
        let cached = fact(&file.cached, |cached| {
            let cached = cached.cached_bytes();
            format!("{} cached ({})", bytes(cached), percent_of(cached, length))
        });
        let data = fact(&file.extents, |extents| {
            format!(
                "{} data, {} unwritten, {} holes",
                bytes(extents.data_bytes),
                bytes(extents.unwritten_bytes),
                bytes(extents.hole_bytes)
            )
        });
        line(text, "the file", &format!("{}, {cached}; {data}", bytes(length)));
        if let Some(why) = file.cached.why() {
            line(text, "", &format!("unknown: {why}"));
        }
    }
    match survey.trials.needs {
        Some(needs) if needs.possible => {
            let how = match needs.known {
                Known::Stated => "reported by the file system or driver".to_owned(),
                Known::Sector => "from the device's sector size".to_owned(),
                Known::Tried => "found by trying".to_owned(),
                Known::Guessed(why) => format!("a safe guess: {why}"),
            };
            let reads = match needs.read_offset_alignment {
                same if same == needs.offset_alignment => String::new(),
                other => format!(" (reads: {other})"),
            };
            line(
                text,
                "alignment",
                &format!(
                    "buffers {}, offsets and lengths {}{reads} bytes, {how}",
                    needs.memory_alignment, needs.offset_alignment
                ),
            );
        }
        Some(_) => line(text, "alignment", "none: there is no direct I/O here"),
        None => line(text, "alignment", "unknown: nothing was opened"),
    }
    if survey.facts.devices.is_empty() {
        line(text, "devices", "none: the storage is memory, a network or a program");
    }
}

fn room(space: &Space) -> String {
    let mut words = format!(
        "{} free of {} ({} full)",
        bytes(space.available_bytes),
        bytes(space.bytes),
        percent_of(space.used_bytes(), space.bytes)
    );
    if space.files > 0 {
        words += &format!(", {} of {} inodes free", space.files_free, space.files);
    }
    words
}

fn made_of(device: &DeviceFacts) -> String {
    match &device.kind {
        LayerKind::Disk => "a disk".to_owned(),
        LayerKind::Partition => "a partition".to_owned(),
        LayerKind::Mapped(Some(name)) => format!("device-mapper {name}"),
        LayerKind::Mapped(None) => "device-mapper".to_owned(),
        LayerKind::Raid => "a software RAID".to_owned(),
        LayerKind::Loop(file) => format!("a loop device of {}", printable(file)),
    }
}

fn one_device(text: &mut String, device: &DeviceFacts, queue: &QueueSettings) {
    let transport = device.transport.known().map_or(String::new(), |by| format!(", {by}"));
    line(
        text,
        &device.name,
        &format!("{}{transport}, {}", made_of(device), fact(&device.bytes, bytes)),
    );
    let used: Vec<String> = device
        .mounts
        .iter()
        .map(|point| format!("mounted on {}", printable(point)))
        .chain(device.holders.iter().map(|holder| format!("part of {holder}")))
        .chain(device.swap.then(|| "swap".to_owned()))
        .collect();
    if !used.is_empty() {
        line(text, "", &format!("in use: {}", used.join(", ")));
    }
    if !matches!(device.kind, LayerKind::Loop(_) | LayerKind::Mapped(_) | LayerKind::Raid) {
        identity(text, device);
    }
    limits_and_queue(text, device, queue);
}

/// Sectors, requests, scheduler and caches of a device.
fn limits_and_queue(text: &mut String, device: &DeviceFacts, queue: &QueueSettings) {
    let sectors = |known: &Fact<u32>| fact(known, |size| size.to_string());
    line(
        text,
        "",
        &format!(
            "sectors {}/{} bytes, requests up to {}, {} in its queue, discard {}",
            sectors(&device.logical_sector),
            sectors(&device.physical_sector),
            fact(&device.io_bytes_max, exact),
            fact(&device.requests_max, |count| count.to_string()),
            fact(&device.discard, |discard| if Discard::is_supported(discard) {
                "yes"
            } else {
                "no"
            }
            .to_owned()),
        ),
    );
    let others: Vec<&str> = queue.schedulers.iter().map(String::as_str).collect();
    let choice =
        if others.len() > 1 { format!(" (of {})", others.join(", ")) } else { String::new() };
    line(
        text,
        "",
        &format!(
            "scheduler {}{choice}, rotational {}, read-ahead {}, writeback throttling {}",
            fact(&device.scheduler, |name| name),
            yes_no(&device.rotational),
            fact(&queue.read_ahead_bytes, exact),
            fact(&queue.throttle_us, |us| match us {
                0 => "off".to_owned(),
                us => format!("at {} ms", us as f64 / 1000.0),
            }),
        ),
    );
    line(
        text,
        "",
        &format!(
            "write cache {}, FUA {}, zones {}, polled {}",
            fact(&device.write_cache, |cache| match cache {
                WriteCache::Back => "write back (flushes matter)".to_owned(),
                WriteCache::Through => "write through or none".to_owned(),
            }),
            yes_no(&device.fua),
            fact(&device.zones, |zones| match zones {
                ZoneModel::None => "none".to_owned(),
                ZoneModel::Aware(size) =>
                    format!("of {}, sequential writes preferred", exact(size)),
                ZoneModel::Managed(size) => format!("of {}, sequential writes only", exact(size)),
            }),
            yes_no(&device.polled),
        ),
    );
}

/// Vendor, model, serial, firmware; for unknown ones the reason, once each.
fn identity(text: &mut String, device: &DeviceFacts) {
    let fields = [
        ("vendor", &device.vendor),
        ("model", &device.model),
        ("serial", &device.serial),
        ("firmware", &device.firmware),
    ];
    let known: Vec<String> = fields
        .iter()
        .filter_map(|(name, fact)| fact.known().map(|value| format!("{name} {}", printable(value))))
        .collect();
    if !known.is_empty() {
        line(text, "", &known.join(", "));
    }
    let mut printed: Vec<&str> = Vec::new();
    for (_, field) in fields {
        let Some(why) = field.why().filter(|why| !printed.contains(why)) else { continue };
        printed.push(why);
        let same = fields.iter().filter(|(_, other)| other.why() == Some(why));
        let names: Vec<&str> = same.map(|(name, _)| *name).collect();
        line(text, "", &format!("{} unknown: {why}", names.join(", ")));
    }
}

fn trials(text: &mut String, survey: &PathSurvey) {
    wrapped(text, "", &format!("tried on {}", printable(&survey.trials.on)));
    for trial in &survey.trials.all {
        line(text, trial.name, &format!("{}: {}", trial.verdict, trial.detail));
    }
}

fn machine(text: &mut String, survey: &PathSurvey) {
    let machine = &survey.machine;
    text.push_str("this machine\n");
    line(text, "kernel", &iosonde_report::formats::system(&machine.kernel));
    let model = machine.cpu_model.as_deref().unwrap_or("unknown model");
    let governor = machine.governor.as_deref().unwrap_or("unknown (no cpufreq here)");
    line(text, "processors", &format!("{}, {model}, governor {governor}", machine.cpus));
    let available = machine.available_bytes.map_or("unknown".to_owned(), bytes);
    line(text, "memory", &format!("{}, {available} available", bytes(machine.memory_bytes)));
    let limits = &survey.limits;
    let mut words: Vec<String> = Vec::new();
    words.extend(limits.cpus.map(|cpus| format!("{cpus:.2} processors")));
    words.extend(limits.memory_bytes.map(|most| format!("{} of memory", bytes(most))));
    words.extend(limits.io.iter().cloned());
    let words = if words.is_empty() { "none found".to_owned() } else { words.join(", ") };
    line(text, "group limits", &words);
    let inside = match (&machine.virtual_machine, &machine.container) {
        (None, None) => "no virtual machine or container detected".to_owned(),
        (vm, container) => [("virtual machine", vm), ("container", container)]
            .iter()
            .filter_map(|(what, kind)| kind.as_ref().map(|kind| format!("{what} ({kind})")))
            .collect::<Vec<_>>()
            .join(", "),
    };
    line(text, "inside", &inside);
    let others = &survey.others;
    let busy: Vec<String> = others
        .requests
        .iter()
        .map(|(name, count)| format!("{name} {} requests", fact(count, |count| count.to_string())))
        .chain(others.cpu_percent.get().map(|(used, _)| format!("processors {used:.0} % busy")))
        .chain(others.io_wait_percent.get().map(|share| format!("I/O wait {share:.0} %")))
        .collect();
    let within = format!("{} (observed for {} ms)", busy.join(", "), others.observed.as_millis());
    line(text, "other load", &within);
}

fn add_hazards(text: &mut String, survey: &PathSurvey) {
    let all = hazards::all(survey);
    if all.is_empty() {
        text.push_str("no hazards found for a test here\n");
        return;
    }
    text.push_str(&format!("{} for a test here\n", counted(all.len() as u64, "hazard")));
    text.push_str(&findings(&all));
}
