//! The ledger as JSON: `iosonde.ledger`.
//!
//! A value that is not known is an object with one key, `unknown`, and the
//! reason; what does not apply is `null`.

use crate::ledger::*;
use serde_json::{Value, json};

/// The ledger as a value.
pub(super) fn value(ledger: &Ledger) -> Value {
    json!({
        "reads": ledger.reads.as_ref().map(reads),
        "writes": ledger.writes.as_ref().map(writes),
        "jobs": ledger.jobs.iter().map(job).collect::<Value>(),
        "span_bytes": {"buffered": ledger.span_bytes[0], "direct": ledger.span_bytes[1]},
        "devices": ledger.devices.iter().map(device).collect::<Value>(),
        "others": {
            "read_bytes": known(&ledger.others.read_bytes),
            "written_bytes": known(&ledger.others.written_bytes),
            "share": known(&ledger.others.share),
        },
        "phases": ledger.phases.iter()
            .map(|phase| json!({"name": phase.name, "ns": phase.duration_ns}))
            .collect::<Value>(),
        "meanwhile": meanwhile(&ledger.meanwhile),
        "environment": environment(&ledger.environment),
        "tool": {
            "clock_ns": known(&ledger.tool.clock_ns),
            "signals_ns": ledger.tool.signals_ns,
        },
        "rate": {"every_ns": ledger.rate.every_ns, "bytes": ledger.rate.bytes},
        "verdict": ledger.verdict.iter().map(finding).collect::<Value>(),
    })
}

fn known<T: Clone + Into<Value>>(value: &Observed<T>) -> Value {
    match value {
        Observed::Is(value) => value.clone().into(),
        Observed::Unknown(why) => json!({"unknown": why}),
    }
}

fn reads(reads: &Reads) -> Value {
    json!({
        "asked_bytes": reads.asked_bytes,
        "device_bytes": known(&reads.device_bytes),
        "cache_bytes": known(&reads.cache_bytes),
        "hole_bytes": known(&reads.hole_bytes),
        "holes_by_share": reads.holes_by_share,
        "ahead_bytes": known(&reads.ahead_bytes),
        "cached_before_bytes": known(&reads.cached_before_bytes),
        "cache_share": reads.cache_share(),
        "hole_share": reads.hole_share(),
    })
}

fn writes(writes: &Writes) -> Value {
    json!({
        "asked_bytes": writes.asked_bytes,
        "unwritten_bytes": known(&writes.unwritten_bytes),
        "unwritten_share": writes.unwritten_share(),
        "told_bytes_per_s": writes.told_bytes_per_s,
        "durable_bytes_per_s": known(&writes.durable_bytes_per_s),
        "until_durable_ns": known(&writes.until_durable_ns),
        "durable_by_part": writes.durable_by_part,
        "in_device_cache": known(&writes.in_device_cache),
    })
}

fn job(job: &JobLedger) -> Value {
    let JobOptions { engine, block_bytes, random, paced, sync, seed, .. } = &job.asked;
    json!({
        "jobname": job.name,
        "number": job.number,
        "runtime_ns": job.runtime_ns,
        "reads": job.reads.as_ref().map(reads),
        "writes": job.writes.as_ref().map(writes),
        "direct": {
            "asked": job.direct.asked,
            "got": known(&job.direct.got),
            "why": job.direct.why,
        },
        "depth": {
            "asked": job.depth.asked,
            "asked_together": job.depth.asked_together,
            "held": known(&job.depth.held),
            "device": known(&job.depth.device),
        },
        "asked": {
            "engine": engine,
            "block_bytes_min": block_bytes.0,
            "block_bytes_max": block_bytes.1,
            "random": random,
            "paced": paced,
            "sync": sync,
            "seed": seed,
        },
        "files": {
            "files": job.files.files,
            "looked_at": job.files.looked_at,
            "range_bytes": job.files.range_bytes,
            "filesystems": job.files.filesystems,
            "devices": job.files.devices,
            "empty_share": known(&job.files.empty_share),
        },
        "syncs": {"asked": job.syncs.asked, "p50_ns": job.syncs.p50_ns},
        "cpu": {
            "user_ns_per_io": job.cpu.user_ns_per_io,
            "system_ns_per_io": job.cpu.system_ns_per_io,
            "busy_share": job.cpu.busy_share,
            "iops": job.cpu.iops,
            "ceiling_iops": known(&job.cpu.ceiling_iops),
        },
    })
}

fn device(device: &DeviceLedger) -> Value {
    let DeviceDescription {
        model,
        firmware,
        scheduler,
        rotational,
        read_ahead_bytes,
        write_cache,
        fua,
        writeback_throttle_us,
        request_bytes_max,
    } = &device.facts;
    json!({
        "name": device.name,
        "kind": device.kind,
        "level": device.level,
        "used": known(&device.used.map(used)),
        "model": model,
        "firmware": firmware,
        "scheduler": scheduler,
        "rotational": rotational,
        "read_ahead_bytes": read_ahead_bytes,
        "write_cache": write_cache,
        "fua": fua,
        "writeback_throttle_us": writeback_throttle_us,
        "request_bytes_max": request_bytes_max,
    })
}

fn used(used: &DeviceUse) -> Value {
    let [read_request, write_request] = used.request_bytes();
    json!({
        "read_ios": used.ios[0],
        "write_ios": used.ios[1],
        "read_bytes": used.bytes[0],
        "write_bytes": used.bytes[1],
        "read_merges": used.merges[0],
        "write_merges": used.merges[1],
        "read_ns": used.time_ns[0],
        "write_ns": used.time_ns[1],
        "read_request_bytes": read_request,
        "write_request_bytes": write_request,
        "flushes": used.flushes,
        "flush_ns": used.flush_ns,
        "depth": used.depth,
        "busy_share": used.busy_share,
    })
}

fn meanwhile(meanwhile: &Meanwhile) -> Value {
    let [cpu, memory, io] = &meanwhile.pressure;
    json!({
        "wall_ns": meanwhile.wall_ns,
        "steal_share": known(&meanwhile.steal_share),
        "pressure": {"cpu": known(cpu), "memory": known(memory), "io": known(io)},
        "throttled": known(&meanwhile.throttled.map(|(periods, ns)| {
            json!({"periods": periods, "ns": ns})
        })),
    })
}

fn environment(environment: &Environment) -> Value {
    let filesystem = |facts: &FilesystemFacts| {
        json!({
            "type": facts.kind,
            "point": facts.point,
            "source": facts.source,
            "options": facts.options,
            "bytes": facts.bytes,
            "fill_share": known(&facts.fill_share),
        })
    };
    json!({
        "tool": environment.tool,
        "kernel": environment.kernel,
        "cpu_model": environment.cpu_model,
        "cpus": environment.cpus,
        "governor": environment.governor,
        "memory_bytes": environment.memory_bytes,
        "available_bytes": environment.available_bytes,
        "virtual_machine": environment.virtual_machine,
        "container": environment.container,
        "group_cpus": environment.group_cpus,
        "group_memory_bytes": environment.group_memory_bytes,
        "group_io": environment.group_io,
        "filesystems": environment.filesystems.iter().map(filesystem).collect::<Value>(),
        "fingerprint": environment.fingerprint,
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule,
        "severity": finding.severity.word(),
        "jobs": finding.jobs,
        "finding": finding.sentence,
        "remedy": finding.remedy,
        "page": format!("docs/verdict.md#{}", finding.rule),
    })
}
