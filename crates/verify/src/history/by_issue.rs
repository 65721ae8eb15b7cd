//! Writes in the order in which they were issued.

use super::Written;
use std::collections::VecDeque;

/// So many runs are allocated at a time: a list that doubles would have room
/// for twice as many as it holds.
const CHUNK: usize = 2048;

/// Writes in the order of their numbers, those that follow each other as runs.
#[derive(Clone, Debug, Default)]
pub(super) struct IssueOrder {
    /// None of them is empty.
    chunks: VecDeque<VecDeque<WriteRun>>,
}

/// Writes that follow each other in place and number, of one length.
#[derive(Clone, Copy, Debug)]
struct WriteRun {
    first: Written,
    count: u32,
}

const _: () = assert!(size_of::<WriteRun>() == 32, "the memory that a write takes");

impl WriteRun {
    fn nth(&self, n: u32) -> Written {
        let Written { file, offset, len, number } = self.first;
        let offset = offset + u64::from(n) * u64::from(len);
        Written { file, offset, len, number: number + u64::from(n) }
    }

    /// The writes before the `n`th, and those after it.
    fn without(self, n: u32) -> [Option<WriteRun>; 2] {
        let run = |from: u32, count| (count > 0).then(|| WriteRun { first: self.nth(from), count });
        [run(0, n), run(n + 1, self.count - n - 1)]
    }
}

impl IssueOrder {
    #[cfg(test)]
    pub fn runs(&self) -> usize {
        self.chunks.iter().map(VecDeque::len).sum()
    }

    pub fn remember(&mut self, write: Written) {
        let last = self.chunks.back_mut();
        if let Some(run) = last.and_then(|chunk| chunk.back_mut())
            && run.count < u32::MAX
            && run.nth(run.count - 1).is_followed_by(&write)
        {
            run.count += 1;
            return;
        }
        if self.chunks.back().is_none_or(|chunk| chunk.len() >= CHUNK) {
            self.chunks.push_back(VecDeque::with_capacity(CHUNK));
        }
        if let Some(chunk) = self.chunks.back_mut() {
            chunk.push_back(WriteRun { first: write, count: 1 });
        }
    }

    pub fn first(&self) -> Option<Written> {
        Some(self.chunks.front()?.front()?.first)
    }

    pub fn pop(&mut self) -> Option<Written> {
        let chunk = self.chunks.front_mut()?;
        let run = chunk.front_mut()?;
        let write = run.first;
        if run.count > 1 {
            *run = WriteRun { first: run.nth(1), count: run.count - 1 };
            return Some(write);
        }
        chunk.pop_front();
        if chunk.is_empty() {
            self.chunks.pop_front();
        }
        Some(write)
    }

    /// Forget a write. Whether it was remembered.
    pub fn forget(&mut self, number: u64) -> bool {
        let begins = |run: &WriteRun| run.first.number <= number;
        // Numbers ascend from run to run.
        let chunk_at = self.chunks.partition_point(|chunk| chunk.front().is_some_and(begins));
        let Some(chunk_at) = chunk_at.checked_sub(1) else { return false };
        let chunk = &mut self.chunks[chunk_at];
        let Some(at) = chunk.partition_point(begins).checked_sub(1) else { return false };
        let run = chunk[at];
        let within = number - run.first.number;
        if within >= u64::from(run.count) {
            return false;
        }
        // Below the count, so it fits.
        let [before, after] = run.without(within as u32);
        match (before, after) {
            (None, None) => drop(chunk.remove(at)),
            (Some(one), None) | (None, Some(one)) => chunk[at] = one,
            (Some(before), Some(after)) => {
                chunk[at] = before;
                chunk.insert(at + 1, after);
            }
        }
        if chunk.is_empty() {
            self.chunks.remove(chunk_at);
        }
        true
    }
}
