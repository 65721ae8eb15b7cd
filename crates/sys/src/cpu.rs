//! Processors: which ones a thread may use, and lists of them as users write them.

use std::fmt;
use std::io;

use crate::platform;

/// The highest processor number a list may name. Kernels are built for 8192 at
/// most; a typing error should not make a list of millions.
const CPU_MAX: u32 = 8191;

/// Processors by number, ascending, each once, at least one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CpuList(Vec<u32>);

/// An error in a list of processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuListError {
    /// There is nothing in it.
    Empty,
    /// This part is no number and no range.
    Malformed(String),
    /// This range runs backwards.
    Backwards(String),
    /// This number is too high for a processor.
    TooHigh(String),
}

impl fmt::Display for CpuListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CpuListError::Empty => write!(f, "no processor is named"),
            CpuListError::Malformed(part) => {
                write!(f, "{part:?} is not a processor or a range: write 0,2-5")
            }
            CpuListError::Backwards(part) => write!(f, "the range {part:?} runs backwards"),
            CpuListError::TooHigh(part) => {
                write!(f, "{part:?} is too high: processors go up to {CPU_MAX}")
            }
        }
    }
}

impl std::error::Error for CpuListError {}

impl CpuList {
    /// Read `0,2-5` (numbers and ranges, separated by commas; spaces around
    /// them do not matter).
    ///
    /// # Errors
    /// If that is not what it is.
    pub fn parse(text: &str) -> Result<CpuList, CpuListError> {
        let mut cpus = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first, part)?, number(last, part)?),
                None if part.is_empty() && text.trim().is_empty() => {
                    return Err(CpuListError::Empty);
                }
                None => (number(part, part)?, number(part, part)?),
            };
            if first > last {
                return Err(CpuListError::Backwards(part.to_owned()));
            }
            cpus.extend(first..=last);
        }
        CpuList::from_numbers(cpus)
    }

    /// The processors of the bits set in `mask`, as fio's `cpumask` has it.
    ///
    /// # Errors
    /// If none is.
    pub fn from_mask(mask: u64) -> Result<CpuList, CpuListError> {
        CpuList::from_numbers((0..64).filter(|&cpu| mask & 1 << cpu != 0).collect())
    }

    /// The processors the calling thread may use.
    ///
    /// # Errors
    /// The error of the system.
    pub fn allowed() -> io::Result<CpuList> {
        CpuList::from_numbers(platform::allowed_cpus()?).map_err(io::Error::other)
    }

    /// Processors by number, in any order, repeats dropped.
    ///
    /// # Errors
    /// If it has none.
    pub fn from_numbers(mut cpus: Vec<u32>) -> Result<CpuList, CpuListError> {
        iosonde_base::sort(&mut cpus);
        cpus.dedup();
        if cpus.is_empty() { Err(CpuListError::Empty) } else { Ok(CpuList(cpus)) }
    }

    /// The numbers, ascending.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }

    /// The processor for the job numbered `job`, when each job gets one of its
    /// own (`cpus_allowed_policy=split`): past the last, the first again.
    pub fn turn(&self, job: usize) -> u32 {
        self.0[job % self.0.len()]
    }

    /// Keep the calling thread on these processors.
    ///
    /// # Errors
    /// If the machine has none of them, or the thread may use none.
    pub fn pin(&self) -> io::Result<()> {
        platform::pin_to_cpus(&self.0)
    }
}

impl fmt::Display for CpuList {
    /// `0,2-5`: the shortest way to write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        let mut separator = "";
        while let Some(&first) = rest.first() {
            let run = rest.iter().zip(first..).take_while(|&(&cpu, expected)| cpu == expected);
            let length = run.count();
            let last = rest[length - 1];
            match length {
                1 => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{last}")?,
            }
            (rest, separator) = (&rest[length..], ",");
        }
        Ok(())
    }
}

/// How many processors the calling thread may use, at least 1.
pub fn allowed_count() -> usize {
    platform::allowed_cpus().map_or(1, |cpus| cpus.len().max(1))
}

fn number(text: &str, part: &str) -> Result<u32, CpuListError> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CpuListError::Malformed(part.to_owned()));
    }
    // Digits only, so what does not fit is too high.
    match text.parse() {
        Ok(cpu) if cpu <= CPU_MAX => Ok(cpu),
        _ => Err(CpuListError::TooHigh(part.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_list_is_numbers_and_ranges() {
        assert_eq!(CpuList::parse("3").unwrap().as_slice(), [3]);
        assert_eq!(CpuList::parse("5, 0-2,1 ").unwrap().as_slice(), [0, 1, 2, 5]);
        assert_eq!(CpuList::parse("8191").unwrap().as_slice(), [8191]);
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_part() {
        let malformed = |part: &str| Err(CpuListError::Malformed(part.to_owned()));
        assert_eq!(CpuList::parse(""), Err(CpuListError::Empty));
        assert_eq!(CpuList::parse("  "), Err(CpuListError::Empty));
        assert_eq!(CpuList::parse("1,"), malformed(""));
        assert_eq!(CpuList::parse("x"), malformed("x"));
        assert_eq!(CpuList::parse("1,-2"), malformed("-2"));
        assert_eq!(CpuList::parse("1-2-3"), malformed("1-2-3"));
        assert_eq!(CpuList::parse("+1"), malformed("+1"));
        assert_eq!(CpuList::parse("4-2"), Err(CpuListError::Backwards("4-2".to_owned())));
        assert_eq!(CpuList::parse("8192"), Err(CpuListError::TooHigh("8192".to_owned())));
        assert!(CpuList::parse("0-99999999999999999999").is_err());
    }

    #[test]
    fn a_mask_names_its_bits() {
        assert_eq!(CpuList::from_mask(0b1011).unwrap().as_slice(), [0, 1, 3]);
        assert_eq!(CpuList::from_mask(1 << 63).unwrap().as_slice(), [63]);
        assert_eq!(CpuList::from_mask(0), Err(CpuListError::Empty));
    }

    #[test]
    fn turns_go_round() {
        let list = CpuList::parse("2,4,6").unwrap();
        assert_eq!((0..5).map(|job| list.turn(job)).collect::<Vec<_>>(), [2, 4, 6, 2, 4]);
    }

    proptest! {
        #[test]
        fn a_list_reads_back_as_it_is_shown(
            cpus in proptest::collection::vec(0u32..100, 1..40),
        ) {
            let list = CpuList::from_numbers(cpus).unwrap();
            prop_assert_eq!(CpuList::parse(&list.to_string()).unwrap(), list);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[0-9,x -]{0,20}") {
            let _ = CpuList::parse(&text);
        }
    }

    #[test]
    fn a_pinned_thread_may_use_that_processor_only() {
        std::thread::spawn(|| {
            let allowed = CpuList::allowed().unwrap();
            let last = *allowed.as_slice().last().unwrap();
            CpuList::from_numbers(vec![last]).unwrap().pin().unwrap();
            assert_eq!(CpuList::allowed().unwrap().as_slice(), [last]);
            assert_eq!(allowed_count(), 1);
            allowed.pin().unwrap();
            assert_eq!(CpuList::allowed().unwrap(), allowed);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_processor_that_is_not_there_is_an_error() {
        std::thread::spawn(|| {
            assert!(CpuList(vec![CPU_MAX]).pin().is_err());
            assert!(CpuList(vec![u32::MAX]).pin().is_err());
        })
        .join()
        .unwrap();
    }
}
