//! Wrong blocks, for the report: where they are, and how they are wrong.

use crate::job::VerifyPlan;
use iosonde_engine::WrongBlock;
use iosonde_report::{WrongBlocks, WrongPlace};
use iosonde_verify::{
    BlockIdentity, Diagnosis, HEADER_BYTES, Header, MAGIC, MismatchKind, diagnose,
};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Add a wrong block to those found so far.
pub(super) fn note(found: &Mutex<WrongBlocks>, plan: &VerifyPlan, wrong: &WrongBlock, path: &Path) {
    let (kind, words) = how(plan, wrong);
    let place = WrongPlace {
        file: path.display().to_string(),
        offset: wrong.mismatch.offset,
        bytes: wrong.mismatch.len as u64,
        kind: kind.to_owned(),
        words,
    };
    found.lock().unwrap_or_else(PoisonError::into_inner).add(place);
}

/// How it is wrong: its name and words.
fn how(plan: &VerifyPlan, wrong: &WrongBlock) -> (&'static str, String) {
    if let MismatchKind::NotZero { at } = wrong.mismatch.kind {
        return ("not-zero", format!("trimmed, and byte {at} is not zero"));
    }
    // The interval lies within the I/O that read it, in memory.
    let start = (wrong.mismatch.offset - wrong.offset) as usize;
    let Some(read) = wrong.read.get(start..start + wrong.mismatch.len) else {
        return (Diagnosis::Unknown.id(), Diagnosis::Unknown.to_string());
    };
    let wanted = wanted(plan, wrong, read, start);
    let found = diagnose(read, wanted.as_deref(), &wrong.mismatch.kind, wrong.mismatch.offset);
    match (&found, &wrong.mismatch.kind) {
        // What the check found is more than nothing.
        (Diagnosis::Unknown, MismatchKind::Header(error)) => (found.id(), error.to_string()),
        _ => (found.id(), found.to_string()),
    }
}

/// What the interval at `start` of the I/O should hold, as far as its own
/// header says, and the pattern.
pub(super) fn wanted(
    plan: &VerifyPlan,
    wrong: &WrongBlock,
    read: &[u8],
    start: usize,
) -> Option<Vec<u8>> {
    let format = &plan.spec.format;
    let header = (format.block_type().has_header() && read.len() >= HEADER_BYTES)
        .then(|| Header::decode(read))
        .filter(|header| header.magic == MAGIC);
    if header.is_none() && format.content().uses_seed() {
        return None;
    }
    let identity = BlockIdentity {
        seed: header.map_or(0, |header| header.seed),
        offset: wrong.offset,
        number: header.map_or(0, |header| header.number),
        thread: header.map_or(0, |header| header.thread),
        time_sec: header.map_or(0, |header| header.time_sec),
        time_nsec: header.map_or(0, |header| header.time_nsec),
    };
    let block = format.expected_bytes(wrong.len as usize, &identity);
    let mut wanted = block.get(start..start + read.len())?.to_vec();
    format.header_to_front(&mut wanted);
    Some(wanted)
}
