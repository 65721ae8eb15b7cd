//! `iosonde.ledger` read back: the reverse of the report's `ledger_json`.

use crate::member::*;
use iosonde_report::JobPhase;
use iosonde_report::finding::{Finding, Severity};
use iosonde_report::ledger::*;
use serde_json::Value;

/// The ledger of a document.
pub(crate) fn read(value: &Value) -> Ledger {
    let other = &value["other_traffic"];
    Ledger {
        jobs: list(value, "jobs").iter().map(job).collect(),
        reads: reads(&value["reads"]),
        verify_reads: reads(&value["verify_reads"]),
        writes: writes(&value["writes"]),
        span_bytes: ["buffered", "direct"].map(|kind| count(&value["span_bytes"], kind)),
        devices: list(value, "devices").iter().map(device).collect(),
        other_traffic: OtherTraffic {
            read_bytes: observed_count(other, "read_bytes"),
            written_bytes: observed_count(other, "written_bytes"),
            share: observed_number(other, "share"),
        },
        phases: phases(value),
        machine: machine(&value["machine"]),
        environment: environment(&value["environment"]),
        tool: Tool {
            clock_read_ns: observed_number(&value["tool"], "clock_read_ns"),
            counter_read_ns: count(&value["tool"], "counter_read_ns"),
        },
        verdict: list(value, "verdict").iter().map(finding).collect(),
        ..Ledger::default()
    }
}

/// Phases of a job, or of the run.
pub(crate) fn phases(of: &Value) -> Vec<JobPhase> {
    let phase =
        |phase: &Value| JobPhase { name: text(phase, "name"), duration_ns: count(phase, "ns") };
    list(of, "phases").iter().map(phase).collect()
}

pub(crate) fn reads(value: &Value) -> Option<Reads> {
    value.is_object().then(|| Reads {
        completed_bytes: count(value, "completed_bytes"),
        device_bytes: observed_count(value, "device_bytes"),
        cache_bytes: observed_count(value, "cache_bytes"),
        hole_bytes: observed_count(value, "hole_bytes"),
        holes_estimated: flag(value, "holes_estimated"),
        readahead_bytes: observed_count(value, "readahead_bytes"),
        requests_per_read: observed_number(value, "requests_per_read"),
        cached_at_start_bytes: observed_count(value, "cached_at_start_bytes"),
    })
}

pub(crate) fn writes(value: &Value) -> Option<Writes> {
    value.is_object().then(|| Writes {
        completed_bytes: count(value, "completed_bytes"),
        dirty_at_end_bytes: observed_count(value, "dirty_at_end_bytes"),
        reported_bytes_per_s: number(value, "reported_bytes_per_s"),
        durable_bytes_per_s: observed_number(value, "durable_bytes_per_s"),
        until_durable_ns: observed_count(value, "until_durable_ns"),
        durable_estimated: flag(value, "durable_estimated"),
        in_volatile_cache: observed(value, "in_volatile_cache", Value::as_bool),
        first_write_share: observed_number(value, "first_write_share"),
        device_bytes_per_byte: observed_number(value, "device_bytes_per_byte"),
    })
}

fn job(job: &Value) -> JobLedger {
    let (direct, depth, files) = (&job["direct"], &job["depth"], &job["files"]);
    let cpu = &job["cpu"];
    JobLedger {
        name: text(job, "jobname"),
        number: count(job, "number") as u32,
        runtime_ns: count(job, "runtime_ns"),
        reads: reads(&job["reads"]),
        verify_reads: reads(&job["verify_reads"]),
        writes: writes(&job["writes"]),
        direct: DirectLedger {
            requested: flag(direct, "requested"),
            honoured: observed(direct, "honoured", Value::as_bool),
            reason: text(direct, "reason"),
        },
        depth: DepthLedger {
            requested: count(depth, "requested") as u32,
            requested_by_all: count(depth, "requested_by_all"),
            observed_by_job: observed_number(depth, "observed_by_job"),
            observed_at_device: observed_number(depth, "observed_at_device"),
        },
        options: options(&job["options"]),
        files: FilesLedger {
            files: count(files, "files"),
            inspected: count(files, "inspected"),
            range_bytes: count(files, "range_bytes"),
            filesystems: texts(files, "filesystems"),
            devices: texts(files, "devices"),
            unallocated_share: observed_number(files, "unallocated_share"),
            compressing: false,
        },
        syncs: SyncLedger {
            requested: count(&job["syncs"], "requested"),
            p50_ns: whole(&job["syncs"]["p50_ns"]),
        },
        latency: LatencySummary {
            // The document has the percentiles of each direction, not of all.
            ios: rounded(number(cpu, "iops") * count(job, "runtime_ns") as f64 / 1e9),
            ..LatencySummary::default()
        },
        cpu: CpuLedger {
            user_ns_per_io: number(cpu, "user_ns_per_io"),
            system_ns_per_io: number(cpu, "system_ns_per_io"),
            busy_share: number(cpu, "busy_share"),
            waited_share: observed_number(cpu, "waited_share"),
            iops: number(cpu, "iops"),
            upper_bound_iops: observed_number(cpu, "upper_bound_iops"),
        },
    }
}

