//! A quick look as JSON.

use super::measure::{QuickFigures, QuickLook};
use super::text::conclusion;
use iosonde_command::format::printable;
use serde_json::{Value, json};

/// The look as one JSON object.
pub fn write(measured: &QuickLook) -> String {
    let finding = |(finding, tests): &(iosonde_report::finding::Finding, u32)| {
        let mut value = json!(finding);
        value["tests"] = (*tests).into();
        value
    };
    let files =
        measured.ledger.as_ref().and_then(|ledger| ledger.jobs.first()).map(|job| &job.files);
    let document = json!({
        "iosonde": format!("iosonde {}", env!("CARGO_PKG_VERSION")),
        "report": "quick",
        "schema": 1,
        "path": printable(&measured.path),
        "kind": measured.kind,
        "bytes": if measured.bytes > 0 { Value::from(measured.bytes) } else { Value::Null },
        "direct": measured.direct,
        "engine": measured.engine,
        "devices": files.map(|files| files.devices.clone()),
        "filesystems": files.map(|files| files.filesystems.clone()),
        "conclusion": conclusion(measured),
        "tests": measured.tests.iter().map(test).collect::<Value>(),
        "findings": measured.findings.all().iter().map(finding).collect::<Value>(),
        "stopped": measured.stopped,
    });
    format!("{document:#}\n")
}

fn test(one: &QuickFigures) -> Value {
    let ns = one.latency;
    json!({
        "name": one.test.name,
        "direction": one.test.dir.name(),
        "depth": one.test.depth,
        "durable": one.test.durable,
        "iops": one.iops,
        "bytes_per_s": one.bytes_per_s,
        "p50_ns": ns.map(|latency| latency.p50_ns),
        "p99_ns": ns.map(|latency| latency.p99_ns),
        "p99.9_ns": ns.map(|latency| latency.p999_ns),
    })
}
