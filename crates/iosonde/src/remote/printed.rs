//! What a client prints: called as fio as fio's client does, in our own name the report of all
//! hosts as one.

use super::order::ServerOutcome;
use super::received_files::{ExpectedLogs, ReceivedFiles};
use crate::html_page;
use crate::output::ReportOutput;
use crate::report_formats::{is_document, prints_documents_only, text};
use iosonde_base::exit;
use iosonde_hosts::merge::HostsMerge;
use iosonde_hosts::remote::{RemoteEvent, RemoteRun, RemoteView, TextStream};
use iosonde_hosts::wire::HostAddress;
use iosonde_report::Report;
use iosonde_report::formats;
use iosonde_result::StoredResult;
use iosonde_session::Personality;
use iosonde_spec::cli::flags::{Flags, OutputFlags, OutputFormat};
use iosonde_sys::standard_error::print_error;
use iosonde_tools::merge;

/// What has come of the servers, and where it is printed.
pub struct ClientOutput<'f> {
    personality: Personality,
    flags: &'f Flags,
    output: ReportOutput,
    servers: Vec<ServerResult>,
    code: u8,
}

/// One server's part.
struct ServerResult {
    address: HostAddress,
    /// The name that it has itself.
    host_name: String,
    files: ReceivedFiles,
    result: Option<StoredResult>,
}

impl<'f> ClientOutput<'f> {
    /// Nothing yet, of these servers.
    pub fn new(
        personality: Personality,
        flags: &'f Flags,
        servers: Vec<(HostAddress, ExpectedLogs)>,
        output: ReportOutput,
    ) -> ClientOutput<'f> {
        let hosts: Vec<String> = servers.iter().map(|(address, _)| address.host()).collect();
        let result = |(address, expected): (HostAddress, ExpectedLogs)| {
            let host = address.host();
            let is_one_of_several = hosts.iter().filter(|other| **other == host).count() > 1;
            let suffix = if is_one_of_several { address.shown() } else { host.clone() };
            let files = ReceivedFiles::new(&suffix, expected);
            ServerResult { address, host_name: host, files, result: None }
        };
        let servers = servers.into_iter().map(result).collect();
        ClientOutput { personality, flags, output, servers, code: exit::OK }
    }

    /// The end: the documents, the report of all, or why there is none; the exit code.
    pub fn finish(mut self, run: &RemoteRun, ran: Result<(), String>) -> u8 {
        let program = self.personality.program();
        if let Err(why) = ran {
            self.output.error(&format!("{program}: {why}"));
            self.code = exit::REFUSED;
        }
        if self.servers.iter().any(|server| server.result.is_some()) {
            match self.merged(run) {
                Ok(report) => self.print(&report),
                Err(why) => self.fail(&why),
            }
        }
        let ended = self.output.end(self.personality);
        self.code.max(ended)
    }

    /// The results as one report.
    fn merged(&mut self, run: &RemoteRun) -> Result<Report, String> {
        let mut sum = match self.personality {
            Personality::Fio => HostsMerge::as_fio_client(),
            Personality::Native => HostsMerge::of_different_jobs(),
        };
        for (at, server) in self.servers.iter_mut().enumerate() {
            let Some(mut stored) = server.result.take() else { continue };
            if let Some(stamp) = &mut stored.report.ours.host {
                stamp.clock = Some(run.clock(at));
            }
            let host = server.address.host();
            sum.add(&host, stored).map_err(|why| format!("the result of {host}: {why}"))?;
        }
        let mut report = sum.finish()?;
        if let Some(hosts) = &mut report.ours.hosts
            && let Some(clients) = &mut hosts.clients
        {
            for (row, jobs) in hosts.hosts.iter().zip(&mut clients.hosts) {
                let server = row.rank.and_then(|rank| self.servers.get(rank as usize));
                if let Some(server) = server {
                    (jobs.host, jobs.port) = (server.address.host(), server.address.port());
                }
            }
        }
        Ok(report)
    }

    fn print(&mut self, report: &Report) {
        if self.personality == Personality::Native {
            self.output.report(&text(self.personality, &self.flags.output, report));
            self.code = self.code.max(merge::exit_code(report));
        } else {
            self.print_sum(report);
            let formats: Vec<OutputFormat> = self.documents().collect();
            if !formats.is_empty() {
                let flags =
                    OutputFlags { formats, append_terse: false, ..self.flags.output.clone() };
                self.output.report(&text(self.personality, &flags, report));
            }
        }
        if let Err(why) = html_page::write(&self.flags.output, report) {
            self.fail(&why);
        }
    }

    /// `All clients`, in fio's text and terse form, if there is more than one job.
    fn print_sum(&mut self, report: &Report) {
        let hosts = report.ours.hosts.as_ref();
        let Some(clients) = hosts.and_then(|hosts| hosts.clients.as_ref()) else { return };
        if clients.hosts.iter().map(|host| host.jobs.len()).sum::<usize>() < 2 {
            return;
        }
        if self.wants_terse() {
            let sum = Report { jobs: vec![clients.sum.clone()], ..sum_report(report) };
            let flags =
                OutputFlags { formats: vec![OutputFormat::Terse], ..self.flags.output.clone() };
            self.output.report(&text(self.personality, &flags, &sum));
        }
        if self.wants_normal() {
            self.output.report(&formats::fio_all_clients(&clients.sum, report));
        }
    }

    fn documents(&self) -> impl Iterator<Item = OutputFormat> {
        let formats = self.flags.output.formats.iter().copied();
        formats.filter(|&format| is_document(format) && format != OutputFormat::Terse)
    }

    fn wants_normal(&self) -> bool {
        self.flags.output.formats.contains(&OutputFormat::Normal)
    }

    fn wants_terse(&self) -> bool {
        let output = &self.flags.output;
        output.formats.contains(&OutputFormat::Terse) || output.append_terse
    }

    fn fail(&mut self, why: &str) {
        let program = self.personality.program();
        self.output.error(&format!("{program}: {why}"));
        self.code = exit::REFUSED;
    }

    /// A line of a server: where documents are printed only an error, to standard error.
    fn line(&mut self, stream: TextStream, line: &str) {
        match (prints_documents_only(&self.flags.output), stream) {
            (false, _) => self.output.line(line),
            (true, TextStream::Error) => print_error(line),
            (true, TextStream::Output) => {}
        }
    }

    /// A result: its text at once, as fio's client prints it.
    fn result(&mut self, at: usize, text: &str) {
        let outcome: ServerOutcome = match serde_json::from_str(text) {
            Ok(outcome) => outcome,
            Err(why) => return self.fail(&format!("{}: no result: {why}", self.host(at))),
        };
        let stored = match iosonde_result::read(&outcome.document) {
            Ok(stored) => stored,
            Err(why) => return self.fail(&format!("{}: no result: {why}", self.host(at))),
        };
        let errors = stored.report.jobs.iter().filter_map(|job| job.failure.as_ref());
        let failed = errors.count();
        if failed > 0 {
            self.code = self.code.max(exit::failed(failed));
        }
        if !outcome.terse.is_empty() {
            self.output.report(&outcome.terse);
        }
        if !outcome.normal.is_empty() {
            let text = format!("<{}> {}", self.servers[at].host_name, outcome.normal);
            self.output.report(&text);
            if failed > 0 {
                let line = format!("client <{}>: exited with error {failed}", self.host(at));
                self.output.line(&line);
            }
        }
        self.servers[at].result = Some(stored);
    }

    fn host(&self, at: usize) -> String {
        self.servers[at].address.host()
    }
}

