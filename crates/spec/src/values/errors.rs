//! Errors that do not end a job, for each direction: `EAGAIN,ENOSPC:122`.

use iosonde_base::Errno;
use iosonde_options::{OptionValue, ParseContext, ValueError, ValueKind};

/// The value of `ignore_error`: lists for reads, for writes, for verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IgnoreErrors {
    /// Errors of reads.
    pub read: Vec<Errno>,
    /// Errors of writes.
    pub write: Vec<Errno>,
    /// Errors found by verification.
    pub verify: Vec<Errno>,
}

impl OptionValue for IgnoreErrors {
    const KIND: ValueKind = ValueKind::Form;
    // fio takes what it cannot read of it.
    const BAD: &'static [&'static str] = &[];
    fn parse(text: &str, _: &mut ParseContext) -> Result<Self, ValueError> {
        let want = || ValueError::new("errors such as EIO:ENOSPC,28", text);
        let one = |word: &str| -> Result<Errno, ValueError> {
            let by_number = || word.parse().ok().filter(|number| (1..4096).contains(number));
            Errno::named(word).or_else(|| by_number().map(Errno)).ok_or_else(want)
        };
        let mut lists: Vec<Vec<Errno>> = Vec::new();
        for part in text.split(',') {
            let words = part.split(':').map(str::trim).filter(|word| !word.is_empty());
            lists.push(words.map(one).collect::<Result<_, _>>()?);
        }
        lists.resize(3.max(lists.len()), Vec::new());
        match <[Vec<Errno>; 3]>::try_from(lists) {
            Ok([read, write, verify]) => Ok(IgnoreErrors { read, write, verify }),
            Err(_) => Err(ValueError::new("at most three lists: read, write, verify", text)),
        }
    }
    fn show(&self) -> String {
        let lists = [&self.read, &self.write, &self.verify].map(|list| {
            let shown: Vec<String> = list.iter().map(|errno| name(*errno)).collect();
            shown.join(":")
        });
        lists.join(",").trim_end_matches(',').to_owned()
    }
}

fn name(errno: Errno) -> String {
    errno.name().map_or_else(|| errno.0.to_string(), str::to_owned)
}
