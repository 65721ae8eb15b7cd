//! Direction and order of a job's I/O: `read`, `randrw`, `randread:8`, `read:-8k`.

use iosonde_options::{
    Choice, OptionValue, ParseContext, ValueError, ValueKind, scan_number, words,
};
use iosonde_workload::Directions;

words! {
    /// Which way the data goes, and in which order.
    pub enum RwWord {
        Read = "read" : "sequential reads",
        Write = "write" : "sequential writes",
        Trim = "trim" : "sequential trims",
        RandRead = "randread" : "random reads",
        RandWrite = "randwrite" : "random writes",
        RandTrim = "randtrim" : "random trims",
        ReadWrite = "rw" | "readwrite" : "sequential reads and writes",
        RandRw = "randrw" : "random reads and writes",
        TrimWrite = "trimwrite" : "sequential: each block is trimmed, then written",
        RandTrimWrite = "randtrimwrite" : "random: each block is trimmed, then written",
    }
}

impl RwWord {
    /// It reads.
    pub const fn reads(self) -> bool {
        use RwWord::*;
        matches!(self, Read | RandRead | ReadWrite | RandRw)
    }

    /// It writes.
    pub const fn writes(self) -> bool {
        use RwWord::*;
        matches!(self, Write | RandWrite | ReadWrite | RandRw | TrimWrite | RandTrimWrite)
    }

    /// It trims.
    pub const fn trims(self) -> bool {
        use RwWord::*;
        matches!(self, Trim | RandTrim | TrimWrite | RandTrimWrite)
    }

    /// The directions as the workload has them.
    pub const fn directions(self) -> Directions {
        Directions {
            read: self.reads(),
            write: self.writes(),
            trim: self.trims(),
            random: self.is_random(),
            trim_then_write: self.trims() && self.writes(),
        }
    }

    /// Offsets are drawn at random.
    pub const fn is_random(self) -> bool {
        use RwWord::*;
        matches!(self, RandRead | RandWrite | RandTrim | RandRw | RandTrimWrite)
    }
}

/// The value of `rw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rw {
    /// The word.
    pub word: RwWord,
    /// Random jobs: a new offset is drawn every this many I/Os; at least 1.
    pub every: u32,
    /// Sequential jobs: bytes left out after each I/O; negative walks backwards.
    pub skip: i64,
}

impl OptionValue for Rw {
    const KIND: ValueKind = ValueKind::Word;
    const CHOICES: &'static [Choice] = RwWord::WORDS;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let (word, after) = text.split_once(':').unwrap_or((text, ""));
        let word = RwWord::parse(word, context)?;
        let plain = Rw { word, every: 1, skip: 0 };
        if after.is_empty() {
            return Ok(plain);
        }
        let want = || ValueError::new("a number after the colon", text);
        let number = scan_number(after, context).map_err(|_| want())?;
        if !number.rest.is_empty() {
            context.doubt(format!("{:?} after the number is ignored", number.rest));
        }
        if word.is_random() {
            let every = u32::try_from(number.value).map_err(|_| want())?;
            Ok(Rw { every: every.max(1), ..plain })
        } else {
            let skip = i64::try_from(number.value).map_err(|_| want())?;
            Ok(Rw { skip, ..plain })
        }
    }
    fn show(&self) -> String {
        match self {
            Rw { word, every, .. } if *every > 1 => format!("{}:{every}", word.word()),
            Rw { word, skip, .. } if *skip != 0 => format!("{}:{skip}", word.word()),
            Rw { word, .. } => word.word().into(),
        }
    }
}
