//! A run that is one of several hosts': by MPI (`--mpi`), or at a moment (`--start-at`)
//! with results that `iosonde merge` adds up; described in docs/hosts.md.

mod finish;
mod interleaved;
pub mod job_text;
pub mod place;
pub mod stamp;
pub mod stop_signals;

use crate::job_run::{BesideRun, HostPart, execute};
use crate::output::ReportOutput;
use crate::run_jobs::{self, Help};
use crate::{debug, profiles, remote};
use iosonde_base::exit;
use iosonde_command::new_file;
use iosonde_hosts::group::{HostGroup, Limits, Member};
use iosonde_hosts::mpi::Mpi;
use iosonde_hosts::start_at::StartAt;
use iosonde_report::Report;
use iosonde_report::hosts::HostStamp;
use iosonde_run::conductor::{Peers, RunOutcome};
use iosonde_run::job::Plan;
use iosonde_session::Personality;
use iosonde_session::prepare::{job_files, prepare_shared};
use iosonde_session::settings;
use iosonde_spec::cli::flag_table;
use iosonde_spec::cli::flags::{FlagGroup, Flags, LiveFlag, ShowWhen};
use iosonde_sys::standard_error::print_error;
use job_text::JobText;
use place::RankPlace;
use std::path::PathBuf;
use std::time::Duration;
use stop_signals::StopSignals;

/// This host's part in a run of several.
pub struct HostRun {
    personality: Personality,
    flags: Flags,
    place: RankPlace,
    link: HostLink,
    /// Where its result goes.
    file: PathBuf,
    /// The job as all hosts have it.
    job: String,
    code: u8,
}

/// What connects it with the others.
enum HostLink {
    /// With the signals that are heard while it waits.
    Mpi(Box<HostGroup<Mpi>>, StopSignals),
    StartAt(StartAt),
    /// Nothing: it starts at once.
    Alone,
}

/// Whether a command line is for one of several hosts.
pub fn is_asked_for(arguments: &[String]) -> bool {
    let name = |word: &String| {
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
        name.split('=').next().map(str::to_owned)
    };
    let of_hosts = |name: String| {
        let flag = flag_table::find(&[flag_table::FIO, flag_table::LEDGER], &name);
        // fio's letters for a client and a server.
        flag.is_some_and(|flag| flag.group == FlagGroup::Hosts) || name.starts_with(['C', 'S'])
    };
    arguments.iter().filter_map(name).any(of_hosts)
}

/// Run the jobs of a command line as one of several hosts; the exit code.
pub fn run(personality: Personality, arguments: &[String], help: Help) -> u8 {
    let expanded = match profiles::expand(personality, arguments) {
        Ok(expanded) => expanded,
        Err(code) => return code,
    };
    let (text, parsed) = JobText::read_with_variables(personality, &expanded.arguments);
    let (text, flags) = (JobText { variables: None, ..text }, parsed.flags.clone());
    let is_remote = flags.hosts.server.is_some() || !flags.hosts.clients.is_empty();
    if is_remote && flags.info.is_none() {
        return remote::run(personality, &expanded.arguments, &parsed);
    }
    if flags.info.is_some()
        || flags.run.parse_only
        || flags.run.showcmd
        || !flags.hosts.is_one_of_several()
    {
        return run_jobs::run(personality, arguments, help);
    }
    let refuse = |why: String| {
        print_error(&format!("{}: {why}", personality.program()));
        exit::REFUSED
    };
    if expanded.judges_hours {
        return refuse("--profile=act judges one host: run it on each by itself".to_owned());
    }
    let begun = if flags.hosts.mpi {
        begin_mpi(personality, text, &flags)
    } else {
        begin_apart(personality, text, &flags)
    };
    let (mut host, text) = match begun {
        Ok(begun) => begun,
        Err(why) => return refuse(why),
    };
    let code = match host.prepare_and_run(&text, help) {
        Ok(code) => code,
        Err(why) => {
            // Each rank knows; one says it.
            if host.speaks() { refuse(why) } else { exit::REFUSED }
        }
    };
    host.end(code)
}

/// Ranks tell their counts so often where a line of them is asked for.
const BEAT_FOR_A_LINE: Duration = Duration::from_secs(1);

