//! The ledger as JSON: `iosonde.ledger`.
//!
//! A value that is not known is an object with one key, `unknown`, and the
//! reason; what does not apply is `null`.

use crate::finding::Finding;
use crate::ledger::*;
use serde_json::{Value, json};

/// The ledger as a value.
pub(super) fn value(ledger: &Ledger) -> Value {
    json!({
        "reads": ledger.reads.as_ref().map(reads),
        "verify_reads": ledger.verify_reads.as_ref().map(reads),
        "writes": ledger.writes.as_ref().map(writes),
        "jobs": ledger.jobs.iter().map(job).collect::<Value>(),
        "span_bytes": {"buffered": ledger.span_bytes[0], "direct": ledger.span_bytes[1]},
        "devices": ledger.devices.iter().map(device).collect::<Value>(),
        "other_traffic": {
            "read_bytes": known(&ledger.other_traffic.read_bytes),
            "written_bytes": known(&ledger.other_traffic.written_bytes),
            "share": known(&ledger.other_traffic.share),
        },
        "phases": ledger.phases.iter()
            .map(|phase| json!({"name": phase.name, "ns": phase.duration_ns}))
            .collect::<Value>(),
        "machine": machine(&ledger.machine),
        "environment": environment(&ledger.environment),
        "tool": {
            "clock_read_ns": known(&ledger.tool.clock_read_ns),
            "counter_read_ns": ledger.tool.counter_read_ns,
        },
        "verdict": ledger.verdict.iter().map(finding).collect::<Value>(),
        "unknown": ledger.unknown_statements(),
    })
}

pub(super) fn known<T: Clone + Into<Value>>(value: &Observed<T>) -> Value {
    match value {
        Observed::Is(value) => value.clone().into(),
        Observed::Unknown(why) => json!({"unknown": why}),
    }
}

pub(super) fn reads(reads: &Reads) -> Value {
    json!({
        "completed_bytes": reads.completed_bytes,
        "device_bytes": known(&reads.device_bytes),
        "cache_bytes": known(&reads.cache_bytes),
        "hole_bytes": known(&reads.hole_bytes),
        "holes_estimated": reads.holes_estimated,
        "readahead_bytes": known(&reads.readahead_bytes),
        "requests_per_read": known(&reads.requests_per_read),
        "device_bytes_per_byte": known(&reads.device_bytes_per_byte()),
        "cached_at_start_bytes": known(&reads.cached_at_start_bytes),
        "cache_share": reads.cache_share(),
        "hole_share": reads.hole_share(),
    })
}

pub(super) fn writes(writes: &Writes) -> Value {
    json!({
        "completed_bytes": writes.completed_bytes,
        "dirty_at_end_bytes": known(&writes.dirty_at_end_bytes),
        "dirty_at_end_share": writes.dirty_at_end_share(),
        "reported_bytes_per_s": writes.reported_bytes_per_s,
        "durable_bytes_per_s": known(&writes.durable_bytes_per_s),
        "until_durable_ns": known(&writes.until_durable_ns),
        "durable_estimated": writes.durable_estimated,
        "in_volatile_cache": known(&writes.in_volatile_cache),
        "first_write_share": known(&writes.first_write_share),
        "device_bytes_per_byte": known(&writes.device_bytes_per_byte),
    })
}

fn job(job: &JobLedger) -> Value {
    let LedgerOptions { engine, block_bytes, random, paced, sync, seed, .. } = &job.options;
    json!({
        "jobname": job.name,
        "number": job.number,
        "runtime_ns": job.runtime_ns,
        "reads": job.reads.as_ref().map(reads),
        "verify_reads": job.verify_reads.as_ref().map(reads),
        "writes": job.writes.as_ref().map(writes),
        "direct": {
            "requested": job.direct.requested,
            "honoured": known(&job.direct.honoured),
            "reason": job.direct.reason,
        },
        "depth": {
            "requested": job.depth.requested,
            "requested_by_all": job.depth.requested_by_all,
            "observed_by_job": known(&job.depth.observed_by_job),
            "observed_at_device": known(&job.depth.observed_at_device),
        },
        "options": {
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
            "inspected": job.files.inspected,
            "range_bytes": job.files.range_bytes,
            "filesystems": job.files.filesystems,
            "devices": job.files.devices,
            "unallocated_share": known(&job.files.unallocated_share),
        },
        "syncs": {"requested": job.syncs.requested, "p50_ns": job.syncs.p50_ns},
        "cpu": {
            "user_ns_per_io": job.cpu.user_ns_per_io,
            "system_ns_per_io": job.cpu.system_ns_per_io,
            "busy_share": job.cpu.busy_share,
            "waited_share": known(&job.cpu.waited_share),
            "iops": job.cpu.iops,
            "upper_bound_iops": known(&job.cpu.upper_bound_iops),
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
        backing_direct,
    } = &device.facts;
    json!({
        "name": device.name,
        "kind": device.kind,
        "level": device.level,
        "in_memory": device.in_memory,
        "dirty_below_bytes": device.dirty_below_bytes.as_ref().map(known),
        "entered_below_bytes": device.entered_below_bytes.as_ref().map(known),
        "counters": known(&device.used.map(used)),
        "model": model,
        "firmware": firmware,
        "scheduler": scheduler,
        "rotational": rotational,
        "read_ahead_bytes": read_ahead_bytes,
        "write_cache": write_cache,
        "fua": fua,
        "writeback_throttle_us": writeback_throttle_us,
        "request_bytes_max": request_bytes_max,
        "backing_direct": backing_direct,
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

fn machine(machine: &MachineLedger) -> Value {
    let [cpu, memory, io] = &machine.pressure;
    json!({
        "wall_ns": machine.wall_ns,
        "steal_share": known(&machine.steal_share),
        "pressure": {"cpu": known(cpu), "memory": known(memory), "io": known(io)},
        "throttled": known(&machine.throttled.map(|(periods, ns)| {
            json!({"periods": periods, "ns": ns})
        })),
        "stopped_ns": machine.stopped_ns,
    })
}

fn environment(environment: &Environment) -> Value {
    let filesystem = |facts: &FilesystemFacts| {
        json!({
            "type": facts.kind,
            "mount_point": facts.mount_point,
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
        "available_memory_bytes": environment.available_memory_bytes,
        "virtual_machine": environment.virtual_machine,
        "container": environment.container,
        "cgroup_cpus": environment.cgroup_cpus,
        "cgroup_memory_bytes": environment.cgroup_memory_bytes,
        "cgroup_io": environment.cgroup_io,
        "pages_out": environment.pages_out,
        "filesystems": environment.filesystems.iter().map(filesystem).collect::<Value>(),
        "fingerprint": environment.fingerprint,
    })
}

/// A finding, with the section of the documentation on its rule.
fn finding(finding: &Finding) -> Value {
    let mut value = finding.value();
    value["page"] = format!("docs/verdict.md#{}", finding.id).into();
    value
}
