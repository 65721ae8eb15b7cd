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

/// The names that fio knows here: its table ends with ERANGE (34).
const NAMES: &[(&str, i32)] = &[
    ("EPERM", 1),
    ("ENOENT", 2),
    ("ESRCH", 3),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("E2BIG", 7),
    ("ENOEXEC", 8),
    ("EBADF", 9),
    ("ECHILD", 10),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("ENOTBLK", 15),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("EXDEV", 18),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("ENOTTY", 25),
    ("ETXTBSY", 26),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("ESPIPE", 29),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("EPIPE", 32),
    ("EDOM", 33),
    ("ERANGE", 34),
    ("ENODATA", 61),
    ("EILSEQ", 84),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
];

impl OptionValue for IgnoreErrors {
    const KIND: ValueKind = ValueKind::Form;
    fn parse(text: &str, _: &mut ParseContext) -> Result<Self, ValueError> {
        let want = || ValueError::new("errors such as EIO:ENOSPC,28", text);
        let one = |word: &str| -> Result<Errno, ValueError> {
            let by_number = || word.parse().ok().filter(|number| (1..4096).contains(number));
            let by_name = NAMES.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
            by_name.or_else(by_number).map(Errno).ok_or_else(want)
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
    let known = NAMES.iter().find(|(_, number)| *number == errno.0);
    known.map_or_else(|| errno.0.to_string(), |(name, _)| (*name).to_owned())
}
