//! `--profile`: fio's built-in workloads, jobs that are made from a few options
//! of their own.

mod act;
mod act_hours;
mod tiobench;

pub use act_hours::ActHours;

use iosonde_base::exit;
use iosonde_session::Personality;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;

/// An option of a profile.
struct ProfileOption {
    name: &'static str,
    doc: &'static str,
    /// Whether it needs one; else it is a switch, which may have one after `=`.
    takes_value: bool,
    /// Whether a value will do; the accepted ones in words.
    accepts: fn(&str) -> bool,
    accepted: &'static str,
}

fn is_count(text: &str) -> bool {
    // More than 16 EiB are not meant.
    text.parse().is_ok_and(|count: u64| (1..1 << 44).contains(&count))
}

/// A built-in workload.
struct BuiltIn {
    name: &'static str,
    options: &'static [ProfileOption],
}

static PROFILES: [BuiltIn; 2] = [
    BuiltIn { name: "tiobench", options: &tiobench::OPTIONS },
    BuiltIn { name: "act", options: &act::OPTIONS },
];

/// A command line in which a profile has become jobs.
#[derive(Debug, PartialEq, Eq)]
pub struct Expanded {
    /// The line.
    pub arguments: Vec<String>,
    /// Whether the reads of each hour are to be judged as act does.
    pub judges_hours: bool,
}

/// The command line with the jobs of the profile that it names in place of the
/// profile's options; as it is if it names none.
///
/// # Errors
/// The exit code, once help or what is wrong has been printed.
pub fn expand(personality: Personality, arguments: &[String]) -> Result<Expanded, u8> {
    let Some((name, rest)) = profile(arguments) else {
        return Ok(Expanded { arguments: arguments.to_vec(), judges_hours: false });
    };
    let program = personality.program();
    let refuse = |words: String| {
        print_error(&format!("{program}: {words}"));
        exit::REFUSED
    };
    let Some(BuiltIn { name, options }) = PROFILES.iter().find(|known| known.name == name) else {
        return Err(refuse(format!("profile '{name}' not found")));
    };
    let (own, others) = own_options(options, &rest);
    if let Some(help) = others.iter().find_map(|word| help_word(word)) {
        print(&option_help(name, options, help));
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
    if *name == "tiobench" {
        return Ok(Expanded { arguments: tiobench::jobs(value, others), judges_hours: false });
    }
    let jobs = act::jobs(value, others).map_err(|words| {
        print_error(words);
        refuse(format!("profile {name} prep failed"))
    })?;
    Ok(Expanded { arguments: jobs, judges_hours: !act::is_on(value("prep")) })
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
            Some(option) if option.takes_value => {
                let value = value.or_else(|| words.next().cloned());
                own.push((option, value.unwrap_or_default()));
            }
            Some(option) => own.push((option, value.unwrap_or_else(|| "1".to_owned()))),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        expand(Personality::Native, &words).unwrap().arguments.join(" ")
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
        let mebibytes = 4 * (iosonde_sys::memory::total_bytes() >> 20);
        assert!(default.contains(&format!("--size={mebibytes}m --bs=4096")), "{default}");
    }

    /// What fio 3.33 lists with `--debug=parse` for the same lines, and the duration that was
    /// requested.
    #[test]
    fn act_reads_and_writes_each_device_at_its_rates() {
        let line = "--profile=act --device-names=f,/dev/g --load=4 --threads-per-queue=3 \
                    --test-duration=90m";
        assert_eq!(
            expanded(line),
            "--direct=1 --ioengine=sync --random_generator=lfsr --group_reporting=1 --thread \
             --runtime=90m --time_based=1 \
             --name=act-read-f --filename=f --rw=randread --numjobs=3 --rate_iops=2666 --bs=1536 \
             --name=act-write-f --filename=f --rw=randwrite --rate_iops=48 --bs=131072 \
             --name=act-read-/dev/g --filename=/dev/g --rw=randread --numjobs=3 --rate_iops=2666 \
             --bs=1536 \
             --name=act-write-/dev/g --filename=/dev/g --rw=randwrite --rate_iops=48 --bs=131072"
        );
    }

    #[test]
    fn act_prepares_with_zeroes_and_then_random_data() {
        for line in
            ["--profile=act --prep --device-names=c:d", "--profile=act --prep=1 --device-names c:d"]
        {
            assert_eq!(
                expanded(line),
                "--direct=1 --ioengine=sync --random_generator=lfsr --group_reporting=1 --thread \
                 --name=act-prep-zeroes-c:d --filename=c\\:d --bs=1048576 --zero_buffers --rw=write \
                 --name=act-prep-salt-c:d --stonewall --filename=c\\:d --bs=4096 --ioengine=libaio \
                 --iodepth=64 --rw=randwrite"
            );
        }
    }

    #[test]
    fn what_cannot_be_run_is_refused() {
        for line in [
            "--profile=bogus",
            "--profile=act",
            "--profile",
            "--profile=tiobench --size=0",
            "--profile=act --device-names=f --load=0",
            "--profile=act --device-names=f --test-duration=soon",
            "--profile=act --device-names=f --large-block-op-kbytes=100",
        ] {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(expand(Personality::Native, &words), Err(exit::REFUSED), "{line}");
        }
    }
}
