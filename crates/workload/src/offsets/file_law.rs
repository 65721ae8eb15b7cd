//! The law by which files are picked.
//!
//! A number is drawn among many for each file. Where a number rises with the one draw that it is
//! made of, as with zipf and pareto, the draws of each file lie side by side: of few files they
//! are found once, and then looked up.

use crate::offsets::Law;
use crate::offsets::law::curve_of;
use crate::spec::{Distribution, FilePick, SourceSpec, SpecError};
use crate::streams::{Seeds, Stream};

/// A law draws among so many numbers for each file, as in fio.
const NUMBERS_OF_A_FILE: u64 = 1024;

/// For so many files at most a table is made, which takes a thousand draws for 32 of them.
const FILES_MOST: usize = 256;

/// Picks files by a law.
#[derive(Debug)]
pub(crate) struct FileLaw {
    law: Law,
    table: Option<Table>,
}

impl FileLaw {
    /// The law of a job; none where files go in turn, or evenly.
    pub(crate) fn of(spec: &SourceSpec, seeds: &Seeds) -> Result<Option<FileLaw>, SpecError> {
        let distribution = match spec.file_service.pick {
            FilePick::RoundRobin | FilePick::Sequential | FilePick::Random => return Ok(None),
            FilePick::Zipf { theta, center } => Distribution::Zipf { theta, center },
            FilePick::Pareto { h, center } => Distribution::Pareto { h, center },
            FilePick::Normal { deviation, center } => Distribution::Normal { deviation, center },
        };
        let n = spec.files.len() as u64 * NUMBERS_OF_A_FILE;
        let Some((curve, center)) = curve_of(&distribution, n)? else { return Ok(None) };
        let law = Law::new(curve, n, center, seeds.of(Stream::File) as u32, false);
        let table = (spec.files.len() <= FILES_MOST).then(|| Table::of(&law)).flatten();
        Ok(Some(FileLaw { law, table }))
    }

    /// Draw the same files again.
    pub(crate) fn restart(&mut self) {
        self.law.restart();
    }

    /// Whether files are looked up.
    pub(crate) fn has_table(&self) -> bool {
        self.table.is_some()
    }

    /// The files of the next draws, as many of them as there are, at most: how many. They are taken
    /// by [`FileLaw::take`].
    #[inline]
    pub(crate) fn peek(&mut self, files: &mut [u32]) -> usize {
        let Some(table) = &self.table else { return 0 };
        let draws = self.law.draws().peek(files.len());
        for (file, draw) in files.iter_mut().zip(draws) {
            *file = table.file_of(*draw) as u32;
        }
        draws.len()
    }

    /// Take so many of those that were looked at.
    pub(crate) fn take(&mut self, count: usize) {
        self.law.draws().take(count);
    }

    /// The next file.
    #[inline(always)]
    pub(crate) fn draw(&mut self) -> usize {
        match &self.table {
            Some(table) => table.file_of(self.law.draws().draw()),
            None => (self.law.draw() / NUMBERS_OF_A_FILE) as usize,
        }
    }
}

/// The file of each draw.
#[derive(Debug)]
struct Table {
    /// Stretches of draws in ascending order: the last of each, and its file.
    stretches: Vec<(u32, u32)>,
    /// By the upper eight bits of a draw, the first stretch that has such.
    first: Box<[u16; 256]>,
}

impl Table {
    /// Of a law; none if its numbers do not rise with a draw.
    fn of(law: &Law) -> Option<Table> {
        law.curve().rises().then_some(())?;
        let file = |number: u64| (law.placed(number) / NUMBERS_OF_A_FILE) as u32;
        let mut stretches = Vec::new();
        let mut begin = 0;
        loop {
            let number = law.curve().number(begin, law.numbers());
            // The first number of the next file, before it is shifted.
            let next = number + NUMBERS_OF_A_FILE - law.placed(number) % NUMBERS_OF_A_FILE;
            let last = last_below(begin, |draw| law.curve().number(draw, law.numbers()) < next);
            stretches.push((last, file(number)));
            match last.checked_add(1) {
                Some(draw) => begin = draw,
                None => break,
            }
        }
        let mut first = Box::new([0; 256]);
        for (upper, place) in (0u32..).zip(first.iter_mut()) {
            let of_draw = stretches.partition_point(|(last, _)| *last < upper << 24);
            *place = u16::try_from(of_draw).ok()?;
        }
        Some(Table { stretches, first })
    }

    #[inline(always)]
    fn file_of(&self, draw: u32) -> usize {
        let from = usize::from(self.first[(draw >> 24) as usize]);
        let found = self.stretches[from..].iter().find(|(last, _)| draw <= *last);
        // The last stretch goes to the last draw.
        found.map_or(0, |(_, file)| *file as usize)
    }
}

/// The last draw from `begin` on of which this is so: of `begin` it is, and after the last of none.
fn last_below(begin: u32, is_below: impl Fn(u32) -> bool) -> u32 {
    let (mut last, mut beyond) = (u64::from(begin), 1 << 32);
    while last + 1 < beyond {
        let middle = (last + beyond) / 2;
        if is_below(middle as u32) { last = middle } else { beyond = middle }
    }
    last as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn laws() -> impl Strategy<Value = Distribution> {
        let center = || prop::option::of(0.0..=1.0);
        prop_oneof![
            (0.01..3.0, center()).prop_map(|(theta, center)| Distribution::Zipf { theta, center }),
            (0.001..0.999, center()).prop_map(|(h, center)| Distribution::Pareto { h, center }),
        ]
    }

    proptest! {
        #[test]
        fn a_file_that_is_looked_up_is_that_of_the_formula(
            distribution in laws(), files in 1u64..40, seed: u32,
            draws in prop::collection::vec(any::<u32>(), 1000),
        ) {
            let n = files * NUMBERS_OF_A_FILE;
            let (curve, center) = curve_of(&distribution, n).unwrap().unwrap();
            let law = Law::new(curve, n, center, seed, false);
            let Some(table) = Table::of(&law) else { return Ok(()) };
            let edges = table.stretches.iter().flat_map(|(last, _)| {
                [last.saturating_sub(1), *last, last.saturating_add(1)]
            });
            for draw in edges.chain(draws) {
                let number = law.placed(law.curve().number(draw, n));
                prop_assert_eq!(table.file_of(draw) as u64, number / NUMBERS_OF_A_FILE, "{}", draw);
            }
        }
    }

    #[test]
    fn most_laws_of_few_files_have_a_table() {
        for theta in [0.5, 0.99, 1.001, 1.2, 2.5] {
            let (curve, _) =
                curve_of(&Distribution::Zipf { theta, center: None }, 8192).unwrap().unwrap();
            assert!(Table::of(&Law::new(curve, 8192, None, 1, false)).is_some());
        }
        let bell = Distribution::Normal { deviation: 20.0, center: None };
        let (curve, _) = curve_of(&bell, 8192).unwrap().unwrap();
        assert!(Table::of(&Law::new(curve, 8192, None, 1, false)).is_none());
    }
}
