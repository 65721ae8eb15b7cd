//! Reports are complete under their name or said to be lost; what was there before stays until then.

use crate::support::running::{PATIENCE, Running};
use crate::support::{Who, words};
use iosonde_testing::Folder;
use rustix::process::Signal;
use std::path::Path;
use std::process::Command;

const JOB: &str = "--name=j --filename=f --rw=read --bs=4k --size=64k";
const BOTH: [Who; 2] = [Who::Native, Who::AsFio];

fn with_file() -> Folder {
    let folder = Folder::new("whole-outputs");
    folder.write("f", vec![1; 64 << 10]);
    folder
}

#[test]
fn a_killed_run_leaves_the_last_report_and_nothing_else() {
    for who in BOTH {
        let folder = with_file();
        folder.write("report", "the last one");
        let line = format!("{JOB} --output=report --time_based --runtime=600");
        let mut program = Running::start(who, &folder, &line);
        program.wait_for_work("j");
        program.signal(Signal::KILL);
        program.end_within(PATIENCE);
        assert_eq!(folder.read("report"), "the last one");
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        let is_ours = |entry: &std::io::Result<std::fs::DirEntry>| {
            entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".report")
        };
        assert!(!left.iter().any(is_ours), "{left:?}");
    }
}

#[test]
fn a_killed_run_leaves_the_last_logs_and_one_that_ends_replaces_them() {
    for who in BOTH {
        let folder = with_file();
        let logs = ["l_lat.1.log", "l_clat.1.log", "l_bw.1.log", "l_clat_hist.1.log"];
        for log in logs {
            folder.write(log, "the last one");
        }
        let job = format!(
            "{JOB} --write_lat_log=l --write_bw_log=l --write_hist_log=l --log_hist_msec=10"
        );
        let mut program = Running::start(who, &folder, &format!("{job} --time_based --runtime=60"));
        program.wait_for_work("j");
        program.signal(Signal::KILL);
        program.end_within(PATIENCE);
        assert!(logs.iter().all(|log| folder.read(log) == "the last one"));
        who.run(&folder, &words(&job)).well();
        assert!(logs.iter().all(|log| folder.read(log) != "the last one"));
        let names = std::fs::read_dir(folder.path()).unwrap().flatten();
        let hidden = names.filter(|name| name.file_name().to_string_lossy().starts_with('.'));
        assert_eq!(hidden.count(), 0);
    }
}

#[test]
fn an_existing_report_is_replaced_through_its_link_and_named_in_our_own_name() {
    for who in BOTH {
        let folder = with_file();
        folder.write("real", "precious");
        std::os::unix::fs::symlink("real", folder.join("report")).unwrap();
        let ran = who.run(&folder, &words(&format!("{JOB} --output=report"))).well();
        assert!(folder.join("report").is_symlink());
        assert!(folder.read("real").contains("64"), "{ran:?}");
        let named = ran.stderr.contains("--output replaces the existing file report");
        assert_eq!(named, who == Who::Native, "{ran:?}");
    }
}

#[test]
fn a_report_that_has_no_place_to_go_is_an_error() {
    for who in BOTH {
        let folder = with_file();
        std::fs::create_dir(folder.join("d")).unwrap();
        let line = format!("{JOB} --output=d/report --time_based --runtime=600");
        let mut program = Running::start(who, &folder, &line);
        program.wait_for_work("j");
        std::fs::remove_dir_all(folder.join("d")).unwrap();
        program.signal(Signal::INT);
        let ran = program.end_within(PATIENCE);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("cannot write the report"), "{ran:?}");

        let mut command = who.command(&folder);
        command.args(words(JOB));
        let shell = closed(&command, &folder);
        assert_eq!(shell.status.code(), Some(1), "{shell:?}");
        let said = String::from_utf8_lossy(&shell.stderr);
        assert!(said.contains("it is closed"), "{said}");
    }
}

/// The same command with a closed standard output.
fn closed(command: &Command, folder: &Folder) -> std::process::Output {
    let path = Path::new(command.get_program()).display().to_string();
    let words: Vec<_> = command.get_args().map(|word| word.to_str().unwrap()).collect();
    let line = format!("exec {path} {} >&-", words.join(" "));
    Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap()
}
