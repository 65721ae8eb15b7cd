//! A judged block as text and as JSON.

use super::compared::{Compared, DifferingBytes, ExpectedFrom, HeaderField};
use iosonde_base::text::counted;
use iosonde_command::format::{printable, wrapped};
use serde_json::{Value, json};
use std::path::Path;

/// Width of the first column.
const LEAD: usize = 18;

/// The page.
pub fn page(path: &Path, compared: &Compared) -> String {
    let found = &compared.found;
    let mut out =
        format!("{}: block of {} bytes at offset {}\n\n", printable(path), found.len, found.offset);
    add_header(&mut out, compared);
    if let Some(sum) = &compared.sum {
        let text = if sum.stored == sum.calculated {
            format!("{} {}: right", sum.block_type, sum.stored)
        } else {
            format!(
                "{} {} stored, {} calculated: wrong",
                sum.block_type, sum.stored, sum.calculated
            )
        };
        row(&mut out, "content", &text);
    }
    if let Some(differing) = &compared.differing {
        add_differing(&mut out, found.offset, differing);
    }
    row(&mut out, "should hold", &should_hold(compared));
    let diagnosis = compared.diagnosis.as_ref().map(|judgement| judgement.words.as_str());
    row(&mut out, "diagnosis", diagnosis.unwrap_or_else(|| nothing_wrong(compared)));
    out
}

/// How a block without a fault is told. Content that nothing says anything about was not looked
/// at.
fn nothing_wrong(compared: &Compared) -> &'static str {
    match (&compared.source, &compared.sum) {
        (ExpectedFrom::Unknown, None) => {
            "the header is right; nothing says what the content should be: name the job that \
             wrote it"
        }
        _ => "nothing is wrong with this block",
    }
}

fn row(out: &mut String, name: &str, text: &str) {
    wrapped(out, &format!("  {name:<LEAD$}"), text);
}

fn add_header(out: &mut String, compared: &Compared) {
    if compared.header.is_empty() {
        return;
    }
    for HeaderField { name, found, wanted } in &compared.header {
        let text = match wanted {
            Some(wanted) if wanted != found => format!("{found}, should be {wanted}"),
            _ => found.clone(),
        };
        let text = match *name {
            "written" => format!("{text} after the job began"),
            "checksum" if Some(found) == wanted.as_ref() => format!("{text}: right"),
            _ => text,
        };
        row(out, &format!("header {name}"), &text);
    }
    if compared.found.header_at > 0 {
        let at = compared.found.header_at;
        row(out, "header place", &format!("byte {at} of the block (verify_offset)"));
    }
}

fn add_differing(out: &mut String, offset: u64, differing: &DifferingBytes) {
    let DifferingBytes { bytes, bits, first, found, wanted } = differing;
    let text = format!(
        "{} ({}), the first at byte {first} of the block, offset {}",
        counted(*bytes as u64, "byte"),
        counted(*bits, "bit"),
        offset + *first as u64
    );
    row(out, "differs in", &text);
    row(out, "  found", &spaced(found));
    row(out, "  should be", &spaced(wanted));
}

fn spaced(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(" ")
}

fn should_hold(compared: &Compared) -> String {
    let known = match &compared.source {
        ExpectedFrom::Job(write) => {
            let others = match write.writes {
                1 => String::new(),
                writes => format!(", the last of {writes} to this place"),
            };
            return format!(
                "write {} of job {}: {} bytes at {}{others}",
                write.identity.number, write.job, write.len, write.offset
            );
        }
        ExpectedFrom::Form => "what the header and the verify options say",
        ExpectedFrom::Header => "what its own header says",
        ExpectedFrom::Unknown => "unknown",
    };
    match &compared.why_no_write {
        Some(why) => format!("{known} ({why})"),
        None => known.to_owned(),
    }
}

/// The same for programs.
pub fn document(path: &Path, compared: &Compared) -> Value {
    let found = &compared.found;
    let field = |field: &HeaderField| {
        json!({ "name": field.name, "found": field.found, "expected": field.wanted,
                "wrong": field.is_wrong() })
    };
    json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "diagnose",
        "schema": 1,
        "path": path.display().to_string(),
        "offset": found.asked,
        "block": { "offset": found.offset, "bytes": found.len, "read_bytes": found.bytes.len(),
                   "header_at": found.header_at, "length_guessed": found.guessed },
        "header": compared.header.iter().map(field).collect::<Value>(),
        "checksum": compared.sum.as_ref().map(|sum| {
            json!({ "type": sum.block_type.name(), "stored": sum.stored,
                    "calculated": sum.calculated })
        }),
        "expected": expected(compared),
        "differing": compared.differing.as_ref().map(|differing| {
            json!({ "bytes": differing.bytes, "bits": differing.bits, "first": differing.first,
                    "found": spaced(&differing.found), "expected": spaced(&differing.wanted) })
        }),
        "right": compared.is_right(),
        "diagnosis": compared.diagnosis.as_ref().map(|judgement| {
            json!({ "id": judgement.id, "text": judgement.words })
        }),
    })
}

fn expected(compared: &Compared) -> Value {
    let from = match &compared.source {
        ExpectedFrom::Job(write) => {
            return json!({ "from": "job", "job": write.job, "write": write.identity.number,
                           "offset": write.offset, "bytes": write.len,
                           "seed": write.identity.seed, "writes": write.writes });
        }
        ExpectedFrom::Form => "options",
        ExpectedFrom::Header => "header",
        ExpectedFrom::Unknown => "unknown",
    };
    json!({ "from": from, "reason": compared.why_no_write })
}
