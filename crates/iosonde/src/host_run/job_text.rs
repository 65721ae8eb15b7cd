//! The job's text for all hosts: the command line and the job files of rank 0, with
//! `{rank}` and `{host}` in them.

use super::place::RankPlace;
use super::{comparable, interleaved};
use iosonde_run::plan::RankShare;
use iosonde_session::Personality;
use iosonde_session::prepare::{LocalHost, job_files, parse_on};
use iosonde_spec::cli::flags::{FileSplit, HostFlags};
use iosonde_spec::cli::{Parsed, ParsedJob};
use iosonde_spec::text::expand::Host;
use iosonde_spec::text::include::JobFiles;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env::VarError;
use std::io;

/// A command line, the job files that it names, and the hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobText {
    pub(crate) arguments: Vec<String>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Names of the hosts by rank, where they are known.
    pub names: Vec<String>,
    /// What `{paths}` stands for, by host or rank: the table of `--hosts-table`.
    pub(crate) paths: BTreeMap<String, String>,
    /// How the line of this rank differs from that of rank 0, if it does.
    #[serde(skip)]
    pub differs: Option<String>,
    /// What variables of the environment stand for, where that is not the host's own.
    pub variables: Option<BTreeMap<String, String>>,
}

/// Variables that are remembered when they are asked for.
#[derive(Default)]
struct RecordedVariables(RefCell<BTreeMap<String, String>>);

impl Host for RecordedVariables {
    fn variable(&self, name: &str) -> Result<String, VarError> {
        let value = LocalHost.variable(name)?;
        self.0.borrow_mut().insert(name.to_owned(), value.clone());
        Ok(value)
    }
    fn processors(&self) -> u64 {
        LocalHost.processors()
    }
    fn page_bytes(&self) -> u64 {
        LocalHost.page_bytes()
    }
    fn memory_mib(&self) -> u64 {
        LocalHost.memory_mib()
    }
}

/// This host, with the variables of a text if it has some.
struct TextHost<'a>(&'a JobText);

impl Host for TextHost<'_> {
    fn variable(&self, name: &str) -> Result<String, VarError> {
        match &self.0.variables {
            Some(variables) => variables.get(name).cloned().ok_or(VarError::NotPresent),
            None => LocalHost.variable(name),
        }
    }
    fn processors(&self) -> u64 {
        LocalHost.processors()
    }
    fn page_bytes(&self) -> u64 {
        LocalHost.page_bytes()
    }
    fn memory_mib(&self) -> u64 {
        LocalHost.memory_mib()
    }
}

/// Job files that are remembered when they are read.
struct Recorded<'a> {
    from: &'a dyn JobFiles,
    read: RefCell<BTreeMap<String, Vec<u8>>>,
}

impl JobFiles for Recorded<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let bytes = self.from.read(path)?;
        self.read.borrow_mut().insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

impl JobText {
    /// Read the job files of a command line, those that they include too, and what variables
    /// stand for here; with what it means here.
    pub fn read_with_variables(
        personality: Personality,
        arguments: &[String],
    ) -> (JobText, Parsed) {
        let files = Recorded { from: job_files(personality), read: RefCell::default() };
        let variables = RecordedVariables::default();
        let parsed = parse_on(personality, arguments, &files, &variables);
        let text = JobText {
            arguments: arguments.to_vec(),
            files: files.read.into_inner(),
            variables: Some(variables.0.into_inner()),
            ..JobText::default()
        };
        (text, parsed)
    }

    /// With a job file that the host reads itself, with variables of its own.
    #[allow(dead_code)] // Of servers, which are on Unix systems.
    pub fn with_file_of_host(mut self, path: &str) -> JobText {
        self.arguments.push(path.to_owned());
        self.variables = None;
        self
    }

    /// The jobs as they are written, without a rank.
    #[allow(dead_code)] // Of servers, which are on Unix systems.
    pub fn parse_plain(&self, personality: Personality) -> Parsed {
        let files = Filled { text: self, files: job_files(personality), fill: &str::to_owned };
        parse_on(personality, &self.arguments, &files, &TextHost(self))
    }

