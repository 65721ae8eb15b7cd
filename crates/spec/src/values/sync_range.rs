//! When ranges are flushed with sync_file_range(2): `wait_before,write:8`.

use iosonde_options::{Choice, OptionValue, ParseContext, ValueError, ValueKind, words};

words! {
    /// A flag of sync_file_range(2).
    pub enum SyncRangeWord {
        WaitBefore = "wait_before" : "SYNC_FILE_RANGE_WAIT_BEFORE",
        Write = "write" : "SYNC_FILE_RANGE_WRITE",
        WaitAfter = "wait_after" : "SYNC_FILE_RANGE_WAIT_AFTER",
    }
}

/// The value of `sync_file_range`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SyncFileRange {
    /// SYNC_FILE_RANGE_WAIT_BEFORE.
    pub wait_before: bool,
    /// SYNC_FILE_RANGE_WRITE.
    pub write: bool,
    /// SYNC_FILE_RANGE_WAIT_AFTER.
    pub wait_after: bool,
    /// After how many writes; at least 1.
    pub every: u32,
}

impl OptionValue for SyncFileRange {
    const KIND: ValueKind = ValueKind::Form;
    const CHOICES: &'static [Choice] = SyncRangeWord::WORDS;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let mut range =
            SyncFileRange { wait_before: false, write: false, wait_after: false, every: 1 };
        for part in text.split(',') {
            let (word, every) = part.split_once(':').unwrap_or((part, ""));
            match SyncRangeWord::parse(word.trim(), context)? {
                SyncRangeWord::WaitBefore => range.wait_before = true,
                SyncRangeWord::Write => range.write = true,
                SyncRangeWord::WaitAfter => range.wait_after = true,
            }
            if !every.is_empty() {
                let want = |_| ValueError::new("a number of writes after the colon", text);
                let every: u32 = every.trim().parse().map_err(want)?;
                range.every = every.max(1);
            }
        }
        Ok(range)
    }
    fn show(&self) -> String {
        let flags = [
            (self.wait_before, SyncRangeWord::WaitBefore),
            (self.write, SyncRangeWord::Write),
            (self.wait_after, SyncRangeWord::WaitAfter),
        ];
        let on = flags.iter().filter(|(on, _)| *on).map(|(_, word)| word.word());
        format!("{}:{}", on.collect::<Vec<_>>().join(","), self.every)
    }
}
