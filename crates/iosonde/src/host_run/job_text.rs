//! The job's text for all hosts: the command line and the job files of rank 0, with
//! `{rank}` and `{host}` in them.

use super::comparable;
use super::place::RankPlace;
use iosonde_run::plan::RankShare;
use iosonde_session::Personality;
use iosonde_session::prepare::{job_files, parse_with};
use iosonde_spec::cli::flags::{Flags, HostFlags};
use iosonde_spec::cli::{Parsed, ParsedJob};
use iosonde_spec::text::include::JobFiles;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

/// A command line, the job files that it names, and the hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobText {
    arguments: Vec<String>,
    files: BTreeMap<String, Vec<u8>>,
    /// Names of the hosts by rank, where they are known.
    pub names: Vec<String>,
    /// How the line of this rank differs from that of rank 0, if it does.
    #[serde(skip)]
    pub differs: Option<String>,
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
    /// Read the job files of a command line, those that they include too; with its flags.
    pub fn read(personality: Personality, arguments: &[String]) -> (JobText, Flags) {
        let files = Recorded { from: job_files(personality), read: RefCell::default() };
        // What is wrong is found again, and reported, when the text is parsed with its rank.
        let parsed = parse_with(personality, arguments, &files);
        let text = JobText {
            arguments: arguments.to_vec(),
            files: files.read.into_inner(),
            ..JobText::default()
        };
        (text, parsed.flags)
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

    /// The jobs as a host of that rank and name has them.
    fn parse(
        &self,
        personality: Personality,
        files: &dyn JobFiles,
        (rank, host): (u32, &str),
    ) -> Parsed {
        let fill = |text: &str| text.replace("{rank}", &rank.to_string()).replace("{host}", host);
        let arguments: Vec<String> = self.arguments.iter().map(|word| fill(word)).collect();
        let filled = Filled { text: self, files, fill: &fill };
        parse_with(personality, &arguments, &filled)
    }
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
    let as_first = text.parse(personality, files, (0, "host"));
    let job = comparable(&as_first);
    let mut own = text.parse(personality, files, (*rank, name));
    let next_rank = (rank + 1) % ranks;
    let next_name = place.names.get(next_rank as usize).cloned();
    let names_host = own.jobs.len() == as_first.jobs.len() && {
        let other = text.parse(personality, files, (*rank, "another host"));
        own.jobs.iter().zip(&other.jobs).any(|(own, other)| places(own) != places(other))
    };
    if flags.reorder && names_host && next_name.is_none() {
        return Err("--reorder: without --mpi the names of the other hosts are not known: use {rank} instead of {host}"
            .to_owned());
    }
    let next_host = next_name.unwrap_or_else(|| name.clone());
    let next = text.parse(personality, files, (next_rank, &next_host));
    // A name that is the same for any rank and host is one file of all.
    let elsewhere = text.parse(personality, files, (ranks + 1, "another host"));
    let mut shares = Vec::new();
    for at in 0..own.jobs.len() {
        let is_shared =
            elsewhere.jobs.get(at).is_some_and(|other| places(other) == places(&own.jobs[at]));
        let word = own.jobs[at].spec.order.rw.get().word;
        let only_reads = !word.writes() && !word.trims();
        let part = match (flags.reorder && only_reads, next.jobs.get(at)) {
            (true, Some(job)) => {
                own.jobs[at] = job.clone();
                next_rank
            }
            _ => *rank,
        };
        seed(&mut own.jobs[at], part);
        shares.push((flags.split && is_shared).then_some(RankShare { rank: part, ranks: *ranks }));
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
        let flags = JobText::parse(&text, Personality::Native, &files, (0, "")).flags.hosts;
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
        assert_eq!(own.1, [Some(RankShare { rank: 1, ranks: 3 }), None]);
        assert_eq!(of(1, 3, "--name=a --filename=/x --size=1m").1, [None]);
    }

    #[test]
    fn with_reorder_a_rank_reads_what_the_next_one_wrote() {
        let line = "--reorder --split --name=w --rw=write --filename=/x{host} --size=1m \
                    --name=r --rw=read --filename=/x{host} --size=1m \
                    --name=s --rw=randread --filename=/shared --size=1m";
        let last = of(2, 3, line);
        assert_eq!((file(&last, 0), file(&last, 1)), ("/xh2".into(), "/xh0".into()));
        assert_eq!(last.1[2], Some(RankShare { rank: 0, ranks: 3 }));
        let (writer, reader) = (of(1, 3, line), of(0, 3, line));
        let seed = |own: &OwnJobs, job: usize| *own.0.jobs[job].spec.random.randseed.get();
        assert_eq!(seed(&writer, 0), seed(&reader, 1));
    }
}
