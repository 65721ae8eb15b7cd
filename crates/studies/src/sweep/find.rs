//! The option to search the highest value of (`--find`).

use super::grid::number;
use iosonde_judge::SloSearch;

/// More jobs than these are not tried unless a range says so.
const JOBS_MOST: u32 = 4096;

/// What is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundOption {
    /// `rate_iops`: the rate of each job.
    Rate,
    /// `numjobs`: how many of each job there are.
    Jobs,
}

/// The option to search the highest value of.
#[derive(Clone, Debug, PartialEq)]
pub struct FindOption {
    /// Which one.
    pub option: FoundOption,
    /// Between which values.
    pub range: Option<(f64, f64)>,
}

impl FoundOption {
    /// Its name in a job file.
    pub fn name(self) -> &'static str {
        match self {
            FoundOption::Rate => "rate_iops",
            FoundOption::Jobs => "numjobs",
        }
    }
}

impl FindOption {
    /// From `rate_iops`, `numjobs`, either with `=LO..HI`.
    ///
    /// # Errors
    /// It is another option, or no range.
    pub fn parse(text: &str) -> Result<FindOption, String> {
        let wrong = || {
            format!(
                "cannot search {text:?}: use rate_iops, rate_iops=LO..HI as rate_iops=100..20k, \
                 numjobs or numjobs=LO..HI"
            )
        };
        let (name, range) =
            text.split_once('=').map_or((text, None), |(name, range)| (name, Some(range)));
        let options = [FoundOption::Rate, FoundOption::Jobs];
        let option = options.into_iter().find(|option| option.name() == name).ok_or_else(wrong)?;
        let is_whole = |value: f64| option == FoundOption::Rate || value.fract() == 0.0;
        let ends = |range: &str| -> Option<(f64, f64)> {
            let (low, high) = range.split_once("..")?;
            let (low, high) = (thousands(low)?, thousands(high)?);
            (low >= 1.0 && low <= high && is_whole(low) && is_whole(high)).then_some((low, high))
        };
        let range = range.map(|range| ends(range).ok_or_else(wrong)).transpose()?;
        Ok(FindOption { option, range })
    }

    /// The search; a rate without a range begins at `start`.
    pub fn search(&self, start: f64, confirm: u32) -> SloSearch {
        match (self.option, self.range) {
            (FoundOption::Rate, range) => SloSearch::new(start, range, confirm),
            (FoundOption::Jobs, range) => {
                let (low, high) = range.unwrap_or((1.0, f64::from(JOBS_MOST)));
                SloSearch::of_whole_numbers(low as u32, (low as u32, high as u32), confirm)
            }
        }
    }
}

/// A number; `k` is 1000 here, as in reports.
fn thousands(text: &str) -> Option<f64> {
    match text.strip_suffix(['k', 'K']) {
        Some(thousands) => Some(thousands.parse::<f64>().ok()? * 1000.0),
        None => number(text).filter(|_| !text.ends_with('%')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_jobs_are_searched_and_nothing_else() {
        assert_eq!(FindOption::parse("rate_iops=100..20k").unwrap().range, Some((100.0, 20_000.0)));
        assert_eq!(FindOption::parse("numjobs=1..64").unwrap().option, FoundOption::Jobs);
        let wrong = [
            "iodepth",
            "rate_iops=5",
            "rate_iops=9..1",
            "rate_iops=0..5",
            "rate_iops=x..y",
            "numjobs=1.5..4",
            "numjobs=0..4",
        ];
        for text in wrong {
            assert!(FindOption::parse(text).unwrap_err().contains("LO..HI"), "{text}");
        }
    }
}
