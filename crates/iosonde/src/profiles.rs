//! `--profile`: fio's built-in workloads, jobs that are made from a few options
//! of their own.

use crate::exit;
use crate::output::{print, print_error};
use crate::personality::Personality;
use iosonde_options::command_line::size;

/// An option of a profile.
struct ProfileOption {
    name: &'static str,
    doc: &'static str,
    /// Whether a value will do; the accepted ones in words.
    accepts: fn(&str) -> bool,
    accepted: &'static str,
}

/// The options of tiobench.
static TIOBENCH: [ProfileOption; 5] = [
    ProfileOption {
        name: "size",
        doc: "Size in MiB",
        accepts: is_count,
        accepted: "a number of MiB, at least 1",
    },
    ProfileOption {
        name: "block",
        doc: "Block size in bytes",
        accepts: |text| size(text).is_ok_and(|bytes| bytes > 0),
        accepted: "a number of bytes, such as 4096 or 4k",
    },
    ProfileOption {
        name: "numruns",
        doc: "Number of runs",
        accepts: is_count,
        accepted: "a number, at least 1",
    },
    ProfileOption {
        name: "dir",
        doc: "Test directory",
        accepts: |text| !text.is_empty(),
        accepted: "a directory",
    },
    ProfileOption {
        name: "threads",
        doc: "Number of Threads",
        accepts: is_count,
        accepted: "a number, at least 1",
    },
];

fn is_count(text: &str) -> bool {
    // More than 16 EiB are not meant.
    text.parse().is_ok_and(|count: u64| (1..1 << 44).contains(&count))
}

/// The command line with the jobs of the profile that it names in place of the
/// profile's options; as it is if it names none.
///
/// # Errors
/// The exit code, once help or what is wrong has been printed.
pub fn expand(personality: Personality, arguments: &[String]) -> Result<Vec<String>, u8> {
    let Some((name, rest)) = profile(arguments) else { return Ok(arguments.to_vec()) };
    let program = personality.program();
    let refuse = |words: String| {
        print_error(&format!("{program}: {words}"));
        exit::REFUSED
    };
    match name.as_str() {
        "tiobench" => {}
        "act" => {
            let words = "profile 'act' is not supported: write its jobs as a job file \
                         (rate_iops, time_based)";
            return Err(refuse(words.to_owned()));
        }
        _ => return Err(refuse(format!("profile '{name}' not found"))),
    }
    let (own, others) = own_options(&TIOBENCH, &rest);
    if let Some(help) = others.iter().find_map(|word| help_word(word)) {
        print(&option_help("tiobench", &TIOBENCH, help));
        return Err(exit::OK);
    }
    for (option, value) in &own {
        if !(option.accepts)(value) {
            let ProfileOption { name, accepted, .. } = option;
            return Err(refuse(match personality {
                Personality::Fio => format!("failed parsing {name}={value}"),
                Personality::Native => format!("--{name}: invalid value {value:?}: use {accepted}"),
            }));
        }
    }
    let value = |name: &str| {
        // Of one given twice the last.
        let given = own.iter().rev().find(|(option, _)| option.name == name);
        given.map(|(_, value)| value.as_str())
    };
    Ok(tiobench(value, others))
}

/// The profile that is named, and the words without its flag.
fn profile(arguments: &[String]) -> Option<(String, Vec<String>)> {
    let at = arguments.iter().position(|word| {
        let name = word.trim_start_matches('-').split('=').next();
        word.starts_with('-') && name == Some("profile")
    })?;
    let mut rest = arguments.to_vec();
    let word = rest.remove(at);
    let name = match word.split_once('=') {
        Some((_, name)) => name.to_owned(),
        None if at < rest.len() => rest.remove(at),
        None => String::new(),
    };
    Some((name, rest))
}