    /// How the command line of this rank differs from that of rank 0, whose job all ranks run:
    /// its own would not be. Where its result goes is its own.
    pub fn differs_from(&self, first: &JobText) -> Option<String> {
        let words = |text: &JobText| -> Vec<String> {
            let is_common = |word: &&String| !word.starts_with("--results=");
            text.arguments.iter().filter(is_common).cloned().collect()
        };
        let (own, of_first) = (words(self), words(first));
        let apart = own.iter().zip(&of_first).take_while(|(own, first)| own == first).count();
        let word = |words: &[String]| {
            words.get(apart).map_or("nothing more".to_owned(), |word| format!("\"{word}\""))
        };
        (own != of_first).then(|| {
            format!(
                "its command line has {}, and that of rank 0 has {}: all ranks run the job of rank 0, so give them \
                 the same line; what differs between hosts goes by {{rank}} and {{host}}",
                word(&own),
                word(&of_first)
            )
        })
    }

    /// Read the table of `--hosts-table`: a line `HOST = PATHS` for each host, or `RANK = PATHS`.
    ///
    /// # Errors
    /// It cannot be read, or a line is not of that form.
    pub fn read_table(&mut self, file: &str) -> Result<(), String> {
        let refused = |why: String| format!("--hosts-table={file}: {why}");
        let table = std::fs::read_to_string(file).map_err(|error| refused(error.to_string()))?;
        for (number, line) in (1..).zip(table.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (host, paths) = line.split_once('=').ok_or_else(|| {
                refused(format!("line {number} is {line:?}: write HOST = PATH[:PATH...]"))
            })?;
            let (host, paths) = (host.trim().to_owned(), paths.trim().to_owned());
            if self.paths.insert(host, paths).is_some() {
                return Err(refused(format!("line {number}: the host has a line already")));
            }
        }
        Ok(())
    }

    /// What `{paths}` stands for on a host.
    ///
    /// # Errors
    /// It is in the text, and the table does not have the host.
    fn paths_of(&self, host: &str, rank: u32) -> Result<&str, String> {
        let found = self.paths.get(host).or_else(|| self.paths.get(&rank.to_string()));
        if let Some(paths) = found {
            return Ok(paths);
        }
        let in_files = || self.files.values().any(|text| contains(text, b"{paths}"));
        let is_used = self.arguments.iter().any(|word| word.contains("{paths}")) || in_files();
        if !is_used {
            Ok("")
        } else if self.paths.is_empty() {
            Err("{paths} stands for the paths of a host in --hosts-table=FILE, which is missing"
                .to_owned())
        } else {
            Err(format!("--hosts-table has no line for host {host} or rank {rank}"))
        }
    }

    /// The jobs as a host has them.
    fn parse(&self, personality: Personality, files: &dyn JobFiles, seat: Seat<'_>) -> Parsed {
        let fill = |text: &str| seat.fill(text);
        let arguments: Vec<String> = self.arguments.iter().map(|word| fill(word)).collect();
        let filled = Filled { text: self, files, fill: &fill };
        parse_on(personality, &arguments, &filled, &TextHost(self))
    }
}

/// What the words in braces stand for.
#[derive(Clone, Copy)]
struct Seat<'a> {
    rank: u32,
    ranks: u32,
    host: &'a str,
    paths: &'a str,
}

impl Seat<'_> {
    fn fill(&self, text: &str) -> String {
        text.replace("{rank}", &self.rank.to_string())
            .replace("{ranks}", &self.ranks.to_string())
            .replace("{host}", self.host)
            .replace("{paths}", self.paths)
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

/// The files of a text, filled in. One that is not among them is read here, as it was on rank
/// 0, to say why it cannot be.
struct Filled<'a> {
    text: &'a JobText,
    files: &'a dyn JobFiles,
    fill: &'a dyn Fn(&str) -> String,
}

impl JobFiles for Filled<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let bytes = match self.text.files.get(path) {
            Some(bytes) => bytes.clone(),
            None => self.files.read(path)?,
        };
        Ok(match std::str::from_utf8(&bytes) {
            Ok(text) => (self.fill)(text).into_bytes(),
            Err(_) => bytes,
        })
    }
}

/// The jobs of this rank, the part of files that is its own in each, and the job as all ranks
/// have it.
type OwnJobs = (Parsed, Vec<Option<RankShare>>, String);