/// Start MPI, learn who is there, and take the job from rank 0.
fn begin_mpi(
    personality: Personality,
    mut text: JobText,
    flags: &Flags,
) -> Result<(HostRun, JobText), String> {
    if flags.hosts.rank.is_some() || flags.hosts.ranks.is_some() || flags.hosts.start_at.is_some() {
        return Err("--mpi: the launcher gives ranks and the start; leave out --rank, --ranks and --start-at"
            .to_owned());
    }
    let mpi = Mpi::begin().map_err(|why| format!("--mpi: {why}"))?;
    let mut limits = Limits::default();
    if flags.live.eta == ShowWhen::Always
        || !matches!(flags.live.show, LiveFlag::Auto | LiveFlag::No)
    {
        limits.beat_every = BEAT_FOR_A_LINE;
    }
    if let Some(ms) = flags.hosts.silence_ms {
        limits.silence = Duration::from_millis(ms);
        limits.beat_every = limits.beat_every.min(limits.silence / 4);
    }
    let member = Member::here();
    let mut group = HostGroup::begin(mpi, &member, limits)?;
    let own = match group.rank() {
        0 => {
            text.names = group.hosts();
            if let Some(Err(why)) = flags.hosts.table.as_ref().map(|file| text.read_table(file)) {
                group.stop_all(&why);
                return Err(why);
            }
            Some(serde_json::to_string(&text).map_err(|why| format!("--mpi: {why}"))?)
        }
        _ => None,
    };
    let shared = group.share(own)?;
    let mut shared: JobText = serde_json::from_str(&shared)
        .map_err(|why| format!("--mpi: what rank 0 sent is no job: {why}"))?;
    shared.differs = text.differs_from(&shared);
    let text = shared;
    let place = RankPlace {
        name: member.name,
        rank: group.rank() as u32,
        ranks: group.ranks() as u32,
        names: text.names.clone(),
    };
    let stopped = (place.rank == 0).then(|| words_when_stopped(personality, flags));
    let link = HostLink::Mpi(Box::new(group), StopSignals::listen(stopped)?);
    Ok((HostRun::new(personality, flags, place, link), text))
}

/// What rank 0 says at the first signal: launchers may kill it before it has the results of all.
fn words_when_stopped(personality: Personality, flags: &Flags) -> String {
    let file = result_file(flags, "RANK").display().to_string();
    format!(
        "{}: each rank writes its {file} now; if the launcher leaves no time for the report of all: iosonde merge {}",
        personality.program(),
        file.replace("RANK", "*")
    )
}

/// Where the result of a rank goes.
fn result_file(flags: &Flags, rank: &str) -> PathBuf {
    let directory = flags.hosts.results.clone().unwrap_or_default();
    PathBuf::from(directory).join(format!("result.{rank}.json"))
}

/// A run that no other host hears of while it runs.
fn begin_apart(
    personality: Personality,
    mut text: JobText,
    flags: &Flags,
) -> Result<(HostRun, JobText), String> {
    if let Some(file) = &flags.hosts.table {
        text.read_table(file)?;
    }
    let place = RankPlace::of(&flags.hosts, |name| std::env::var(name).ok())?;
    let link = match &flags.hosts.start_at {
        Some(text) => HostLink::StartAt(StartAt::parse(text)?),
        None => HostLink::Alone,
    };
    Ok((HostRun::new(personality, flags, place, link), text))
}

impl HostRun {
    fn new(personality: Personality, flags: &Flags, place: RankPlace, link: HostLink) -> HostRun {
        let file = result_file(flags, &place.rank.to_string());
        let (flags, job) = (flags.clone(), String::new());
        HostRun { personality, flags, place, link, file, job, code: exit::OK }
    }

    /// Whether what all hosts know is printed here.
    fn speaks(&self) -> bool {
        self.place.rank == 0 || !matches!(self.link, HostLink::Mpi(..))
    }

