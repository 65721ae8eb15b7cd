//! The state file as fio 3.33 and others of its time write it, layout version 3: read to be
//! shown. No job is checked by it.

use super::{NAME, StateError, StateHeader, name_in, word};

/// Bytes of the content before the writes that completed.
const FIXED: usize = 152;

/// The progress of a job when its state was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldStateFile {
    /// Iodepth of the job.
    pub depth: u32,
    /// Writes issued.
    pub writes: u64,
    /// Number of the job, from 0.
    pub job: u64,
    /// Name of the job.
    pub name: String,
    /// The last writes that completed: number of the file and offset.
    pub completions: Vec<(u64, u64)>,
}

impl OldStateFile {
    /// The number of the layout.
    pub const LAYOUT: u64 = 3;

    /// What `bytes` say.
    ///
    /// # Errors
    /// Another layout, or a damaged file.
    pub fn decode(bytes: &[u8]) -> Result<OldStateFile, StateError> {
        let header = StateHeader::decode(bytes)?;
        if header.layout != OldStateFile::LAYOUT {
            return Err(StateError::Layout(header.layout));
        }
        let body = header.body(bytes)?;
        let at = |at| word(body, at).ok_or(StateError::Truncated);
        let completions = body.get(FIXED..).ok_or(StateError::Truncated)?;
        if completions.len() as u64 != at(0)?.saturating_mul(16) {
            return Err(StateError::Truncated);
        }
        let completion = |at| Some((word(completions, at)?, word(completions, at + 8)?));
        Ok(OldStateFile {
            // The low half; the other is the number of files.
            depth: at(8)? as u32,
            writes: at(16)?,
            job: at(24)?,
            name: name_in(&body[FIXED - NAME..FIXED]),
            completions: (0..completions.len()).step_by(16).filter_map(completion).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::crc32c;

    /// `--nrfiles=2 --bs=64k --verify_state_save=1 --number_ios=2` of fio 3.33.
    fn file() -> Vec<u8> {
        let mut body = vec![0; FIXED];
        body[0] = 2;
        body[8] = 4;
        body[12] = 2;
        body[16] = 9;
        body[24] = 1;
        body[FIXED - NAME..][..3].copy_from_slice(b"lng");
        for number in [0u64, 65536, 1, 0] {
            body.extend(number.to_le_bytes());
        }
        let words = [3, body.len() as u64, u64::from(crc32c(&body))];
        words.iter().flat_map(|word| word.to_le_bytes()).chain(body.iter().copied()).collect()
    }

    #[test]
    fn a_state_of_an_older_fio_is_read_and_a_cut_or_changed_one_refused() {
        let state = OldStateFile::decode(&file()).unwrap();
        assert_eq!((state.depth, state.writes, state.job), (4, 9, 1));
        assert_eq!((&*state.name, &state.completions[..]), ("lng", &[(0, 65536), (1, 0)][..]));
        for len in 0..file().len() {
            assert!(OldStateFile::decode(&file()[..len]).is_err(), "{len}");
        }
        for at in 0..file().len() {
            let mut changed = file();
            changed[at] ^= 1;
            assert!(OldStateFile::decode(&changed).is_err(), "{at}");
        }
    }
}