/// The options of the profile among `words`, with their values, and the others.
fn own_options<'a>(
    known: &'a [ProfileOption],
    words: &[String],
) -> (Vec<(&'a ProfileOption, String)>, Vec<String>) {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let is_named = |option: &&ProfileOption| name.trim_start_matches('-') == option.name;
        match known.iter().find(is_named).filter(|_| word.starts_with('-')) {
            Some(option) => {
                let value = value.or_else(|| words.next().cloned());
                own.push((option, value.unwrap_or_default()));
            }
            None => others.push(word.clone()),
        }
    }
    (own, others)
}

/// The option that `--cmdhelp` asks about; empty for all. None for other words.
fn help_word(word: &str) -> Option<&str> {
    match word.trim_start_matches('-').split_once('=') {
        Some(("cmdhelp", option)) => Some(option),
        None if word == "--cmdhelp" => Some(""),
        _ => None,
    }
}

/// What `--cmdhelp` prints, in fio's form.
fn option_help(profile: &str, options: &[ProfileOption], wanted: &str) -> String {
    if wanted.is_empty() || wanted == "all" {
        let lines =
            options.iter().map(|ProfileOption { name, doc, .. }| format!("{name:<24}: {doc}\n"));
        return lines.collect();
    }
    match options.iter().find(|option| option.name == wanted) {
        Some(ProfileOption { name, doc, accepted, .. }) => format!(
            "{name:>20}: {doc}\n{:>20}: {accepted}\n{:>20}: only for profile '{profile}'\n",
            "accepts", "valid"
        ),
        None => format!("No such command: {wanted}\n"),
    }
}

/// What holds for all jobs of tiobench.
const GLOBAL: &str = "--timeout=600 --group_reporting --thread --overwrite=1 \
                      --filename=.fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4 --ioengine=sync";

/// Its jobs, one after the other.
const JOBS: &str = "--name=seqwrite --rw=write --end_fsync=1 \
                    --name=randwrite --stonewall --rw=randwrite --end_fsync=1 \
                    --name=seqread --stonewall --rw=read \
                    --name=randread --stonewall --rw=randread";

/// fio's jobs of tiobench, with its options, which fio reads and then leaves
/// at their defaults. `others` hold for all jobs.
fn tiobench<'a>(value: impl Fn(&str) -> Option<&'a str>, others: Vec<String>) -> Vec<String> {
    let size = match value("size") {
        Some(mebibytes) => format!("{mebibytes}m"),
        None => "4*1024*$mb_memory".to_owned(),
    };
    let mut words = vec![
        "--buffered=0".to_owned(),
        format!("--size={size}"),
        format!("--bs={}", value("block").unwrap_or("4096")),
        format!("--loops={}", value("numruns").unwrap_or("1")),
        format!("--directory={}", value("dir").unwrap_or("./")),
        format!("--numjobs={}", value("threads").unwrap_or("1")),
    ];
    words.extend(GLOBAL.split_whitespace().map(str::to_owned));
    words.extend(others);
    words.extend(JOBS.split_whitespace().map(str::to_owned));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        expand(Personality::Native, &words).unwrap().join(" ")
    }

    #[test]
    fn a_line_without_a_profile_stays_as_it_is() {
        assert_eq!(expanded("--name=a --size=1m"), "--name=a --size=1m");
    }

    #[test]
    fn options_of_the_profile_become_those_of_its_jobs() {
        let line = expanded("--profile=tiobench --size=1 --block 8k --threads=2 --output=o");
        assert!(
            line.starts_with("--buffered=0 --size=1m --bs=8k --loops=1 --directory=./ "),
            "{line}"
        );
        assert!(line.contains(" --numjobs=2 "), "{line}");
        assert!(line.contains(" --output=o --name=seqwrite "), "{line}");
        assert_eq!(line.matches("--name=").count(), 4, "{line}");
        let default = expanded("--profile tiobench");
        assert!(default.contains("--size=4*1024*$mb_memory --bs=4096"), "{default}");
    }

    #[test]
    fn what_cannot_be_run_is_refused() {
        for line in ["--profile=bogus", "--profile=act", "--profile", "--profile=tiobench --size=0"]
        {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(expand(Personality::Native, &words), Err(exit::REFUSED), "{line}");
        }
    }
}