    fn prepare_and_run(&mut self, text: &JobText, help: Help) -> Result<u8, String> {
        let files = job_files(self.personality);
        let own = job_text::parse(self.personality, text, files, &self.place, &self.flags.hosts);
        let (mut parsed, shares, job) = match own {
            Ok(own) => own,
            Err(why) => return Err(self.agree("", Err(why.clone())).err().unwrap_or(why)),
        };
        self.job = job;
        if let Some(differs) = &text.differs {
            let why = Err(differs.clone());
            return self.agree(&self.job.clone(), why).map(|()| exit::REFUSED);
        }
        match self.speaks() {
            false => be_silent(&mut parsed.flags),
            true if self.flags.hosts.mpi => print_for_a_launcher(&mut parsed.flags),
            true => {}
        }
        self.flags = parsed.flags.clone();
        let options = debug::parse(&parsed);
        let prepared = prepare_shared(self.personality, parsed, shares);
        let checked = new_file::check(&self.file, self.flags.output.force);
        let state = match (&prepared, checked) {
            (Err(refused), _) => Err(refused.reasons.join("; ")),
            (Ok(prepared), _) if prepared.plan.jobs.is_empty() => Err("no job".to_owned()),
            (Ok(_), checked) => checked,
        };
        let job = self.job.clone();
        let agreed = self.agree(&job, state);
        match (prepared, agreed) {
            (Err(refused), Err(_)) if self.speaks() => {
                refused.reasons.iter().for_each(|line| print_error(line));
                Ok(refused.code)
            }
            (Ok(prepared), Err(_)) if prepared.plan.jobs.is_empty() && self.speaks() => {
                Ok(run_jobs::refuse_no_jobs(self.personality, help))
            }
            (_, Err(why)) => Err(why),
            (Err(refused), Ok(())) => Ok(refused.code),
            (Ok(prepared), Ok(())) => {
                let (personality, host) = (self.personality, Some(self as &mut dyn HostPart));
                let beside = BesideRun { host, ..BesideRun::default() };
                Ok(execute(personality, prepared, &options, beside))
            }
        }
    }

    /// Whether all hosts can run the job, and it is the same.
    fn agree(&mut self, job: &str, own: Result<(), String>) -> Result<(), String> {
        match &mut self.link {
            HostLink::Mpi(group, signals) => group.agree(job, own, &mut || signals.before_start()),
            HostLink::StartAt(_) | HostLink::Alone => own,
        }
    }

    /// The end of the connection.
    fn end(self, code: u8) -> u8 {
        match self.link {
            HostLink::Mpi(group, _) => {
                let within = group.limits().at_ends(group.ranks());
                let (mpi, is_whole) = group.into_transport();
                mpi.end(is_whole, within, code);
            }
            HostLink::StartAt(_) | HostLink::Alone => {}
        }
        code
    }
}

impl HostPart for HostRun {
    fn peers(&mut self) -> Option<&mut dyn Peers> {
        match &mut self.link {
            HostLink::Mpi(group, _) => Some(group.as_mut()),
            HostLink::StartAt(start) => Some(start),
            HostLink::Alone => None,
        }
    }

    fn stamp(&self, plan: &Plan, ended: &RunOutcome) -> HostStamp {
        let start = match self.link {
            HostLink::Mpi(..) => "mpi",
            HostLink::StartAt(_) => "time",
            HostLink::Alone => "alone",
        };
        stamp::of(&self.place, start, &self.job, plan, ended)
    }

    fn report(
        &mut self,
        report: Report,
        output: &mut ReportOutput,
    ) -> Result<Option<Report>, String> {
        finish::report(self, report, output)
    }

    fn code(&self) -> u8 {
        self.code
    }
}

/// Rank 0 prints for all.
fn be_silent(flags: &mut Flags) {
    flags.output.file = Some("/dev/null".to_owned());
    flags.output.html = None;
    (flags.live.show, flags.live.eta) = (LiveFlag::No, ShowWhen::Never);
    (flags.live.metrics_listen, flags.live.metrics_file) = (None, None);
}

/// A line is shown where it is asked for: what looks like a terminal may be the launcher's. Open
/// MPI gives each rank one, wherever its own output goes.
fn print_for_a_launcher(flags: &mut Flags) {
    if flags.output.color == ShowWhen::Auto {
        flags.output.color = ShowWhen::Never;
    }
    if flags.live.show == LiveFlag::Auto && flags.live.eta == ShowWhen::Auto {
        (flags.live.show, flags.live.eta) = (LiveFlag::No, ShowWhen::Never);
    }
}

/// The options of the job, for comparison: as the host of rank 0 has them.
pub fn comparable(parsed: &iosonde_spec::cli::Parsed) -> String {
    settings::fingerprint(parsed)
}
