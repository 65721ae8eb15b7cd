//! What the fuzz target of recordings does with its bytes. Shared with an
//! ordinary test.

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
