//! Where the writes of an earlier run ended, by its state file: how far a job
//! that checks them may go.

use crate::state::StateFile;
use std::collections::BTreeSet;

/// Where the writes of an earlier run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WritesEnd {
    /// How many were issued.
    pub writes: u64,
    in_flight: BTreeSet<u64>,
    failed: BTreeSet<u64>,
}

/// Whether a write of that run is to be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WrittenReach {
    /// It is.
    Within,
    /// It failed then: it is not, those after it are.
    Failed,
    /// Neither it nor any after it, for this reason.
    Beyond(String),
}

impl From<&StateFile> for WritesEnd {
    fn from(state: &StateFile) -> WritesEnd {
        WritesEnd {
            writes: state.writes,
            in_flight: state.in_flight.iter().copied().flatten().collect(),
            failed: state.failed.iter().copied().collect(),
        }
    }
}

impl WritesEnd {
    /// Whether the write with this number is to be checked. The reasons are
    /// fio's words.
    pub(crate) fn reach(&self, number: u64) -> WrittenReach {
        if self.failed.contains(&number) {
            return WrittenReach::Failed;
        }
        if number >= self.writes {
            return WrittenReach::Beyond(format!(
                "Stop verify because seq {number} >= {}",
                self.writes
            ));
        }
        if self.in_flight.contains(&number) {
            let words = format!("Stop verify because seq {number} was an inflight write");
            return WrittenReach::Beyond(words);
        }
        WrittenReach::Within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_writes_are_left_out_and_one_in_flight_ends_the_check() {
        let state = StateFile {
            writes: 9,
            in_flight: vec![None, Some(7)],
            failed: vec![2],
            ..StateFile::default()
        };
        let end = WritesEnd::from(&state);
        assert_eq!(end.reach(1), WrittenReach::Within);
        assert_eq!(end.reach(2), WrittenReach::Failed);
        assert_eq!(end.reach(6), WrittenReach::Within);
        let words = "Stop verify because seq 7 was an inflight write";
        assert_eq!(end.reach(7), WrittenReach::Beyond(words.to_owned()));
        assert_eq!(end.reach(9), WrittenReach::Beyond("Stop verify because seq 9 >= 9".to_owned()));
    }
}
