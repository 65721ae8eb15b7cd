//! What follows a run: this host's result in a file of its own, before anything else, and
//! then the results of all.

use super::stop_signals::StopSignals;
use super::{HostLink, HostRun};
use crate::output::ReportOutput;
use iosonde_base::exit;
use iosonde_command::new_file;
use iosonde_hosts::group::HostGroup;
use iosonde_hosts::merge::HostsMerge;
use iosonde_hosts::mpi::Mpi;
use iosonde_report::Report;
use iosonde_report::formats::{JsonOptions, fio_json_plus};
use iosonde_session::Personality;
use iosonde_tools::merge;
use std::fs;
use std::path::Path;

/// Write this host's result, then what all hosts did; the report that is printed here.
pub(super) fn report(
    host: &mut HostRun,
    report: Report,
    output: &mut ReportOutput,
) -> Result<Option<Report>, String> {
    let text = fio_json_plus(&report, &JsonOptions { ours: true });
    let ended = report.ours.host.as_ref().and_then(|stamp| stamp.ended_early.clone());
    let written = write(&host.file, &text, host.flags.output.force);
    let personality = host.personality;
    let program = personality.program();
    if let Err(why) = &written {
        // The others' results are worth having all the same.
        output.error(&format!("{program}: {why}"));
        host.code = exit::REFUSED;
    }
    let file = host.file.display();
    match &mut host.link {
        HostLink::Mpi(group, signals) if group.rank() == 0 => {
            if let Some(why) = ended {
                output.error(&format!("{program}: {why}"));
                host.code = exit::REFUSED;
            }
            let merged = collect(group, &text, &report, personality, (signals, output));
            host.code = host.code.max(merged.1);
            Ok(Some(merged.0))
        }
        HostLink::Mpi(group, signals) => {
            let asked = &mut || signals.after_end();
            if let Err(why) = group.finish(&text, |_, _| {}, asked) {
                output.error(&format!(
                    "{program}: {}: {why}; its result is in {file}",
                    host.place.name
                ));
                host.code = exit::REFUSED;
            }
            Ok(None)
        }
        HostLink::StartAt(_) | HostLink::Alone => {
            if let Some(why) = ended {
                output.error(&format!("{program}: {why}"));
                host.code = exit::REFUSED;
            }
            output.note(&format!("{program}: the result for iosonde merge is in {file}"));
            Ok(Some(report))
        }
    }
}

/// The results of all ranks as one, and the exit code that they make.
fn collect(
    group: &mut HostGroup<Mpi>,
    text: &str,
    own: &Report,
    personality: Personality,
    (signals, output): (&StopSignals, &mut ReportOutput),
) -> (Report, u8) {
    let program = personality.program();
    let (mut arrived, mut code) = (Vec::new(), exit::OK);
    let take = |rank, text| arrived.push((rank, text));
    let taken = group.finish(text, take, &mut || signals.after_end());
    if let Err(why) = taken {
        output.error(&format!(
            "{program}: {why}; what the hosts measured is in their result.RANK.json: iosonde merge adds it up"
        ));
        code = exit::REFUSED;
    }
    let mut sums = match personality {
        Personality::Fio => HostsMerge::with_jobs(),
        Personality::Native => HostsMerge::default(),
    };
    iosonde_base::sort_by_key(&mut arrived, |(rank, _)| *rank);
    for (rank, text) in arrived {
        let name = group.names()[rank].clone();
        let read = iosonde_result::read(&text).map_err(|why| why.to_string());
        let added = read.and_then(|mut stored| {
            if let Some(stamp) = stored.report.ours.host.as_mut().filter(|_| rank > 0) {
                stamp.clock = Some(group.clock(rank));
            }
            sums.add(&name, stored)
        });
        if let Err(why) = added {
            output.error(&format!("{program}: the result of {name}: {why}"));
            code = exit::REFUSED;
        }
    }
    match sums.finish() {
        Ok(merged) => {
            let judged = merge::exit_code(&merged);
            // fio adds up whatever ran: there is always a total.
            if personality == Personality::Native || judged != exit::MISLEADING {
                code = code.max(judged);
            }
            (merged, code)
        }
        Err(why) => {
            output.error(&format!("{program}: {why}"));
            (own.clone(), exit::REFUSED)
        }
    }
}

/// Write a host's result, with its directory.
fn write(file: &Path, text: &str, force: bool) -> Result<(), String> {
    if let Some(directory) = file.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        fs::create_dir_all(directory)
            .map_err(|error| format!("cannot create {}: {error}", directory.display()))?;
    }
    new_file::write(file, text, force)
}
