//! A server's process for one client: what it is sent is run, and nothing else.

use super::returned_files::ReturnedFiles;
use super::session_output::{SessionOutput, close_input};
use crate::debug;
use crate::host_run::job_text::{self, JobText};
use crate::host_run::place::RankPlace;
use crate::host_run::{comparable, stamp};
use crate::job_run::{BesideRun, HostPart, execute};
use crate::output::ReportOutput;
use crate::remote::order::{Order, ServerOutcome};
use crate::report_formats::text;
use iosonde_base::exit;
use iosonde_hosts::group::{HostGroup, Member};
use iosonde_hosts::member;
use iosonde_hosts::remote::ServerLink;
use iosonde_hosts::wire;
use iosonde_report::Report;
use iosonde_report::formats::{JsonOptions, fio_json_plus};
use iosonde_report::hosts::HostStamp;
use iosonde_run::conductor::{Peers, RunOutcome};
use iosonde_run::job::Plan;
use iosonde_run::plan::RankShare;
use iosonde_session::Personality;
use iosonde_session::prepare::{PrepareError, Prepared, job_files, prepare_shared};
use iosonde_spec::cli::Parsed;
use iosonde_spec::cli::flags::{
    Flags, HostFlags, JobFlags, LiveFlag, LiveFlags, OutputFlags, OutputFormat, RunFlags, ShowWhen,
};
use iosonde_sys::standard_error::print_error;
use std::io::{self, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// The first argument of such a process; its standard input is the connection.
pub const CONNECTION: &str = "--server-connection";
/// What has come must reach the client before this process ends.
const LEAVE_WITHIN: Duration = Duration::from_secs(10);

/// Run what the client sends; the exit code.
///
/// # Errors
/// The client may run nothing here, or sends no jobs: a sentence.
pub fn run(personality: Personality, flags: &Flags) -> Result<u8, String> {
    // Where the server is killed, its jobs end as by a signal.
    iosonde_sys::process::end_with_parent();
    let secret = crate::remote::secret(flags)?;
    let failed = |error: io::Error| format!("--server: {error}");
    let socket = io::stdin().as_fd().try_clone_to_owned().map_err(failed)?;
    let from = client_name(&socket);
    close_input().map_err(failed)?;
    let channel = wire::accept(socket, secret.as_ref());
    let channel = channel.map_err(|why| format!("{from} was refused: {why}"))?;
    // The server counts it among those that may be here.
    io::stdout().write_all(b"+").and_then(|()| io::stdout().flush()).map_err(failed)?;
    let (link, lines) = ServerLink::new(channel);
    let output = SessionOutput::begin(&lines).map_err(failed)?;
    let here = Member { build: crate::remote::build(), ..Member::here() };
    let mut group = HostGroup::begin(link, &here, crate::remote::limits(flags))?;
    group.transport().send_about(&about(personality));
    let order = group.share(None)?;
    let order = serde_json::from_str(&order).map_err(|why| format!("it is no order: {why}"))?;
    let mut session = Session::new(order, group);
    let ran = session.run(flags);
    let code = ran.unwrap_or_else(|why| {
        // Others hear it by the client.
        print_error(&format!("{}: {why}", personality.program()));
        exit::REFUSED
    });
    output.end();
    session.group.transport().flush(LEAVE_WITHIN);
    Ok(code)
}

/// What fio's client prints of a server.
fn about(personality: Personality) -> String {
    let bits = usize::BITS;
    let order = u8::from(cfg!(target_endian = "big"));
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x86-64",
        other => other,
    };
    format!(
        "hostname={}, be={order}, {bits}-bit, os=Linux, arch={arch}, fio={}, flags=1",
        member::host_name(),
        personality.version()
    )
}

fn client_name(socket: &OwnedFd) -> String {
    let peer = socket.try_clone().and_then(|socket| TcpStream::from(socket).peer_addr());
    peer.map_or_else(|_| "a client".to_owned(), |address| format!("the client {address}"))
}

/// One client's jobs.
struct Session {
    order: Order,
    place: RankPlace,
    group: HostGroup<ServerLink>,
    files: ReturnedFiles,
    /// The job as all servers have it.
    job: String,
}

impl Session {
    fn new(order: Order, group: HostGroup<ServerLink>) -> Session {
        let Order { rank, ranks, .. } = order;
        let names = order.text.names.clone();
        let place = RankPlace { name: order.name.clone(), rank, ranks, names };
        Session { order, place, group, files: ReturnedFiles::default(), job: String::new() }
    }

