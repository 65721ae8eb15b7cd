//! Which option an argument means, by the habits of GNU's `getopt_long_only`.
//!
//! One dash or two, `-name=x` or `-name x`, any prefix that is nobody else's. An option that
//! takes a value takes the next argument, whatever it looks like. What is no option is an
//! operand, wherever it stands; after `--` everything is. Which names there are is asked anew for
//! each argument, because `--ioengine=` brings an engine's own options with it.

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakesValue {
    /// `--parse-only`.
    Nothing,
    /// `--thread` or `--thread=1`; never the next argument.
    Maybe,
    /// `--write_bw_log`, `--write_bw_log=x` or `--write_bw_log x`; never what looks like an option.
    Name,
    /// `--bs=4k` or `--bs 4k`.
    Value,
}

/// A name that may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'n> {
    /// Without dashes.
    pub name: &'n str,
    /// Whether a value goes with it.
    pub takes: TakesValue,
}

/// What the next argument is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsedArgument<'a> {
    /// An option that was recognised.
    Option {
        /// The argument's number, from 1.
        index: usize,
        /// Its name, in full.
        name: String,
        /// Its value, if it has one.
        value: Option<&'a str>,
    },
    /// A job file.
    Operand {
        /// The argument's number, from 1.
        index: usize,
        /// The argument.
        text: &'a str,
    },
    /// An argument that looks like an option and is not known.
    Bad {
        /// The argument's number, from 1.
        index: usize,
        /// The argument.
        text: &'a str,
        /// What is wrong with it.
        why: BadWord,
    },
}

/// What is wrong with an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadWord {
    /// Nobody's name.
    Unknown,
    /// The beginning of several names.
    Ambiguous {
        /// Which they are.
        names: Vec<String>,
    },
    /// A value belongs to it and none follows.
    WantsValue {
        /// The option, in full.
        name: String,
    },
    /// A value was given and none belongs to it.
    TakesNoValue {
        /// The option, in full.
        name: String,
    },
}

/// fio's single letters, so far as they are more than beginnings of long names.
///
/// The manual has only `-h` and `-v`; the others were found by trying the installed program.
const LETTERS: [(char, &str, TakesValue); 38] = [
    ('A', "merge-blktrace-only", TakesValue::Nothing),
    ('B', "trigger-timeout", TakesValue::Value),
    ('C', "client", TakesValue::Value),
    ('D', "daemonize", TakesValue::Value),
    ('E', "eta-newline", TakesValue::Value),
    ('F', "output-format", TakesValue::Value),
    ('G', "crctest", TakesValue::Maybe),
    ('H', "trigger", TakesValue::Value),
    ('I', "idle-prof", TakesValue::Value),
    ('J', "trigger-remote", TakesValue::Value),
    ('K', "aux-path", TakesValue::Value),
    ('L', "status-interval", TakesValue::Value),
    ('M', "memcpytest", TakesValue::Maybe),
    ('O', "eta-interval", TakesValue::Value),
    ('P', "parse-only", TakesValue::Nothing),
    ('S', "server", TakesValue::Maybe),
    ('T', "cpuclock-test", TakesValue::Nothing),
    ('V', "terse-version", TakesValue::Value),
    ('W', "trigger-file", TakesValue::Value),
    ('a', "alloc-size", TakesValue::Value),
    ('b', "bandwidth-log", TakesValue::Maybe),
    ('c', "cmdhelp", TakesValue::Maybe),
    ('d', "debug", TakesValue::Value),
    ('e', "eta", TakesValue::Value),
    ('f', "append-terse", TakesValue::Maybe),
    ('h', "help", TakesValue::Nothing),
    ('i', "enghelp", TakesValue::Maybe),
    ('j', "max-jobs", TakesValue::Value),
    ('l', "latency-log", TakesValue::Value),
    ('m', "minimal", TakesValue::Nothing),
    ('o', "output", TakesValue::Value),
    ('p', "profile", TakesValue::Value),
    ('r', "readonly", TakesValue::Nothing),
    ('s', "showcmd", TakesValue::Nothing),
    ('v', "version", TakesValue::Nothing),
    ('w', "warnings-fatal", TakesValue::Nothing),
    ('x', "section", TakesValue::Value),
    ('X', "inflate-log", TakesValue::Value),
];

/// The arguments, one at a time.
#[derive(Clone, Debug)]
pub struct Arguments<'a> {
    arguments: &'a [String],
    next: usize,
    operands_only: bool,
}