/// Parse the text for this rank.
///
/// # Errors
/// The jobs cannot be reordered.
pub fn parse(
    personality: Personality,
    text: &JobText,
    files: &dyn JobFiles,
    place: &RankPlace,
    flags: &HostFlags,
) -> Result<OwnJobs, String> {
    let RankPlace { name, rank, ranks, .. } = place;
    let (rank, ranks) = (*rank, *ranks);
    let paths = text.paths_of(name, rank)?;
    let seat = Seat { rank, ranks, host: name, paths };
    let parse = |seat: Seat<'_>| text.parse(personality, files, seat);
    let job = comparable(&parse(Seat { rank: 0, host: "host", paths: "paths", ..seat }));
    let mut own = parse(seat);
    let shift = flags.shift_by();
    let other_rank = (u64::from(rank) + u64::from(shift)) % u64::from(ranks.max(1));
    let other_rank = other_rank as u32;
    let other_name = place.names.get(other_rank as usize);
    let knows_others = !place.names.is_empty() || shift == 0;
    let names_host = !knows_others && {
        let other = parse(Seat { host: "another host", paths: "another host's paths", ..seat });
        own.jobs.len() != other.jobs.len()
            || own.jobs.iter().zip(&other.jobs).any(|(own, other)| places(own) != places(other))
    };
    if names_host {
        return Err("--shift, --reorder: without --mpi the names of the other hosts are not known: use {rank} instead \
                    of {host} and {paths}"
            .to_owned());
    }
    let other_name = other_name.unwrap_or(name);
    let other_paths = if knows_others { text.paths_of(other_name, other_rank)? } else { paths };
    let other = parse(Seat { rank: other_rank, host: other_name, paths: other_paths, ..seat });
    // A name that is the same for any rank and host is one file of all.
    let elsewhere = parse(Seat {
        rank: ranks + 1,
        host: "another host",
        paths: "another host's paths",
        ..seat
    });
    let mut shares = Vec::new();
    for at in 0..own.jobs.len() {
        let is_shared =
            elsewhere.jobs.get(at).is_some_and(|other| places(other) == places(&own.jobs[at]));
        let word = own.jobs[at].spec.order.rw.get().word;
        let only_reads = !word.writes() && !word.trims();
        let part = match (shift > 0 && only_reads, other.jobs.get(at)) {
            (true, Some(job)) => {
                own.jobs[at] = job.clone();
                other_rank
            }
            _ => rank,
        };
        seed(&mut own.jobs[at], part);
        let is_interleaved = flags.split == Some(FileSplit::Interleaved);
        let share = RankShare { rank: part, ranks, is_interleaved };
        let is_split = flags.split.is_some() && is_shared;
        if is_split && is_interleaved {
            interleaved::apply(&mut own.jobs[at], share)?;
        }
        shares.push(is_split.then_some(share));
    }
    Ok((own, shares, job))
}

/// Each rank draws other offsets and contents; rank 0 those of a run by itself. Who reads what
/// another rank wrote draws as that one did.
fn seed(job: &mut ParsedJob, rank: u32) {
    if rank > 0 {
        let random = &mut job.spec.random;
        let own = random.randseed.get().wrapping_add(u64::from(rank) << 20);
        random.randseed.force(own, "rank");
    }
}