fn options(options: &Value) -> LedgerOptions {
    LedgerOptions {
        engine: text(options, "engine"),
        block_bytes: (count(options, "block_bytes_min"), count(options, "block_bytes_max")),
        random: flag(options, "random"),
        paced: flag(options, "paced"),
        sync: flag(options, "sync"),
        seed: count(options, "seed"),
        ..LedgerOptions::default()
    }
}

fn device(device: &Value) -> DeviceLedger {
    DeviceLedger {
        name: text(device, "name"),
        kind: text(device, "kind"),
        level: count(device, "level") as u32,
        in_memory: flag(device, "in_memory"),
        dirty_below_bytes: (!device["dirty_below_bytes"].is_null())
            .then(|| observed_count(device, "dirty_below_bytes")),
        entered_below_bytes: device
            .get("entered_below_bytes")
            .filter(|value| !value.is_null())
            .map(|_| observed_count(device, "entered_below_bytes")),
        used: observed(device, "counters", used),
        facts: DeviceDescription {
            model: some_text(device, "model"),
            firmware: some_text(device, "firmware"),
            scheduler: some_text(device, "scheduler"),
            rotational: device["rotational"].as_bool(),
            read_ahead_bytes: whole(&device["read_ahead_bytes"]),
            write_cache: some_text(device, "write_cache"),
            fua: device["fua"].as_bool(),
            writeback_throttle_us: whole(&device["writeback_throttle_us"]),
            request_bytes_max: whole(&device["request_bytes_max"]),
            backing_direct: device["backing_direct"].as_bool(),
        },
    }
}

fn used(used: &Value) -> Option<DeviceUse> {
    used.get("read_ios")?;
    let pair = |name: &str| ["read", "write"].map(|way| count(used, &format!("{way}_{name}")));
    Some(DeviceUse {
        ios: pair("ios"),
        bytes: pair("bytes"),
        merges: pair("merges"),
        time_ns: pair("ns"),
        flushes: count(used, "flushes"),
        flush_ns: count(used, "flush_ns"),
        depth: number(used, "depth"),
        busy_share: number(used, "busy_share"),
    })
}

fn machine(machine: &Value) -> MachineLedger {
    let throttled = |value: &Value| Some((whole(&value["periods"])?, whole(&value["ns"])?));
    MachineLedger {
        wall_ns: count(machine, "wall_ns"),
        steal_share: observed_number(machine, "steal_share"),
        pressure: ["cpu", "memory", "io"].map(|of| observed_number(&machine["pressure"], of)),
        throttled: observed(machine, "throttled", throttled),
        stopped_ns: count(machine, "stopped_ns"),
    }
}

fn environment(value: &Value) -> Environment {
    let filesystem = |facts: &Value| FilesystemFacts {
        kind: text(facts, "type"),
        mount_point: text(facts, "mount_point"),
        source: text(facts, "source"),
        options: text(facts, "options"),
        bytes: count(facts, "bytes"),
        fill_share: observed_number(facts, "fill_share"),
    };
    Environment {
        tool: text(value, "tool"),
        kernel: text(value, "kernel"),
        cpu_model: some_text(value, "cpu_model"),
        cpus: count(value, "cpus") as u32,
        governor: some_text(value, "governor"),
        memory_bytes: count(value, "memory_bytes"),
        available_memory_bytes: whole(&value["available_memory_bytes"]),
        virtual_machine: some_text(value, "virtual_machine"),
        container: some_text(value, "container"),
        cgroup_cpus: value["cgroup_cpus"].as_f64(),
        cgroup_memory_bytes: whole(&value["cgroup_memory_bytes"]),
        cgroup_io: texts(value, "cgroup_io"),
        pages_out: some_text(value, "pages_out"),
        filesystems: list(value, "filesystems").iter().map(filesystem).collect(),
        fingerprint: text(value, "fingerprint"),
    }
}

fn finding(finding: &Value) -> Finding {
    Finding {
        id: text(finding, "id").into(),
        severity: match finding["severity"].as_str() {
            Some("wrong") => Severity::Wrong,
            Some("warning") => Severity::Warning,
            _ => Severity::Note,
        },
        jobs: texts(finding, "jobs"),
        statement: text(finding, "statement"),
        remedy: text(finding, "remedy").into(),
    }
}
