//! The state file of an interrupted verify job, layout version 7, which a later
//! job may check, and where it has to stop.

mod old;

pub use old::OldStateFile;

use crate::checksum::crc32c;
use std::fmt;

/// The layout that is written and read.
const LAYOUT: u64 = 7;
/// Bytes of that part without the writes in flight.
const FIXED: usize = 144;
/// Bytes of a job's name, zero-padded.
const NAME: usize = 64;
/// Bytes of the generator's state.
const GENERATOR: usize = 48;
/// In place of the number of a write: none.
const NONE: u64 = u64::MAX;

/// The first bytes of a state file of any layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateHeader {
    /// The number of the layout.
    pub layout: u64,
    /// Bytes that follow.
    pub len: u64,
    /// Their checksum.
    pub checksum: u64,
}

impl StateHeader {
    /// How many those are: the checksum covers what follows.
    pub const BYTES: usize = 24;

    /// What the first bytes say.
    ///
    /// # Errors
    /// There are fewer.
    pub fn decode(bytes: &[u8]) -> Result<StateHeader, StateError> {
        let word = |at| word(bytes, at).ok_or(StateError::NoHeader);
        Ok(StateHeader { layout: word(0)?, len: word(8)?, checksum: word(16)? })
    }

    /// What follows the header of `bytes`, if it is as long as it says and has its checksum.
    fn body(self, bytes: &[u8]) -> Result<&[u8], StateError> {
        let len = usize::try_from(self.len).map_err(|_| StateError::Truncated)?;
        let body = bytes[StateHeader::BYTES..].get(..len).ok_or(StateError::Truncated)?;
        if u64::from(crc32c(body)) != self.checksum {
            return Err(StateError::Checksum);
        }
        Ok(body)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u64::from_le_bytes(*word))
}

/// The name in a field that is padded with zeroes.
fn name_in(field: &[u8]) -> String {
    let name = field.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

/// The progress of a job when its state was saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateFile {
    /// Writes issued. Of `verify_policy=fsynced`: when the last sync that
    /// succeeded was submitted.
    pub writes: u64,
    /// Number of the job, from 0.
    pub job: u64,
    /// Name of the job; what is longer than 63 bytes is cut.
    pub name: String,
    /// State of the generator of offsets: words of 32 bits in `words`, or of
    /// 64. Nobody reads it back.
    pub generator: GeneratorState,
    /// Numbers of the writes in flight, one place for each of the job's
    /// iodepth.
    pub in_flight: Vec<Option<u64>>,
    /// Numbers of the writes that failed.
    pub failed: Vec<u64>,
}

/// State of the generator of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratorState {
    /// taus88.
    Bits32([u32; 3]),
    /// taus258.
    Bits64([u64; 5]),
}

impl Default for GeneratorState {
    fn default() -> GeneratorState {
        GeneratorState::Bits32([0; 3])
    }
}

/// Why a state file is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateError {
    /// It ends within its first 24 bytes.
    NoHeader,
    /// Another layout.
    Layout(u64),
    /// It ends before its content does, or its parts do not agree.
    Truncated,
    /// Its checksum is not that of its content.
    Checksum,
}

impl fmt::Display for StateError {
    /// fio's words, then ours.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::NoHeader => f.write_str(
                "failed reading verify state header: the file ends within its first 24 bytes",
            ),
            StateError::Layout(found) => {
                write!(
                    f,
                    "unsupported ({found}) version in verify state header, {LAYOUT} is supported"
                )
            }
            StateError::Truncated => {
                f.write_str("failed reading verity state: the file is not as long as it says")
            }
            StateError::Checksum => {
                f.write_str("verify state is corrupt: its checksum is not that of its content")
            }
        }
    }
}

impl std::error::Error for StateError {}

impl StateFile {
    /// The file's name for a job: `<prefix>-<name>-<number>-verify.state`, a
    /// slash in the job's name as a dot.
    pub fn file_name(prefix: &str, name: &str, job: u64) -> String {
        format!("{prefix}-{}-{job}-verify.state", name.replace('/', "."))
    }

    /// As much of a job's name as the file holds.
    pub fn cut_name(name: &str) -> String {
        let bytes = name.as_bytes();
        String::from_utf8_lossy(&bytes[..bytes.len().min(NAME - 1)]).into_owned()
    }