/// Where a job's files are, as far as its text says.
fn places(job: &ParsedJob) -> [Option<String>; 4] {
    ["filename", "directory", "filename_format", "name"].map(|option| match option {
        "name" => Some(job.name.clone()),
        option => job.spec.show(option),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const NO_FILES: &[(&str, &str)] = &[];

    fn of(rank: u32, ranks: u32, line: &str) -> OwnJobs {
        let text = JobText {
            arguments: line.split_whitespace().map(str::to_owned).collect(),
            ..JobText::default()
        };
        let sent = serde_json::to_string(&text).unwrap();
        let again: JobText = serde_json::from_str(&sent).unwrap();
        assert_eq!(again, text);
        let names = (0..ranks).map(|rank| format!("h{rank}")).collect();
        let place = RankPlace { name: format!("h{rank}"), rank, ranks, names };
        let files: HashMap<&str, &str> = NO_FILES.iter().copied().collect();
        let flags =
            JobText::read_with_variables(Personality::Native, &text.arguments).1.flags.hosts;
        parse(Personality::Native, &text, &files, &place, &flags).unwrap()
    }

    fn file(own: &OwnJobs, job: usize) -> String {
        own.0.jobs[job].spec.show("filename").unwrap_or_default()
    }

    #[test]
    fn names_have_the_rank_and_the_host_in_them_and_the_job_is_the_same() {
        let line = "--name=a --filename=/x/{host}.{rank} --size=1m";
        let (first, second) = (of(0, 2, line), of(1, 2, line));
        assert_eq!((file(&first, 0), file(&second, 0)), ("/x/h0.0".into(), "/x/h1.1".into()));
        assert_eq!(first.2, second.2);
        assert_ne!(
            first.0.jobs[0].spec.random.randseed.get(),
            second.0.jobs[0].spec.random.randseed.get()
        );
    }

    #[test]
    fn a_file_of_one_name_is_split_and_one_of_each_rank_is_not() {
        let line =
            "--split --name=a --filename=/x --size=1m --name=b --filename=/y{rank} --size=1m";
        let own = of(1, 3, line);
        assert_eq!(own.1, [Some(RankShare { rank: 1, ranks: 3, is_interleaved: false }), None]);
        assert_eq!(of(1, 3, "--name=a --filename=/x --size=1m").1, [None]);
    }

    #[test]
    fn interleaved_ranks_have_blocks_in_turns() {
        let line = "--split=interleaved --name=a --filename=/x --rw=write --bs=4k --size=40k";
        let shown = |rank| {
            let own = of(rank, 3, line);
            assert_eq!(own.1, [Some(RankShare { rank, ranks: 3, is_interleaved: true })]);
            ["zonesize", "zonerange", "offset", "size", "io_size"]
                .map(|option| own.0.jobs[0].spec.show(option).unwrap())
        };
        // Blocks 0, 3, 6 and 9; 1, 4 and 7.
        assert_eq!(shown(0), ["4096", "12288", "0", "40960", "16384"]);
        assert_eq!(shown(1), ["4096", "12288", "4096", "36864", "12288"]);
    }

    #[test]
    fn with_reorder_a_rank_reads_what_the_next_one_wrote() {
        let line = "--reorder --split --name=w --rw=write --filename=/x{host} --size=1m \
                    --name=r --rw=read --filename=/x{host} --size=1m \
                    --name=s --rw=randread --filename=/shared --size=1m";
        let last = of(2, 3, line);
        assert_eq!((file(&last, 0), file(&last, 1)), ("/xh2".into(), "/xh0".into()));
        assert_eq!(last.1[2], Some(RankShare { rank: 0, ranks: 3, is_interleaved: false }));
        // Any other rank's.
        let shifted = of(2, 3, &format!("--shift=2 {line}"));
        assert_eq!((file(&shifted, 0), file(&shifted, 1)), ("/xh2".into(), "/xh1".into()));
        let (writer, reader) = (of(1, 3, line), of(0, 3, line));
        let seed = |own: &OwnJobs, job: usize| *own.0.jobs[job].spec.random.randseed.get();
        assert_eq!(seed(&writer, 0), seed(&reader, 1));
    }

    #[test]
    fn each_host_has_its_paths_of_the_table_and_a_strided_part_by_the_number_of_ranks() {
        let mut text = JobText {
            arguments: [
                "--name=a",
                "--filename={paths}",
                "--offset=({rank}*4096)",
                "--size=({ranks}*8192)",
            ]
            .map(str::to_owned)
            .to_vec(),
            ..JobText::default()
        };
        let folder = iosonde_testing::Folder::temporary("hosts-table");
        let table = folder.write("table", "h0 = /dev/a:/dev/b # two\n\n1 = /dev/c\n");
        text.read_table(&table).unwrap();
        let names: Vec<String> = (0..3).map(|rank| format!("h{rank}")).collect();
        let files: HashMap<&str, &str> = NO_FILES.iter().copied().collect();
        let of = |rank: u32| {
            let place =
                RankPlace { name: format!("h{rank}"), rank, ranks: 3, names: names.clone() };
            let flags = HostFlags::default();
            parse(Personality::Native, &text, &files, &place, &flags)
        };
        assert_eq!(file(&of(0).unwrap(), 0), "/dev/a:/dev/b");
        let second = of(1).unwrap();
        assert_eq!(file(&second, 0), "/dev/c");
        assert_eq!(second.0.jobs[0].spec.show("offset").as_deref(), Some("4096"));
        assert_eq!(second.0.jobs[0].spec.show("size").as_deref(), Some("24576"));
        let why = of(2).map(drop).unwrap_err();
        assert!(why.contains("no line for host h2 or rank 2"), "{why}");
    }
}
