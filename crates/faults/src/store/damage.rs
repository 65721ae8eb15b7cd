//! What is wrong in the files, and what a power cut leaves.

use super::{FileContent, SECTOR, Store, put};
use crate::Dice;
use crate::script::Script;
use std::ops::Range;

impl Store {
    /// Exchange `size` bytes of two files, or of two places of one, behind the back of
    /// whoever wrote them.
    pub fn exchange(&mut self, one: (&str, usize), other: (&str, usize), size: usize) {
        let ids = [one.0, other.0].map(|name| self.find(name));
        let [Some(first), Some(second)] = ids else { return };
        let take =
            |store: &Store, id: u64, at: usize| store.files[&id].actual[at..at + size].to_vec();
        let (here, there) = (take(self, first, one.1), take(self, second, other.1));
        for (id, at, data) in [(first, one.1, there), (second, other.1, here)] {
            if let Some(file) = self.files.get_mut(&id) {
                put(&mut file.actual, at, &data);
            }
        }
    }

    /// Blocks of `size` bytes that were written and hold something else than
    /// what was written last; and those of which a read returned something else.
    pub fn wrong_blocks(&self, name: &str, size: usize) -> Vec<u64> {
        let Some(file) = self.file(name) else { return Vec::new() };
        let mut wrong = differing(&file.intended, &file.actual, &file.written, size);
        let is_written = |at: &usize| file.written.iter().any(|range| range.contains(at));
        let flipped = self.flipped_reads.iter().filter(|at| is_written(at));
        wrong.extend(flipped.map(|at| (at / size * size) as u64));
        wrong.sort_unstable();
        wrong.dedup();
        wrong
    }

    /// How many bytes of a block are not as intended, and the first and last of them.
    pub fn difference(&self, name: &str, block: u64, size: usize) -> String {
        let Some(file) = self.file(name) else { return String::new() };
        let at = usize::try_from(block).unwrap_or(usize::MAX).min(file.actual.len());
        let pairs = file.intended[at..].iter().zip(&file.actual[at..]).take(size);
        let bytes: Vec<usize> =
            pairs.enumerate().filter(|(_, (one, other))| one != other).map(|(at, _)| at).collect();
        let (first, last) = (bytes.first().unwrap_or(&0), bytes.last().unwrap_or(&0));
        format!("{block}: {} bytes differ, from {first} to {last}", bytes.len())
    }

    /// Blocks of `size` bytes that a sync covered which was acknowledged, and
    /// that hold something else.
    pub fn broken_promises(&self, name: &str, size: usize) -> Vec<u64> {
        let Some(file) = self.file(name) else { return Vec::new() };
        let covered = &file.written[..file.written_when_promised];
        differing(&file.promised, &file.actual, covered, size)
    }

    /// How many blocks of `size` bytes a sync covered that was acknowledged.
    pub fn promised_blocks(&self, name: &str, size: usize) -> u64 {
        let Some(file) = self.file(name) else { return 0 };
        let covered = &file.written[..file.written_when_promised];
        let blocks = covered.iter().map(|range| range.start / size);
        blocks.collect::<std::collections::BTreeSet<_>>().len() as u64
    }

    /// The power comes back: of what is pending each write is there, in part, or not.
    pub fn restart(&mut self, dice: &mut Dice) {
        self.is_cut = false;
        self.cut_after = None;
        self.script = Script::new(0, Vec::new());
        for file in self.files.values_mut() {
            for (offset, data) in std::mem::take(&mut file.pending) {
                let sectors = data.len().div_ceil(SECTOR) as u64;
                let kept = match dice.below(3) {
                    0 => continue,
                    1 => data.len(),
                    _ => (dice.below(sectors + 1) as usize * SECTOR).min(data.len()),
                };
                put(&mut file.stable, offset, &data[..kept]);
            }
            file.actual = file.stable.clone();
        }
    }

    pub(super) fn file(&self, name: &str) -> Option<&FileContent> {
        self.files.values().find(|file| file.name == name)
    }
}

/// Blocks with a byte in one of `ranges` that differs.
fn differing(one: &[u8], other: &[u8], ranges: &[Range<usize>], size: usize) -> Vec<u64> {
    let mut blocks = std::collections::BTreeSet::new();
    for range in ranges {
        for first in (range.start / size * size..range.end).step_by(size) {
            let part = |bytes: &[u8]| {
                let start = first.max(range.start).min(bytes.len());
                bytes[start..(first + size).min(range.end).min(bytes.len())].to_vec()
            };
            if part(one) != part(other) {
                blocks.insert(first as u64);
            }
        }
    }
    blocks.into_iter().collect()
}
