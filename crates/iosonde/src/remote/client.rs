//! `--client`: the jobs go to servers, and what comes back is printed.

use super::client_hosts;
use super::connect;
use super::order::Order;
use super::printed::ClientOutput;
use super::received_files::ExpectedLogs;
use crate::host_run::job_text::JobText;
use crate::host_run::stop_signals::StopSignals;
use crate::job_run::open_output;
use crate::report_formats::prints_documents_only;
use iosonde_base::exit;
use iosonde_hosts::remote::RemoteRun;
use iosonde_hosts::wire::{Channel, HostAddress};
use iosonde_run::job::Plan;
use iosonde_session::Personality;
use iosonde_session::prepare::lines_of;
use iosonde_spec::cli::flags::{Flags, OutputFormat};
use iosonde_spec::cli::{Parsed, ParsedJob};
use iosonde_sys::standard_error::print_error;

/// A server and what it is to run.
struct ClientPart {
    address: HostAddress,
    text: JobText,
    logs: ExpectedLogs,
}

/// Run jobs on servers; the exit code.
///
/// # Errors
/// Nothing was run: a sentence.
pub fn run(personality: Personality, arguments: &[String], parsed: &Parsed) -> Result<u8, String> {
    let flags = &parsed.flags;
    refuse_flags(flags)?;
    let Some(parts) = parts(personality, arguments, parsed)? else { return Ok(exit::REFUSED) };
    let secret = super::secret(flags)?;
    let Some(output) = open_output(personality, &flags.output, &Plan::default()) else {
        return Ok(exit::REFUSED);
    };
    let mut channels: Vec<(Channel, String)> = Vec::new();
    for ClientPart { address, .. } in &parts {
        match connect::to(address, secret.as_ref()) {
            Ok(channel) => channels.push((channel, address.host())),
            Err(error) => {
                let program = personality.program();
                let lines = error.lines(address);
                lines.iter().for_each(|line| print_error(&format!("{program}: {line}")));
                return Ok(exit::REFUSED);
            }
        }
    }
    let orders =
        parts.iter().enumerate().map(|(at, part)| order(personality, flags, &parts, at, part));
    let orders = orders.collect::<Result<Vec<String>, String>>()?;
    let servers = parts.into_iter().map(|part| (part.address, part.logs)).collect();
    let mut printed = ClientOutput::new(personality, flags, servers, output);
    let mut run = RemoteRun::new(channels, &super::build(), super::limits(flags));
    let signals = StopSignals::listen(None)?;
    let ran = run.run(orders, &mut printed, &mut || signals.after_end());
    Ok(printed.finish(&run, ran))
}

/// What a client cannot have of its servers.
fn refuse_flags(flags: &Flags) -> Result<(), String> {
    let run = &flags.run;
    let live = &flags.live;
    let refused = [
        (run.trigger.fires() || run.trigger.command.is_some(), "--trigger"),
        (run.bandwidth_log.is_some(), "--bandwidth-log"),
        (run.merge_only, "--merge-blktrace-only"),
        (flags.output.status_interval_ms.is_some(), "--status-interval"),
        (live.metrics_listen.is_some() || live.metrics_file.is_some(), "metrics of a run"),
        (flags.hosts.daemonize.is_some(), "--daemonize"),
    ];
    match refused.iter().find(|(given, _)| *given) {
        Some((_, name)) => Err(format!("{name}: not with --client: the jobs run elsewhere")),
        None => Ok(()),
    }
}

/// Each server with its jobs; none, after messages, where a job is wrong.
fn parts(
    personality: Personality,
    arguments: &[String],
    parsed: &Parsed,
) -> Result<Option<Vec<ClientPart>>, String> {
    let mut parts = Vec::new();
    let each = parsed.places.arguments(arguments);
    for (client, arguments) in parsed.flags.hosts.clients.iter().zip(each) {
        let (text, parsed) = JobText::read_with_variables(personality, &arguments);
        if parsed.is_refused() {
            let lines = parsed.notices.iter().flat_map(|notice| lines_of(personality, notice));
            lines.for_each(|line| print_error(&line));
            return Ok(None);
        }
        if parsed.jobs.is_empty() && parsed.flags.hosts.remote_config.is_none() {
            return Err(format!(
                "--client={client}: no job: name a job file after it, or one of the server with --remote-config"
            ));
        }
        for address in client_hosts::of(client)? {
            let prefixes = log_prefixes(&parsed.jobs, parts.len(), &address.host());
            let are_of_server = parsed.flags.hosts.remote_config.is_some();
            let logs = ExpectedLogs { prefixes, are_of_server };
            parts.push(ClientPart { address, text: text.clone(), logs });
        }
    }
    Ok(Some(parts))
}

/// What the names of the jobs' logs begin with, on the server of that rank and name.
fn log_prefixes(jobs: &[ParsedJob], rank: usize, host: &str) -> Vec<String> {
    let of = |job: &ParsedJob| {
        let log = &job.spec.log;
        let options =
            [&log.write_bw_log, &log.write_iops_log, &log.write_lat_log, &log.write_hist_log];
        let set = options.into_iter().filter_map(|option| option.get().clone());
        let name = job.name.clone();
        set.map(move |prefix| if prefix == "$jobname" { name.clone() } else { prefix })
            .collect::<Vec<String>>()
    };
    let prefixes: Vec<String> = jobs.iter().flat_map(of).collect();
    let filled =
        |prefix: &String| prefix.replace("{rank}", &rank.to_string()).replace("{host}", host);
    prefixes.iter().map(filled).chain(prefixes.iter().cloned()).collect()
}

fn order(
    personality: Personality,
    flags: &Flags,
    parts: &[ClientPart],
    at: usize,
    part: &ClientPart,
) -> Result<String, String> {
    let as_fio = personality == Personality::Fio;
    let asked = |format: OutputFormat| as_fio && flags.output.formats.contains(&format);
    let is_terse = asked(OutputFormat::Terse) || (as_fio && flags.output.append_terse);
    let names = parts.iter().map(|part| part.address.host()).collect();
    let order = Order {
        as_fio,
        text: JobText { names, ..part.text.clone() },
        remote_config: flags.hosts.remote_config.clone(),
        name: part.address.host(),
        rank: at as u32,
        ranks: parts.len() as u32,
        documents_only: prints_documents_only(&flags.output),
        normal: asked(OutputFormat::Normal),
        terse: is_terse.then_some(flags.output.terse_version),
    };
    serde_json::to_string(&order).map_err(|why| why.to_string())
}
