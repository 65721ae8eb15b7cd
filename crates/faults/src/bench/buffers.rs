//! What is written is what the job's options of buffers ask for; the storage has it.

use super::job::{DATA, EXACT, Job};
use super::{Findings, SeedResult, Stage};
use std::collections::HashSet;

/// Random data has a piece of this size twice by no chance.
const PIECE: usize = 64;
/// `buffer_pattern` of a job.
const PATTERN: [u8; 4] = [0xde, 0xad, 0x0b, 0xef];
/// Of `buffer_compress_percentage=50`, in per cent of all bytes; the size of its chunks
/// decides the rest.
const ZEROES: std::ops::RangeInclusive<usize> = 35..=65;

/// What a job's data must be.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// No piece is there twice.
    New,
    /// No block is there twice, as parts of it are changed.
    Scrambled,
    /// Nothing but zero.
    Zeroes,
    /// The pattern, from each block's beginning.
    Pattern,
    /// One block again and again.
    Same,
    /// Half of it is zero.
    Half,
}

const KINDS: [(&str, Wanted); 6] = [
    ("--refill_buffers=1", Wanted::New),
    ("--scramble_buffers=1", Wanted::Scrambled),
    ("--zero_buffers=1", Wanted::Zeroes),
    ("--buffer_pattern=0xdead0bef", Wanted::Pattern),
    ("--dedupe_percentage=100", Wanted::Same),
    ("--refill_buffers=1 --buffer_compress_percentage=50", Wanted::Half),
];

pub(crate) fn run(mut stage: Stage<'_>) -> Result<SeedResult, String> {
    let mut job = Job::draw(&mut stage, &EXACT, &[4096, 16384, 65536]);
    let (options, wanted) = stage.dice.pick(&KINDS);
    let pattern = stage.dice.pick(&["write", "randwrite"]);
    job.add(&format!("--rw={pattern} {options}"));
    let (store, before) = stage.store(&job, Vec::new());
    let mount = stage.serve(store, &job)?;
    let ended = stage.program.run(&job.arguments(""));

    let store = mount.store();
    let mut findings = Findings::of(&ended);
    findings.must(ended.code == Some(0), || format!("it ended with {:?}", ended.code));
    let data = store.content(DATA).unwrap_or_default();
    if let Err(why) = wanted.hold(data, job.block) {
        findings.must(false, || format!("{options}: {why}"));
    }
    before.compare(&store, pattern, &mut findings);
    Ok(SeedResult { injected: 0, findings: findings.end(), skipped: None })
}

impl Wanted {
    /// Whether data of such blocks is that; else what it is.
    fn hold(self, data: &[u8], block: usize) -> Result<(), String> {
        let part = |is: bool, otherwise: String| if is { Ok(()) } else { Err(otherwise) };
        let blocks = data.len() / block;
        match self {
            Wanted::New => {
                let again = again(data, PIECE);
                part(
                    again == 0,
                    format!("{again} of {} pieces are there twice", data.len() / PIECE),
                )
            }
            Wanted::Scrambled => {
                let again = again(data, block);
                part(again == 0, format!("{again} of {blocks} blocks are there twice"))
            }
            Wanted::Zeroes => {
                part(data.iter().all(|&byte| byte == 0), "not all is zero".to_owned())
            }
            Wanted::Pattern => {
                let is_pattern = data.chunks(PATTERN.len()).all(|piece| PATTERN.starts_with(piece));
                part(is_pattern, "it is not the pattern".to_owned())
            }
            Wanted::Same => {
                let again = again(data, block);
                part(again == blocks - 1, format!("{again} of {blocks} blocks repeat the first"))
            }
            Wanted::Half => {
                let zeroes =
                    data.iter().filter(|&&byte| byte == 0).count() * 100 / data.len().max(1);
                part(ZEROES.contains(&zeroes), format!("{zeroes} % of it are zero"))
            }
        }
    }
}

/// How many pieces were there before.
fn again(data: &[u8], piece: usize) -> usize {
    let mut seen = HashSet::new();
    data.chunks(piece).filter(|piece| !seen.insert(*piece)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dice;

    #[test]
    fn each_kind_of_data_is_told_from_the_others() {
        let mut random = vec![0; 8192];
        Dice::new(3).fill(&mut random);
        let same = random[..4096].repeat(2);
        let mut scrambled = same.clone();
        scrambled[4096] ^= 1;
        assert!(Wanted::New.hold(&random, 4096).is_ok());
        assert!(Wanted::New.hold(&scrambled, 4096).is_err());
        assert!(Wanted::Scrambled.hold(&scrambled, 4096).is_ok());
        assert!(Wanted::Scrambled.hold(&same, 4096).is_err());
        assert!(
            Wanted::Same.hold(&same, 4096).is_ok() && Wanted::Same.hold(&random, 4096).is_err()
        );
        assert!(Wanted::Zeroes.hold(&[0; 4096], 4096).is_ok());
        assert!(Wanted::Zeroes.hold(&random, 4096).is_err());
        assert!(Wanted::Pattern.hold(&PATTERN.repeat(1024), 4096).is_ok());
        assert!(Wanted::Pattern.hold(&random, 4096).is_err());
        assert!(Wanted::Half.hold(&random, 4096).is_err());
        random[..4096].fill(0);
        assert!(Wanted::Half.hold(&random, 4096).is_ok());
    }
}