/// The report of a sum: nothing of it but its version and time.
fn sum_report(report: &Report) -> Report {
    Report {
        version: report.version.clone(),
        time_unix_ms: report.time_unix_ms,
        utc_offset_s: report.utc_offset_s,
        ..Report::default()
    }
}

impl RemoteView for ClientOutput<'_> {
    fn see(&mut self, at: usize, event: RemoteEvent) {
        match event {
            RemoteEvent::About(line) => {
                let name = line.strip_prefix("hostname=").and_then(|rest| rest.split(',').next());
                self.servers[at].host_name = name.unwrap_or_default().to_owned();
                if self.personality == Personality::Fio {
                    self.line(TextStream::Output, &line);
                }
            }
            // fio's client does not print the version that each run begins with.
            RemoteEvent::Line(TextStream::Output, line)
                if line.is_empty() || line == self.personality.version() => {}
            RemoteEvent::Line(stream, line) => {
                let name = match self.personality {
                    Personality::Fio => self.servers[at].host_name.clone(),
                    Personality::Native => self.host(at),
                };
                self.line(stream, &format!("<{name}> {line}"));
            }
            RemoteEvent::File(name) => self.servers[at].files.begin(&name.0),
            RemoteEvent::Piece(bytes) => self.servers[at].files.add(&bytes),
            RemoteEvent::FileEnd => {
                if let Err(why) = self.servers[at].files.end() {
                    self.fail(&why);
                }
            }
            RemoteEvent::Result(text) => self.result(at, &text),
            RemoteEvent::Lost(why) => {
                let host = self.host(at);
                let line = format!("client: host={host} disconnected");
                self.line(TextStream::Error, &line);
                self.fail(&format!(
                    "the server {host} is lost: {why}; it has no part in the results"
                ));
            }
        }
    }
}
