//! How many bytes files have: one size, or several with weights.

use iosonde_options::{Bytes, OptionValue, ParseContext, ValueError, ValueKind};

/// Sizes of files. Which one a file has follows from its number, so that who
/// reads it knows what was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeFileSizes {
    /// Sizes in bytes, each with the sum of its weight and those before it.
    weighted: Vec<(u64, u64)>,
}

impl TreeFileSizes {
    /// Sizes with weights; those of weight 0 do not count.
    pub fn weighted(sizes: impl IntoIterator<Item = (u64, u64)>) -> TreeFileSizes {
        let mut sum = 0u64;
        let mut weighted = Vec::new();
        for (bytes, weight) in sizes.into_iter().filter(|&(_, weight)| weight > 0) {
            sum = sum.saturating_add(weight);
            weighted.push((bytes, sum));
        }
        TreeFileSizes { weighted }
    }

    /// The largest.
    pub fn largest(&self) -> u64 {
        self.weighted.iter().map(|&(bytes, _)| bytes).max().unwrap_or(0)
    }

    /// Whether all are multiples of so many bytes.
    pub fn are_multiples_of(&self, block: u64) -> bool {
        self.weighted.iter().all(|&(bytes, _)| bytes.is_multiple_of(block))
    }

    /// The bytes of the file of this number.
    pub fn of(&self, file: u64) -> u64 {
        match self.weighted.as_slice() {
            [] => 0,
            [(bytes, _)] => *bytes,
            several => {
                let all = several[several.len() - 1].1;
                let drawn = ((u128::from(mixed(file)) * u128::from(all)) >> 64) as u64;
                several[several.partition_point(|&(_, sum)| sum <= drawn)].0
            }
        }
    }

    /// The bytes of `files` files, from number 0.
    pub fn total(&self, files: u64) -> u64 {
        match self.weighted.as_slice() {
            [] => 0,
            [(bytes, _)] => bytes.saturating_mul(files),
            _ => (0..files).map(|file| self.of(file)).fold(0, u64::saturating_add),
        }
    }
}

/// A number that is spread evenly over all (splitmix64's finisher; public domain).
pub(crate) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl OptionValue for TreeFileSizes {
    const KIND: ValueKind = ValueKind::Form;

    fn parse(text: &str, context: &mut ParseContext) -> Result<TreeFileSizes, ValueError> {
        let refused = || ValueError::new("a size, or sizes with weights: 4k/3:1m/1", text);
        let parts: Vec<&str> = text.trim().split(':').collect();
        let mut sizes = Vec::new();
        for part in &parts {
            let (size, weight) = match part.split_once('/') {
                Some((size, weight)) => (size, weight.parse::<u64>().map_err(|_| refused())?),
                None if parts.len() == 1 => (*part, 1),
                None => return Err(refused()),
            };
            if weight == 0 {
                return Err(refused());
            }
            sizes.push((Bytes::parse(size, context)?.0, weight));
        }
        Ok(TreeFileSizes::weighted(sizes))
    }

    fn show(&self) -> String {
        let mut before = 0;
        let part = |&(bytes, sum): &(u64, u64)| {
            let weight = sum - std::mem::replace(&mut before, sum);
            format!("{bytes}/{weight}")
        };
        match self.weighted.as_slice() {
            [] => "0".to_owned(),
            [(bytes, _)] => bytes.to_string(),
            several => several.iter().map(part).collect::<Vec<_>>().join(":"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_as_often_as_their_weights_say() {
        let sizes = TreeFileSizes::weighted([(4096, 3), (0, 0), (1 << 20, 1)]);
        let large = (0..40_000).filter(|&file| sizes.of(file) == 1 << 20).count();
        assert!((9_500..10_500).contains(&large), "{large}");
        assert_eq!(sizes.largest(), 1 << 20);
        let total = large as u64 * (1 << 20) + (40_000 - large as u64) * 4096;
        assert_eq!(sizes.total(40_000), total);
    }

    #[test]
    fn one_size_is_that_of_every_file() {
        let sizes = TreeFileSizes::weighted([(100, 1)]);
        assert_eq!((sizes.of(0), sizes.of(77), sizes.total(10)), (100, 100, 1000));
        assert_eq!(TreeFileSizes::default().of(5), 0);
    }
}
