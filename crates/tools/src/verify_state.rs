//! `iosonde verify-state FILE...`: what a verify state file says, with the output of fio's
//! `fio-verify-state`; described in docs/verify.md.

use clap::{Args, ValueHint};
use iosonde_base::exit;
use iosonde_command::CommandAnswer;
use iosonde_command::definition::{CommandEntry, arguments};
use iosonde_verify::{OldStateFile, StateFile, StateHeader};
use std::fmt::Write;
use std::path::PathBuf;

/// What `--help` says below the summary.
const DETAILS: &str = "\
Reads files that verify_state_save=1 or a trigger leaves: of iosonde and of
fio (layouts 3 and 7). The same command as fio-verify-state.";

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "verify-state",
    summary: "show the contents of verify state files",
    details: DETAILS,
    usage: None,
    arguments: VerifyStateArgs::augment_args,
    takes_jobs: false,
    run: |words| answer(words).print(),
};

/// The command line of `iosonde verify-state`.
#[derive(Args, Clone, Debug)]
struct VerifyStateArgs {
    /// The state files
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
}

/// What the words after `verify-state` ask for.
pub fn answer(words: &[String]) -> CommandAnswer {
    let arguments: VerifyStateArgs = match arguments(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(answer) => return answer,
    };
    let mut answer = CommandAnswer::default();
    for file in &arguments.files {
        let text = std::fs::read(file).map_err(|why| why.to_string());
        if let Err(why) = text.and_then(|bytes| show(&bytes, &mut answer.text)) {
            let lead = "iosonde: verify-state";
            answer.errors.push(format!("{lead}: {}: {why}", file.display()));
            answer.code = exit::REFUSED;
        }
    }
    answer
}

/// Write what the file says to `out`, as much as there is.
fn show(bytes: &[u8], out: &mut String) -> Result<(), String> {
    let header = StateHeader::decode(bytes).map_err(|why| why.to_string())?;
    _ = writeln!(out, "Version:\t{:#x}", header.layout);
    _ = writeln!(out, "Size:\t\t{}", header.len);
    _ = writeln!(out, "CRC:\t\t{:#x}", header.checksum);
    if header.layout == OldStateFile::LAYOUT {
        let state = OldStateFile::decode(bytes).map_err(|why| why.to_string())?;
        show_job(out, &state.name);
        _ = writeln!(out, "Completions:\t{}", state.completions.len());
        show_progress(out, u64::from(state.depth), state.writes, state.job);
        out.push_str("Completions:\n");
        for (file, offset) in state.completions.iter().rev() {
            _ = writeln!(out, "\t(file={file:2}) {offset}");
        }
        return Ok(());
    }
    let state = StateFile::decode(bytes, usize::MAX).map_err(|why| why.to_string())?;
    show_job(out, &state.name);
    show_progress(out, state.in_flight.len() as u64, state.writes, state.job);
    out.push_str("Inflight writes:\n");
    for number in state.in_flight.iter().flatten() {
        _ = writeln!(out, "\t{number}");
    }
    Ok(())
}

fn show_job(out: &mut String, name: &str) {
    // A file holds one job.
    _ = writeln!(out, "Thread:\t\t0\nName:\t\t{name}");
}

fn show_progress(out: &mut String, depth: u64, writes: u64, job: u64) {
    _ = writeln!(out, "Depth:\t\t{depth}\nNumber IOs:\t{writes}\nIndex:\t\t{job}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    fn asked(files: &[&str], folder: &Folder) -> CommandAnswer {
        let path = |name: &&str| folder.join(name).to_str().unwrap().to_owned();
        answer(&files.iter().map(path).collect::<Vec<_>>())
    }

    #[test]
    fn a_state_of_ours_is_shown_and_a_damaged_one_as_far_as_it_goes() {
        let folder = Folder::new("verify-state");
        let state = StateFile {
            writes: 20,
            job: 1,
            name: "v".to_owned(),
            in_flight: vec![Some(17), None, Some(19)],
            ..StateFile::default()
        };
        let mut bytes = state.encode();
        folder.write("good", &bytes);
        let shown = asked(&["good"], &folder);
        assert_eq!((shown.code, &shown.errors[..]), (0, &[][..]));
        let after_crc = shown.text.split_once("\nThread:").unwrap();
        assert!(after_crc.0.starts_with("Version:\t0x7\nSize:\t\t168\nCRC:\t\t0x"), "{shown:?}");
        assert_eq!(
            after_crc.1,
            "\t\t0\nName:\t\tv\nDepth:\t\t3\nNumber IOs:\t20\nIndex:\t\t1\nInflight writes:\n\t17\n\t19\n"
        );

        bytes[40] ^= 1;
        folder.write("bad", &bytes);
        folder.write("short", &bytes[..20]);
        let shown = asked(&["bad", "short", "none", "good"], &folder);
        assert_eq!((shown.code, shown.errors.len()), (1, 3), "{shown:?}");
        assert!(shown.errors[0].contains("bad: verify state is corrupt"), "{shown:?}");
        assert!(shown.errors[1].contains("within its first 24 bytes"), "{shown:?}");
        assert_eq!(shown.text.matches("Version:").count(), 2, "{shown:?}");
    }
}