impl<'a> Arguments<'a> {
    /// Over the arguments after the program's name.
    pub fn new(arguments: &'a [String]) -> Self {
        Arguments { arguments, next: 0, operands_only: false }
    }

    /// The next argument, and the one after it if that is its value.
    pub fn step(&mut self, candidates: &[Candidate<'_>]) -> Option<ParsedArgument<'a>> {
        let mut text = self.take()?;
        if !self.operands_only && text == "--" {
            self.operands_only = true;
            text = self.take()?;
        }
        let index = self.next;
        if self.operands_only || text == "-" || !text.starts_with('-') {
            return Some(ParsedArgument::Operand { index, text });
        }
        Some(match self.option(text, candidates) {
            Ok((name, value)) => ParsedArgument::Option { index, name, value },
            Err(why) => ParsedArgument::Bad { index, text, why },
        })
    }

    /// How many arguments have been taken so far.
    pub fn taken(&self) -> usize {
        self.next
    }

    fn take(&mut self) -> Option<&'a str> {
        let text = self.arguments.get(self.next)?;
        self.next += 1;
        Some(text)
    }

    fn option(
        &mut self,
        text: &'a str,
        candidates: &[Candidate<'_>],
    ) -> Result<(String, Option<&'a str>), BadWord> {
        let word = text.strip_prefix("--").unwrap_or(&text[1..]);
        let letter = if text.starts_with("--") { None } else { letter(word) };
        if let Some((_, name, takes)) = letter.filter(|(c, ..)| word.len() == c.len_utf8()) {
            return Ok((name.to_string(), self.value(name, takes, None)?));
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        match find(name, candidates) {
            NameMatch::One(found) => {
                let value = self.value(found.name, found.takes, value)?;
                Ok((found.name.to_string(), value))
            }
            NameMatch::Many(names) => Err(BadWord::Ambiguous { names }),
            NameMatch::None => match letter {
                Some((c, name, takes)) if takes != TakesValue::Nothing => {
                    Ok((name.to_string(), Some(&word[c.len_utf8()..])))
                }
                _ => Err(BadWord::Unknown),
            },
        }
    }

    fn value(
        &mut self,
        name: &str,
        takes: TakesValue,
        given: Option<&'a str>,
    ) -> Result<Option<&'a str>, BadWord> {
        match (takes, given) {
            (TakesValue::Nothing, Some(_)) => Err(BadWord::TakesNoValue { name: name.to_string() }),
            (TakesValue::Value, None) => match self.take() {
                None => Err(BadWord::WantsValue { name: name.to_string() }),
                next => Ok(next),
            },
            (TakesValue::Name, None)
                if self.arguments.get(self.next).is_some_and(|text| !text.starts_with('-')) =>
            {
                Ok(self.take())
            }
            _ => Ok(given),
        }
    }
}

fn letter(word: &str) -> Option<(char, &'static str, TakesValue)> {
    let first = word.chars().next()?;
    LETTERS.into_iter().find(|(letter, ..)| *letter == first)
}

enum NameMatch<'n> {
    None,
    One(Candidate<'n>),
    Many(Vec<String>),
}

fn find<'n>(name: &str, candidates: &[Candidate<'n>]) -> NameMatch<'n> {
    if let Some(exact) = candidates.iter().find(|candidate| candidate.name == name) {
        return NameMatch::One(*exact);
    }
    let mut matching = candidates.iter().filter(|candidate| candidate.name.starts_with(name));
    match (matching.next(), matching.next()) {
        (None, _) => NameMatch::None,
        (Some(one), None) => NameMatch::One(*one),
        (Some(one), Some(two)) => {
            let all = [one, two].into_iter().chain(matching);
            NameMatch::Many(all.map(|candidate| candidate.name.to_string()).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [Candidate<'static>; 9] = [
        Candidate { name: "parse-only", takes: TakesValue::Nothing },
        Candidate { name: "minimal", takes: TakesValue::Nothing },
        Candidate { name: "iodepth", takes: TakesValue::Value },
        Candidate { name: "iodepth_batch", takes: TakesValue::Value },
        Candidate { name: "numjobs", takes: TakesValue::Value },
        Candidate { name: "direct", takes: TakesValue::Value },
        Candidate { name: "thread", takes: TakesValue::Maybe },
        Candidate { name: "write_bw_log", takes: TakesValue::Name },
        Candidate { name: "section", takes: TakesValue::Value },
    ];

    /// `name=value`, `name`, a job file as it is, and `argument? why` for a bad one.
    fn parsed(arguments: &[&str]) -> Vec<String> {
        let arguments: Vec<String> = arguments.iter().map(|a| a.to_string()).collect();
        let mut words = Arguments::new(&arguments);
        std::iter::from_fn(|| words.step(&NAMES))
            .map(|step| match step {
                ParsedArgument::Option { name, value: Some(value), .. } => {
                    format!("{name}={value}")
                }
                ParsedArgument::Option { name, value: None, .. } => name,
                ParsedArgument::Operand { text, .. } => format!("<{text}>"),
                ParsedArgument::Bad { text, why, .. } => format!("{text}? {why:?}"),
            })
            .collect()
    }

    #[test]
    fn one_dash_does_as_well_as_two() {
        for word in ["-iodepth=4", "--iodepth=4"] {
            assert_eq!(parsed(&[word]), ["iodepth=4"]);
        }
        assert_eq!(parsed(&["-iodepth", "4", "--direct", "1"]), ["iodepth=4", "direct=1"]);
    }

    #[test]
    fn a_value_is_taken_from_the_next_argument_whatever_it_is() {
        assert_eq!(parsed(&["--direct", "--rw=write"]), ["direct=--rw=write"]);
        assert_eq!(parsed(&["--direct", "--"]), ["direct=--"]);
        assert_eq!(parsed(&["--direct="]), ["direct="]);
    }

    #[test]
    fn an_optional_value_is_never_the_next_argument() {
        assert_eq!(parsed(&["--thread", "1", "--thread=0"]), ["thread", "<1>", "thread=0"]);
    }

    #[test]
    fn a_name_is_taken_from_the_next_argument_unless_that_is_an_option() {
        assert_eq!(parsed(&["--write_bw_log", "x", "job"]), ["write_bw_log=x", "<job>"]);
        assert_eq!(parsed(&["--write_bw_log=x", "job"]), ["write_bw_log=x", "<job>"]);
        assert_eq!(parsed(&["--write_bw_log", "--thread"]), ["write_bw_log", "thread"]);
        assert_eq!(parsed(&["--write_bw_log"]), ["write_bw_log"]);
    }

    #[test]
    fn a_prefix_will_do_when_it_is_nobody_elses() {
        assert_eq!(
            parsed(&["--numjob=4", "-pars", "-n", "2"]),
            ["numjobs=4", "parse-only", "numjobs=2"]
        );
        assert_eq!(parsed(&["--iodepth=1"]), ["iodepth=1"]);
        assert_eq!(
            parsed(&["--iod=1"]),
            [r#"--iod=1? Ambiguous { names: ["iodepth", "iodepth_batch"] }"#]
        );
    }

    #[test]
    fn what_is_no_option_is_a_job_file_wherever_it_stands() {
        assert_eq!(
            parsed(&["a", "-minimal", "-", "--", "--b", "--"]),
            ["<a>", "minimal", "<->", "<--b>", "<-->"]
        );
        assert_eq!(parsed(&["--"]), [""; 0]);
        assert_eq!(parsed(&[""]), ["<>"]);
    }

    #[test]
    fn values_where_they_do_not_belong_are_refused() {
        assert_eq!(
            parsed(&["--parse-only=1"]),
            [r#"--parse-only=1? TakesNoValue { name: "parse-only" }"#]
        );
        assert_eq!(parsed(&["--iodepth"]), [r#"--iodepth? WantsValue { name: "iodepth" }"#]);
        assert_eq!(
            parsed(&["--nope", "-Z", "-\u{e9}"]),
            ["--nope? Unknown", "-Z? Unknown", "-\u{e9}? Unknown"]
        );
    }

    #[test]
    fn a_letter_alone_is_fios_short_option() {
        assert_eq!(
            parsed(&["-m", "-x", "job", "-c", "-cbs", "-v"]),
            ["minimal", "section=job", "cmdhelp", "cmdhelp=bs", "version"]
        );
        assert_eq!(
            parsed(&["-F", "json", "-b", "-w", "-V", "3", "-f", "-K", "d", "-O", "1s"]),
            [
                "output-format=json",
                "bandwidth-log",
                "warnings-fatal",
                "terse-version=3",
                "append-terse",
                "aux-path=d",
                "eta-interval=1s"
            ]
        );
        assert_eq!(parsed(&["-o"]), [r#"-o? WantsValue { name: "output" }"#]);
        assert_eq!(parsed(&["-vq"]), ["-vq? Unknown"]);
    }
}
