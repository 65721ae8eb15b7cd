//! The command line of `iosonde write-cache`, and its help.

use iosonde_direct::WriteCache;
use std::path::PathBuf;

/// What `--help` prints.
pub const HELP: &str = "\
usage: iosonde write-cache [--json] PATH|DEVICE
       iosonde write-cache DEVICE back|through --set [--json]
       iosonde write-cache DEVICE --around [--rounds=N] [--json] JOBFILE|OPTIONS...

What the kernel takes the write caches below a path for. Write back: the device
may keep what it is given in memory that is lost with the power, so an fsync
ends in a flush. Write through: it does not, and no flush is ever sent.

  back, through   the other view: what it would mean; --set takes it, as root
  --set           change the kernel's view, never the device's own setting
  --around        run a job under both, one after the other, as root, then put
                  the view back as it was; one table. All that follows is a job
                  file, or a job's options (--name=... --filename=...)
  --rounds=N      with --around: so many runs of each (1)
  --json          for programs; docs/tools.md has the keys
  --help          this
";

/// Rounds that are taken; more is a slip of the finger.
const ROUNDS_MOST: u32 = 1000;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Look only.
    Show,
    /// Say what a change would mean.
    WouldSet(WriteCache),
    /// Change the view.
    Set(WriteCache),
    /// Run a job under both.
    Around {
        /// How many times under each.
        rounds: u32,
        /// The job, as our own command line has it.
        job: Vec<String>,
    },
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Of what.
    pub path: PathBuf,
    /// What to do.
    pub act: Act,
    /// For programs.
    pub json: bool,
}

/// A command line as it was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// `--help`.
    Help,
    /// Something to do.
    Do(Ask),
}

/// The words of a command line, sorted.
#[derive(Default)]
struct Words {
    places: Vec<String>,
    job: Option<Vec<String>>,
    rounds: Option<u32>,
    set: bool,
    json: bool,
}

/// Read the words after `write-cache`.
///
/// # Errors
/// What is wrong, for a person.
pub fn read(arguments: &[String]) -> Result<Wish, String> {
    let mut words = Words::default();
    let mut all = arguments.iter();
    let mut plain = false;
    while let Some(word) = all.next() {
        match (word.as_str(), &mut words.job) {
            // Behind a second `--` all is the job's or a path.
            ("--", _) if !plain => plain = true,
            (word, Some(job)) if plain => job.push(word.to_owned()),
            (word, None) if plain => words.places.push(word.to_owned()),
            ("--json", _) => words.json = true,
            ("--set", _) => words.set = true,
            ("--rounds", _) => words.rounds = Some(rounds(all.next().map(String::as_str))?),
            (word, _) if word.starts_with("--rounds=") => {
                words.rounds = Some(rounds(word.strip_prefix("--rounds="))?);
            }
            ("--help" | "-h", None) => return Ok(Wish::Help),
            ("--around", job) => *job = Some(job.take().unwrap_or_default()),
            (word, None) if word.starts_with("--around=") => {
                words.job = word.strip_prefix("--around=").map(|file| vec![file.to_owned()]);
            }
            (word, Some(job)) => job.push(word.to_owned()),
            (word, None) if word.starts_with('-') && word.len() > 1 => {
                return Err(format!("there is no option {word}; see iosonde write-cache --help"));
            }
            (word, None) => words.places.push(word.to_owned()),
        }
    }
    words.mean().map(Wish::Do)
}

fn rounds(text: Option<&str>) -> Result<u32, String> {
    let count = text.and_then(|text| text.parse().ok());
    count.filter(|count| (1..=ROUNDS_MOST).contains(count)).ok_or_else(|| {
        let text = text.unwrap_or_default();
        format!("--rounds={text}: a number from 1 to {ROUNDS_MOST} is needed")
    })
}

impl Words {
    fn mean(self) -> Result<Ask, String> {
        let mut places = self.places.into_iter();
        let Some(path) = places.next() else {
            return Err("name a device, or a path; see iosonde write-cache --help".into());
        };
        let view = places.next().map(|word| view(&word)).transpose()?;
        if let Some(more) = places.next() {
            return Err(format!("{more}: one device and one view at a time"));
        }
        if self.rounds.is_some() && self.job.is_none() {
            return Err("--rounds is of --around, which is not given".into());
        }
        let act = match (view, self.set, self.job) {
            (Some(_), _, Some(_)) => {
                return Err("--around takes both views by itself: leave back or through out".into());
            }
            (_, true, Some(_)) => {
                return Err("--around sets and restores by itself: leave --set out".into());
            }
            (_, _, Some(job)) if job.is_empty() => {
                return Err("--around needs a job file, or a job's options, behind it".into());
            }
            (None, false, Some(job)) => Act::Around { rounds: self.rounds.unwrap_or(1), job },
            (None, true, None) => return Err("--set what: back or through?".into()),
            (Some(view), true, None) => Act::Set(view),
            (Some(view), false, None) => Act::WouldSet(view),
            (None, false, None) => Act::Show,
        };
        Ok(Ask { path: PathBuf::from(path), act, json: self.json })
    }
}

fn view(word: &str) -> Result<WriteCache, String> {
    match word {
        "back" | "write back" => Ok(WriteCache::Back),
        "through" | "write through" => Ok(WriteCache::Through),
        word => Err(format!("{word}: it must be back or through, and one device at a time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<Wish, String> {
        read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn act(line: &str) -> Act {
        match asked(line) {
            Ok(Wish::Do(ask)) => ask.act,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn what_follows_around_is_the_job_but_for_our_own_words() {
        let job = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let around = |rounds, words| Act::Around { rounds, job: job(words) };
        assert_eq!(act("d --around j.fio"), around(1, "j.fio"));
        assert_eq!(act("d --around=j.fio --json"), around(1, "j.fio"));
        assert_eq!(
            act("x --around --name=a --bs=4k --rounds=3 -- d"),
            around(3, "--name=a --bs=4k d")
        );
        assert_eq!(act("d --rounds 2 --around -- --json"), around(2, "--json"));
    }

    #[test]
    fn a_view_is_taken_only_with_set() {
        assert_eq!(act("d"), Act::Show);
        assert_eq!(act("d back"), Act::WouldSet(WriteCache::Back));
        assert_eq!(act("--set d through"), Act::Set(WriteCache::Through));
        assert_eq!(asked("--help"), Ok(Wish::Help));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, why) in [
            ("", "name a device"),
            ("d sideways", "sideways: it must be back or through"),
            ("d back e", "e: one device"),
            ("d --set", "--set what"),
            ("d --sett", "no option --sett"),
            ("d --around", "needs a job file"),
            ("d back --around j", "takes both"),
            ("d --around j --set", "leave --set out"),
            ("d --rounds=2", "--rounds is of --around"),
            ("d --around j --rounds=0", "from 1 to 1000"),
            ("d --around j --rounds", "from 1 to 1000"),
            ("d --around j --rounds=99999999999999999999", "from 1 to 1000"),
        ] {
            let said = asked(line).unwrap_err();
            assert!(said.contains(why), "{line}: {said}");
        }
    }
}