    fn run(&mut self, server: &Flags) -> Result<u8, String> {
        let personality = self.order.personality();
        let (parsed, shares) = match self.parse() {
            Ok(parsed) => parsed,
            Err(why) => return Err(self.agree(Err(why.clone())).err().unwrap_or(why)),
        };
        let parsed = Parsed { flags: self.flags(&parsed.flags, server), ..parsed };
        let options = debug::parse(&parsed);
        let prepared = prepare_shared(personality, parsed, shares);
        let prepared = prepared.and_then(|prepared| self.keep_logs_apart(prepared));
        let state = match &prepared {
            Err(refused) => {
                refused.reasons.iter().for_each(|line| print_error(line));
                Err("the job was refused".to_owned())
            }
            Ok(prepared) if prepared.plan.jobs.is_empty() => Err("no job".to_owned()),
            Ok(_) => Ok(()),
        };
        // The client prints why not.
        if self.agree(state).is_err() {
            return Ok(exit::REFUSED);
        }
        match prepared {
            Err(refused) => Ok(refused.code),
            Ok(prepared) => {
                let beside = BesideRun { host: Some(self), ..BesideRun::default() };
                Ok(execute(personality, prepared, &options, beside))
            }
        }
    }

    /// Called as fio each server has the jobs as they are written; in our own name `{rank}` and
    /// `{host}` are its own, and so are random offsets.
    fn parse(&mut self) -> Result<(Parsed, Vec<Option<RankShare>>), String> {
        let text: JobText = match &self.order.remote_config {
            Some(path) => self.order.text.clone().with_file_of_host(path),
            None => self.order.text.clone(),
        };
        if self.order.as_fio {
            let parsed = text.parse_plain(Personality::Fio);
            self.job = comparable(&parsed);
            return Ok((parsed, Vec::new()));
        }
        let personality = Personality::Native;
        let files = job_files(personality);
        let flags = HostFlags::default();
        let (parsed, shares, job) =
            job_text::parse(personality, &text, files, &self.place, &flags)?;
        self.job = job;
        Ok((parsed, shares))
    }

    /// Of the client's flags those of jobs and their measurement. What is printed here goes to
    /// the client as lines; nothing else is written, served or shown here.
    fn flags(&self, sent: &Flags, server: &Flags) -> Flags {
        let RunFlags { ledger, idle_prof, debug, debug_job, .. } = sent.run.clone();
        let mut output = OutputFlags { color: ShowWhen::Never, ..OutputFlags::default() };
        if self.order.documents_only {
            (output.formats, output.formats_given) = (vec![OutputFormat::Json], true);
        }
        Flags {
            info: None,
            jobs: JobFlags {
                no_exec: sent.jobs.no_exec || server.jobs.no_exec,
                readonly: sent.jobs.readonly || server.jobs.readonly,
                ..sent.jobs.clone()
            },
            run: RunFlags { ledger, idle_prof, debug, debug_job, ..RunFlags::default() },
            output,
            live: LiveFlags { show: LiveFlag::No, eta: ShowWhen::Never, ..LiveFlags::default() },
            hosts: HostFlags::default(),
            given: Vec::new(),
        }
    }

    fn keep_logs_apart(&mut self, mut prepared: Prepared) -> Result<Prepared, PrepareError> {
        let kept = self.files.take_logs(&mut prepared.plan);
        kept.map(|()| prepared).map_err(|error| PrepareError {
            code: exit::REFUSED,
            reasons: vec![format!("cannot make a directory for logs: {error}")],
        })
    }

    fn shown(&self, format: OutputFormat, terse_version: u8, report: &Report) -> String {
        let (formats, formats_given) = (vec![format], true);
        let flags = OutputFlags { formats, formats_given, terse_version, ..OutputFlags::default() };
        text(self.order.personality(), &flags, report)
    }

    /// As fio's client prints it: the disks once, in a line below the jobs.
    fn terse(&self, version: u8, report: &Report) -> String {
        let shown = |report: &Report| self.shown(OutputFormat::Terse, version, report);
        let jobs = shown(&Report { disks: Vec::new(), ..report.clone() });
        let with_disks = shown(report);
        let last = |text: &str| text.lines().last().unwrap_or_default().to_owned();
        let disks = last(&with_disks).strip_prefix(&last(&jobs)).unwrap_or_default().to_owned();
        if disks.is_empty() { jobs } else { format!("{jobs}{disks}\n") }
    }

    fn agree(&mut self, own: Result<(), String>) -> Result<(), String> {
        self.group.agree(&self.job, own, &mut || None)
    }
}

impl HostPart for Session {
    fn peers(&mut self) -> Option<&mut dyn Peers> {
        Some(&mut self.group)
    }

    fn stamp(&self, plan: &Plan, ended: &RunOutcome) -> HostStamp {
        stamp::of(&self.place, "client", &self.job, plan, ended)
    }

    fn report(&mut self, report: Report, _: &mut ReportOutput) -> Result<Option<Report>, String> {
        self.files.send(self.group.transport())?;
        let outcome = ServerOutcome {
            document: fio_json_plus(&report, &JsonOptions { ours: true }),
            normal: if self.order.normal {
                self.shown(OutputFormat::Normal, 3, &report)
            } else {
                String::new()
            },
            terse: self
                .order
                .terse
                .map_or_else(String::new, |version| self.terse(version, &report)),
        };
        let outcome = serde_json::to_string(&outcome).map_err(|why| why.to_string())?;
        self.group.finish(&outcome, |_, _| {}, &mut || None)?;
        Ok(None)
    }

    fn code(&self) -> u8 {
        exit::OK
    }
}