    /// The bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        let depth = self.in_flight.len() + self.failed.len();
        let mut body = Vec::with_capacity(FIXED + 8 * depth);
        // At most iodepth and the failed writes of a job: both far below 2^32.
        body.extend((depth as u32).to_le_bytes());
        body.extend([0; 4]);
        body.extend(self.writes.to_le_bytes());
        body.extend(self.job.to_le_bytes());
        match self.generator {
            GeneratorState::Bits32(words) => {
                body.extend(0u64.to_le_bytes());
                words.iter().for_each(|word| body.extend(word.to_le_bytes()));
            }
            GeneratorState::Bits64(words) => {
                body.extend(1u64.to_le_bytes());
                words.iter().for_each(|word| body.extend(word.to_le_bytes()));
            }
        }
        body.resize(32 + GENERATOR, 0);
        let name = self.name.as_bytes();
        body.extend(&name[..name.len().min(NAME - 1)]);
        body.resize(FIXED, 0);
        for number in self.in_flight.iter().copied().chain(self.failed.iter().copied().map(Some)) {
            body.extend(number.unwrap_or(NONE).to_le_bytes());
        }
        let mut file = Vec::with_capacity(StateHeader::BYTES + body.len());
        file.extend(LAYOUT.to_le_bytes());
        file.extend((body.len() as u64).to_le_bytes());
        file.extend(u64::from(crc32c(&body)).to_le_bytes());
        file.extend(body);
        file
    }

    /// What `bytes` say. `depth` is the iodepth of the job that reads it:
    /// numbers beyond so many are those of failed writes.
    pub fn decode(bytes: &[u8], depth: usize) -> Result<StateFile, StateError> {
        let header = StateHeader::decode(bytes)?;
        if header.layout != LAYOUT {
            return Err(StateError::Layout(header.layout));
        }
        let body = header.body(bytes)?;
        let at = |at| word(body, at).ok_or(StateError::Truncated);
        // The low half; the other is padding.
        let entries = (at(0)? & u64::from(u32::MAX)) as usize;
        if body.len() != FIXED + 8 * entries {
            return Err(StateError::Truncated);
        }
        let half = |i: usize| (at(32 + i / 2 * 8).unwrap_or(0) >> (i % 2 * 32)) as u32;
        let generator = match at(24)? {
            0 => GeneratorState::Bits32([half(0), half(1), half(2)]),
            _ => GeneratorState::Bits64(std::array::from_fn(|i| at(32 + i * 8).unwrap_or(0))),
        };
        let numbers: Vec<u64> = (0..entries).filter_map(|i| at(FIXED + i * 8).ok()).collect();
        let (in_flight, failed) = numbers.split_at(depth.min(entries));
        Ok(StateFile {
            writes: at(8)?,
            job: at(16)?,
            name: name_in(&body[32 + GENERATOR..FIXED]),
            generator,
            in_flight: in_flight.iter().map(|&n| (n != NONE).then_some(n)).collect(),
            failed: failed.iter().copied().filter(|&n| n != NONE).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_state_reads_back_as_saved(
            writes: u64, job: u64, name in "[a-z/]{0,63}", wide: bool, words: [u64; 5],
            in_flight in prop::collection::vec(prop::option::of(0..u64::MAX), 0..20),
            failed in prop::collection::vec(0..u64::MAX, 0..5),
        ) {
            let generator = if wide { GeneratorState::Bits64(words) } else { GeneratorState::Bits32([words[0] as u32, words[1] as u32, words[2] as u32]) };
            let state = StateFile { writes, job, name, generator, in_flight, failed };
            let bytes = state.encode();
            prop_assert_eq!(bytes.len(), StateHeader::BYTES + FIXED + 8 * (state.in_flight.len() + state.failed.len()));
            prop_assert_eq!(StateFile::decode(&bytes, state.in_flight.len()), Ok(state));
        }

        #[test]
        fn no_bytes_are_taken_for_a_state_or_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(StateFile::decode(&bytes, 1).is_err());
        }
    }

    #[test]
    fn a_state_that_was_cut_or_changed_is_refused() {
        let bytes = StateFile { in_flight: vec![Some(3), None], ..StateFile::default() }.encode();
        for len in 0..bytes.len() {
            assert!(StateFile::decode(&bytes[..len], 2).is_err(), "{len}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(StateFile::decode(&changed, 2).is_err(), "{at}");
        }
        let name = StateFile::file_name("local", "a/b", 0);
        assert_eq!(name, "local-a.b-0-verify.state");
    }
}
