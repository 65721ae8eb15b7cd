//! What the fuzz target of recordings does with its bytes. Shared with an
//! ordinary test.

#![allow(dead_code, reason = "each target uses its own part")]

use iosonde_workload::replay::{LogError, Parser, Shape, Skip, Step, Strand, merge};

/// Any bytes are a recording: read it whole, in small portions and changed on the
/// way, and merge it with itself.
pub fn recording(data: &[u8]) {
    let whole = read(data, Shape::default(), usize::MAX);
    assert_eq!(read(data, Shape::default(), 61), whole);
    let skip = Skip { writes: true, syncs: true, ..Skip::default() };
    let shape = Shape { scale: 3, align: 4096, speed_percent: 1, skip, one_file: true };
    let shaped = read(data, shape, 4096);
    assert_eq!(shaped.is_err(), whole.is_err());
    for step in whole.into_iter().chain(shaped).flatten() {
        let end = step.entry.offset.checked_add(step.entry.len.into());
        assert!(end.is_some_and(|end| end <= i64::MAX as u64 + u64::from(u32::MAX)), "{step:?}");
    }
    let strand = Strand { bytes: data, time_percent: 50.0, times: 2 };
    if let Ok(merged) = merge(&[strand, strand])
        && !merged.is_empty()
    {
        read(&merged, Shape::default(), usize::MAX).expect("what was merged is a trace");
    }
}

fn read(data: &[u8], shape: Shape, portion: usize) -> Result<Vec<Step>, LogError> {
    let (mut parser, mut steps) = (Parser::new(shape), Vec::new());
    let (mut at, mut end) = (0, 0);
    while end < data.len() {
        end = end.saturating_add(portion).min(data.len());
        at += parser.feed(&data[at..end], false, &mut steps)?;
    }
    at += parser.feed(&data[at..], true, &mut steps)?;
    parser.finish(data.len() - at)?;
    let files = parser.names().len();
    assert!(steps.iter().all(|step| (step.entry.file.0 as usize) < files));
    Ok(steps)
}

/// Bytes of a record of a blktrace, without its payload.
const RECORD: usize = 48;

/// Any bytes are records of a blktrace: each begins as a record must, and the
/// first byte chooses the order of the bytes in its numbers.
pub fn blktrace(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let magic: u32 = 0x6561_7400 | 7;
    let is_little = choice & 1 == 0;
    let mut trace = rest.to_vec();
    let mut at = 0;
    while at + RECORD <= trace.len() {
        let magic = if is_little { magic.to_le_bytes() } else { magic.to_be_bytes() };
        trace[at..at + 4].copy_from_slice(&magic);
        let payload = [trace[at + 46], trace[at + 47]];
        let payload =
            if is_little { u16::from_le_bytes(payload) } else { u16::from_be_bytes(payload) };
        at += RECORD + usize::from(payload);
    }
    recording(&trace);
    if trace.len() >= RECORD {
        read(&trace, Shape::default(), usize::MAX).expect("each record begins as one");
    }
}
