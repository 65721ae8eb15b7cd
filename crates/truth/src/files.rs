//! Files as they are before a job: on the device, in the page cache, dirty, holes.

use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// A file that is there before the job: name, bytes, state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileSetup {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) state: String,
}

/// The states of `file:` lines.
pub(crate) const STATES: [&str; 7] =
    ["written", "cached", "half-cached", "dirty", "zeroes", "reserved", "sparse"];

/// Make the file.
pub(crate) fn make(path: &Path, setup: &FileSetup) -> Result<(), String> {
    made(path, setup).map_err(|error| format!("{}: {error}", path.display()))
}

fn made(path: &Path, setup: &FileSetup) -> std::io::Result<()> {
    let bytes = setup.bytes;
    // A device keeps its length.
    let is_device = path.metadata().is_ok_and(|status| !status.is_file());
    let mut file =
        File::options().write(true).create(!is_device).truncate(!is_device).open(path)?;
    match setup.state.as_str() {
        "sparse" => return file.set_len(bytes),
        "reserved" => return Ok(fallocate(&file, FallocateFlags::empty(), 0, bytes)?),
        "zeroes" => fill(&mut file, bytes, &vec![0; CHUNK])?,
        _ => fill(&mut file, bytes, &noise())?,
    }
    if setup.state == "dirty" {
        return Ok(());
    }
    file.sync_all()?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    match setup.state.as_str() {
        "cached" => read(path, bytes),
        "half-cached" => read(path, bytes / 2),
        _ => Ok(()),
    }
}

const CHUNK: usize = 1 << 20;

fn fill(file: &mut File, bytes: u64, content: &[u8]) -> std::io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        let part = left.min(content.len() as u64);
        file.write_all(&content[..part as usize])?;
        left -= part;
    }
    Ok(())
}

/// Bytes that do not compress (xorshift64).
fn noise() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut all = Vec::with_capacity(CHUNK);
    while all.len() < CHUNK {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        all.extend_from_slice(&state.to_le_bytes());
    }
    all
}

/// Read the first `bytes` into the page cache, and no more.
fn read(path: &Path, bytes: u64) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    fadvise(&file, 0, None, Advice::Random)?;
    let mut buffer = vec![0; CHUNK];
    let mut left = bytes;
    while left > 0 {
        let part = (left.min(CHUNK as u64)) as usize;
        file.read_exact(&mut buffer[..part])?;
        left -= part as u64;
    }
    Ok(())
}
