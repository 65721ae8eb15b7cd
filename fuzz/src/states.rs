//! What the fuzz targets of verify's state files and blocks do with their bytes.
//! Shared with an ordinary test.
#![allow(dead_code, reason = "each target uses its own part")]

use iosonde_verify::{
    BlockContent, BlockFormat, Expected, HEADER_BYTES, Header, MAGIC, StateError, StateFile, TYPES,
    VERSION, WritesEnd, crc32c, diagnose, remake,
};

/// Layout, length and checksum, each 8 bytes, before the rest.
const PREFIX: usize = 24;
/// No I/O is shorter, and no block with a header.
const SECTOR: usize = 512;

/// The first byte is the iodepth of the job that reads it, the others are a state
/// file: as they are, and with a length and a checksum that are right.
pub fn verify_state(data: &[u8]) {
    let Some((&depth, file)) = data.split_first() else { return };
    let depth = usize::from(depth);
    let as_is = StateFile::decode(file, depth);
    if file.len() < PREFIX {
        assert_eq!(as_is, Err(StateError::NoHeader));
        return;
    }
    check_state(as_is, depth);
    let mut whole = file.to_vec();
    let (prefix, body) = whole.split_at_mut(PREFIX);
    prefix[..8].copy_from_slice(&7u64.to_le_bytes());
    prefix[8..16].copy_from_slice(&(body.len() as u64).to_le_bytes());
    prefix[16..].copy_from_slice(&u64::from(crc32c(body)).to_le_bytes());
    check_state(StateFile::decode(&whole, depth), depth);
}

/// A state that was taken is written and read back, and has an end of the writes.
fn check_state(state: Result<StateFile, StateError>, depth: usize) {
    let state = match state {
        Ok(state) => state,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert!(state.in_flight.len() <= depth);
    let again = StateFile::decode(&state.encode(), state.in_flight.len());
    let mut again = again.expect("what was written is a state");
    assert_eq!(again.name, StateFile::cut_name(&state.name));
    again.name.clone_from(&state.name);
    assert_eq!(again, state);
    assert_eq!(WritesEnd::from(&state).writes, state.writes);
}

/// The first three bytes choose the format, the others are what was read: as it
/// is, and with a header that looks like one.
pub fn verify_block(data: &[u8]) {
    let Some((&[block_type, interval, header_offset], read)) = data.split_first_chunk() else {
        return;
    };
    let block_type = TYPES[usize::from(block_type) % TYPES.len()].1;
    let interval = usize::from(interval % 4) * SECTOR;
    let header_offset = usize::from(header_offset) * 2;
    let content = BlockContent::Seeded;
    let Ok(format) = BlockFormat::new(block_type, interval, header_offset, content, read.len())
    else {
        return;
    };
    check_block(&format, read);
    if read.len() >= HEADER_BYTES {
        let mut sound = read.to_vec();
        let mut header = Header::decode(&sound);
        (header.magic, header.version) = (MAGIC, VERSION);
        header.block_type = block_type as u8;
        header.len = format.interval_bytes(read.len()) as u32;
        header.encode(&mut sound);
        header.crc = Header::crc_of(&sound);
        header.encode(&mut sound);
        check_block(&format, &sound);
    }
}

/// A block that is wrong is described, whatever it holds.
fn check_block(format: &BlockFormat, read: &[u8]) {
    let expected = Expected { offset: 8192, seed: Some(7), number: Some(1) };
    let mut io = read.to_vec();
    let Err(wrong) = format.check(&mut io, &expected, &mut Vec::new()) else { return };
    let bytes = format.interval_bytes(read.len());
    assert!((1..=read.len().div_ceil(bytes)).contains(&wrong.intervals), "{wrong:?}");
    assert!(wrong.offset >= expected.offset && wrong.len <= bytes, "{wrong:?}");
    assert!(!wrong.lines("f", (8192, read.len()), 1).is_empty());
    let at = usize::try_from(wrong.offset - expected.offset).expect("within the block");
    let mut found = read[at..at + wrong.len].to_vec();
    format.header_to_front(&mut found);
    let wanted = remake(&found);
    for wanted in [None, wanted.as_deref()] {
        let diagnosis = diagnose(&found, wanted, &wrong.kind, wrong.offset);
        assert!(!diagnosis.id().is_empty() && !diagnosis.to_string().is_empty());
    }
}
