//! A job's writes, which of them were checked, and the blocks that were wrong.

use iosonde_base::PerDir;
use iosonde_base::text::counted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A job's writes and which of them were checked (`verify`), in blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifyReport {
    /// What was written and what of it was checked.
    #[serde(flatten)]
    pub counts: VerifyCounts,
    /// Writes that completed and were not checked.
    pub unchecked: u64,
    /// The wrong blocks.
    #[serde(flatten)]
    pub wrong_blocks: WrongBlocks,
    /// Why completed writes were not checked, if any were not; those without a sync
    /// after them included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked_reason: Option<String>,
}

/// What was written and what of it was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifyCounts {
    /// Writes that completed, or with `verify_only` would have.
    pub written: u64,
    /// Blocks that were read and compared.
    pub checked: u64,
    /// Of those, how many were wrong.
    pub wrong: u64,
    /// Blocks that could not be read.
    pub unreadable: u64,
    /// Writes that a later write replaced before they were checked.
    pub replaced: u64,
    /// Writes that failed: there is nothing to check.
    #[serde(rename = "failed_writes")]
    pub failed: u64,
    /// Blocks that were trimmed and not read back.
    pub trimmed: u64,
    /// I/Os that were gone over and not done (`verify_only`).
    #[serde(skip)]
    pub imagined: PerDir<u64>,
    /// Writes that no sync followed, where only those that one did are checked.
    pub unsynced: u64,
}

impl VerifyCounts {
    /// Writes that completed, were to be checked, and were not.
    pub fn unchecked(&self) -> u64 {
        let accounted =
            self.checked + self.unreadable + self.replaced + self.trimmed + self.unsynced;
        self.written.saturating_sub(accounted)
    }

    fn merge(&mut self, other: &VerifyCounts) {
        self.written += other.written;
        self.checked += other.checked;
        self.wrong += other.wrong;
        self.unreadable += other.unreadable;
        self.replaced += other.replaced;
        self.failed += other.failed;
        self.trimmed += other.trimmed;
        self.unsynced += other.unsynced;
    }
}

/// Where blocks were wrong, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrongBlocks {
    /// How many were wrong in which way, by the names that `iosonde diagnose`
    /// has for them.
    #[serde(rename = "wrong_kinds")]
    pub kinds: BTreeMap<String, u64>,
    /// The wrong block at the lowest offset of the first file; `null` if none is wrong.
    #[serde(rename = "first_wrong")]
    pub first: Option<WrongPlace>,
    /// The wrong block at the highest offset of the last file; `null` if none is wrong.
    #[serde(rename = "last_wrong")]
    pub last: Option<WrongPlace>,
}

/// A wrong block.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrongPlace {
    /// The file.
    pub file: String,
    /// Byte offset of the first interval that is wrong.
    pub offset: u64,
    /// Bytes of the interval.
    pub bytes: u64,
    /// How it is wrong: the name that `iosonde diagnose` has for it.
    pub kind: String,
    /// The same in words.
    #[serde(rename = "text")]
    pub words: String,
}

impl WrongBlocks {
    /// Add a wrong block.
    pub fn add(&mut self, place: WrongPlace) {
        self.count(&place.kind, 1);
        self.extend_to(&place);
    }

    /// Add those of another job.
    fn merge(&mut self, other: &WrongBlocks) {
        other.kinds.iter().for_each(|(kind, number)| self.count(kind, *number));
        other.first.iter().chain(&other.last).for_each(|place| self.extend_to(place));
    }

    fn count(&mut self, kind: &str, number: u64) {
        *self.kinds.entry(kind.to_owned()).or_default() += number;
    }

    fn extend_to(&mut self, place: &WrongPlace) {
        if self.first.as_ref().is_none_or(|first| place < first) {
            self.first = Some(place.clone());
        }
        if self.last.as_ref().is_none_or(|last| place > last) {
            self.last = Some(place.clone());
        }
    }
}

impl VerifyReport {
    /// How many blocks were written, checked, wrong; and those with a fate of their own.
    pub fn words(&self) -> String {
        let counts = &self.counts;
        let mut parts = vec![
            format!("{} written", counted(counts.written, "block")),
            format!("{} checked", counts.checked),
            format!("{} wrong", counts.wrong),
        ];
        let more = [
            (counts.unreadable, "unreadable"),
            (counts.replaced, "replaced by later writes"),
            (counts.failed, "failed"),
            (counts.trimmed, "trimmed"),
            (counts.unsynced, "without a sync after them"),
            (self.unchecked, "not checked"),
        ];
        let some = more.iter().filter(|(number, _)| *number > 0);
        parts.extend(some.map(|(number, what)| format!("{number} {what}")));
        parts.join(", ")
    }

    /// Add what another job counted.
    pub fn merge(&mut self, other: &VerifyReport) {
        self.counts.merge(&other.counts);
        self.unchecked += other.unchecked;
        self.add_reason(other);
        self.wrong_blocks.merge(&other.wrong_blocks);
    }

    /// Jobs that left writes unchecked for one reason name it once.
    fn add_reason(&mut self, other: &VerifyReport) {
        let Some(more) = &other.unchecked_reason else { return };
        match &mut self.unchecked_reason {
            None => self.unchecked_reason = Some(more.clone()),
            Some(reason) if reason.split("; ").any(|one| one == more) => {}
            Some(reason) => {
                reason.push_str("; ");
                reason.push_str(more);
            }
        }
    }
}
