//! Writes in the order in which they were issued.

use super::Written;
use std::collections::VecDeque;

/// So many runs are allocated at a time: a list that doubles would have room
/// for twice as many as it holds.
const CHUNK: usize = 2048;

/// Writes in the order of their numbers, those that follow each other as runs.
#[derive(Clone, Debug, Default)]
pub(super) struct IssueOrder {
    /// All runs but the last. None of the chunks is empty.
    chunks: VecDeque<Vec<WriteRun>>,
    /// How many runs of the first chunk are gone already: fewer than it has.
    gone: usize,
    /// The last run, which may grow still.
    last: Option<WriteRun>,
}

/// Writes that follow each other in place and number, of one length.
#[derive(Clone, Copy, Debug)]
struct WriteRun {
    first: Written,
    count: u32,
}

const _: () = assert!(size_of::<WriteRun>() == 32, "the memory that a write takes");

impl WriteRun {
    #[inline]
    fn nth(&self, n: u32) -> Written {
        let Written { file, offset, len, number } = self.first;
        let offset = offset + u64::from(n) * u64::from(len);
        Written { file, offset, len, number: number + u64::from(n) }
    }

    #[inline]
    fn is_followed_by(&self, write: &Written) -> bool {
        self.count < u32::MAX && self.nth(self.count - 1).is_followed_by(write)
    }

    /// Without its first write; `None` if that was all.
    #[inline]
    fn rest(&self) -> Option<WriteRun> {
        (self.count > 1).then(|| WriteRun { first: self.nth(1), count: self.count - 1 })
    }

    /// The writes before the one with this number, and those after it; `None` if it is not one of
    /// them.
    fn without(self, number: u64) -> Option<[Option<WriteRun>; 2]> {
        let within = number.checked_sub(self.first.number)?;
        let n = u32::try_from(within).ok().filter(|n| *n < self.count)?;
        let run = |from: u32, count| (count > 0).then(|| WriteRun { first: self.nth(from), count });
        Some([run(0, n), run(n + 1, self.count - n - 1)])
    }
}

impl IssueOrder {
    #[cfg(test)]
    pub fn runs(&self) -> usize {
        let all: usize = self.chunks.iter().map(Vec::len).sum();
        all - self.gone + usize::from(self.last.is_some())
    }

    #[inline]
    pub(crate) fn remember(&mut self, write: Written) {
        match &mut self.last {
            Some(run) if run.is_followed_by(&write) => run.count += 1,
            last => {
                if let Some(run) = last.replace(WriteRun { first: write, count: 1 }) {
                    self.push(run);
                }
            }
        }
    }

    #[inline]
    fn push(&mut self, run: WriteRun) {
        match self.chunks.back_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(run),
            _ => self.push_to_new(run),
        }
    }

    #[cold]
    fn push_to_new(&mut self, run: WriteRun) {
        let mut chunk = Vec::with_capacity(CHUNK);
        chunk.push(run);
        self.chunks.push_back(chunk);
    }

    pub fn first(&self) -> Option<Written> {
        let run = match self.chunks.front() {
            Some(chunk) => chunk.get(self.gone)?,
            None => self.last.as_ref()?,
        };
        Some(run.first)
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Written> {
        let Some(chunk) = self.chunks.front_mut() else {
            let run = self.last?;
            self.last = run.rest();
            return Some(run.first);
        };
        let run = chunk.get_mut(self.gone)?;
        let write = run.first;
        match run.rest() {
            Some(rest) => *run = rest,
            None => {
                self.gone += 1;
                if self.gone == chunk.len() {
                    self.drop_first_chunk();
                }
            }
        }
        Some(write)
    }

    #[cold]
    fn drop_first_chunk(&mut self) {
        self.chunks.pop_front();
        self.gone = 0;
    }

    /// Forget a write. Whether it was remembered.
    pub fn forget(&mut self, number: u64) -> bool {
        // Numbers ascend from run to run, and most writes that fail are recent.
        match self.last {
            Some(run) if run.first.number <= number => {
                let Some([before, after]) = run.without(number) else { return false };
                if let (Some(before), Some(_)) = (before, after) {
                    self.push(before);
                }
                self.last = after.or(before);
                true
            }
            _ => self.forget_in_chunks(number),
        }
    }

    fn forget_in_chunks(&mut self, number: u64) -> bool {
        let begins = |run: &WriteRun| run.first.number <= number;
        let chunk_at = self.chunks.partition_point(|chunk| chunk.first().is_some_and(begins));
        let Some(chunk_at) = chunk_at.checked_sub(1) else { return false };
        let gone = if chunk_at == 0 { std::mem::take(&mut self.gone) } else { 0 };
        let chunk = &mut self.chunks[chunk_at];
        chunk.drain(..gone);
        let at = chunk.partition_point(begins).checked_sub(1);
        let Some((at, parts)) = at.and_then(|at| Some((at, chunk[at].without(number)?))) else {
            return false;
        };
        chunk.splice(at..=at, parts.into_iter().flatten());
        if chunk.is_empty() {
            self.chunks.remove(chunk_at);
        }
        true
    }
}
