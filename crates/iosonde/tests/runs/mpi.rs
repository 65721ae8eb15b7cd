//! `--mpi` under real launchers, of Open MPI and MPICH, on this machine and in two network
//! namespaces.

use crate::support::launchers::{
    JOB, Launched, MPICH, OPEN_MPI, TWO, TwoHosts, command, command_of, document, has_run, send,
};
use crate::support::link_named_fio;
use crate::support::running::wait_until;
use iosonde_testing::{Folder, has, is_root, or_skip};
use serde_json::Value;
use std::fs;
use std::process::Output;

fn text(output: &Output) -> String {
    let both = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    both.concat()
}

fn two_ranks_run_together(launcher: &str, before: &[&str]) {
    let folder = Folder::new("mpi");
    let flags = ["--output-format=json", "--output=all.json", "--runtime=1", "--time_based"];
    let flags: Vec<&str> = flags.iter().chain(JOB).copied().collect();
    let output = command(launcher, &folder, before, &flags).output().unwrap();
    assert!(has_run(output.status.code()), "{}", text(&output));
    let document = document(&folder, "all.json");
    let schema = include_str!("../../../../docs/schema/result-1.json");
    let found =
        iosonde_testing::schema::violations(&serde_json::from_str(schema).unwrap(), &document);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let ours = &document["iosonde"];
    assert_eq!(ours["hosts"].as_array().unwrap().len(), 2);
    assert!(ours["overlap"][0]["clock_error_ns"].is_u64(), "{}", ours["overlap"]);
    let own = ["result.0.json", "result.1.json"].map(|file| self::document(&folder, file));
    let ios = |result: &Value| result["jobs"][0]["read"]["total_ios"].as_u64().unwrap();
    assert_eq!(ios(&document), own.iter().map(ios).sum::<u64>());
    assert!(folder.join("f.1").exists());
}

#[test]
fn two_ranks_of_open_mpi_run_together() {
    if has(OPEN_MPI, "openmpi-bin") {
        two_ranks_run_together(OPEN_MPI, TWO);
    }
}

#[test]
fn two_ranks_of_mpich_run_together() {
    if has(MPICH, "mpich") {
        two_ranks_run_together(MPICH, &["-n", "2"]);
    }
}

#[test]
fn called_as_fio_the_document_is_that_of_fios_client() {
    if !has(OPEN_MPI, "openmpi-bin") {
        return;
    }
    let folder = Folder::new("mpi-as-fio");
    let program = link_named_fio();
    let flags = ["--output-format=json", "--output=all.json"];
    let started = command_of(&program, OPEN_MPI, &folder, TWO, &[&flags[..], JOB].concat());
    let (code, out) = Launched::start(started, &folder).end();
    assert_eq!(code, 0, "{out}");
    let document = document(&folder, "all.json");
    let stats = document["client_stats"].as_array().unwrap();
    let names: Vec<&str> = stats.iter().map(|job| job["jobname"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "a", "All clients"]);
    let ios = |job: &Value| job["read"]["total_ios"].as_u64().unwrap();
    assert_eq!([ios(&stats[0]), ios(&stats[1]), ios(&stats[2])], [1024, 1024, 2048]);
    assert!(stats.iter().all(|job| job["hostname"].is_string()), "{document}");
    assert_eq!((document.get("jobs"), document.get("iosonde")), (None, None));
}

#[test]
fn with_wear_out_all_ranks_do_as_much_as_the_fastest_had_done() {
    if !has(OPEN_MPI, "openmpi-bin") {
        return;
    }
    let folder = Folder::new("mpi-wear-out");
    let job = ["--name=a", "--rw=write", "--bs=4k", "--size=16m", "--filename=f.{rank}"];
    let more = ["--rate_iops=(100+{rank}*400)", "--runtime=1", "--wear_out"];
    let started = command(OPEN_MPI, &folder, TWO, &[&job[..], &more].concat());
    let (_, out) = Launched::start(started, &folder).end();
    let ios = |rank: u32| {
        let result = document(&folder, &format!("result.{rank}.json"));
        result["jobs"][0]["write"]["total_ios"].as_u64().unwrap()
    };
    assert_eq!(ios(0), ios(1), "{out}");
    assert!(ios(0) > 150, "{out}");
    assert!(out.contains("whole"), "{out}");
}

#[test]
fn a_live_line_that_is_asked_for_is_of_all_ranks() {
    if !has(OPEN_MPI, "openmpi-bin") {
        return;
    }
    let folder = Folder::new("mpi-live");
    let job = ["--name=a", "--rw=randread", "--ioengine=null", "--size=1m", "--rate_iops=100"];
    let more = ["--time_based", "--runtime=600", "--live=plain", "--eta-newline=1"];
    let launched =
        Launched::start(command(OPEN_MPI, &folder, TWO, &[&job[..], &more].concat()), &folder);
    let rate = || -> Option<f64> {
        let out = launched.out();
        let line = out.lines().rfind(|line| line.contains("  2 of 2 hosts  "))?;
        line.split("read ").nth(1)?.split(' ').next()?.parse().ok()
    };
    // Both together are above what one is held to.
    wait_until("a line is of both", || rate().is_some_and(|iops| iops > 120.0));
    send("-TERM", launched.rank(1));
    let (_, out) = launched.end();
    assert!(out.contains("stopped by signal 15"), "{out}");
}

#[test]
fn a_launcher_and_a_library_that_do_not_go_together_are_refused() {
    if !has(OPEN_MPI, "openmpi-bin") || !has(MPICH, "mpich") {
        return;
    }
    let folder = Folder::new("mpi-mixed");
    let mut mixed = command(OPEN_MPI, &folder, TWO, JOB);
    let output = mixed.env("IOSONDE_MPI_LIB", "libmpich.so.12").output().unwrap();
    let words = text(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("Open MPI started 2 ranks, but the MPI that was loaded"), "{words}");
    assert!(!folder.join("f.0").exists());
    let mut none = command(OPEN_MPI, &folder, TWO, JOB);
    let output = none.env("IOSONDE_MPI_LIB", "libnone.so").output().unwrap();
    assert!(text(&output).contains("no MPI library can be loaded"), "{}", text(&output));
}

#[test]
fn a_rank_with_another_command_line_is_refused_since_its_job_would_not_run() {
    if !has(OPEN_MPI, "openmpi-bin") {
        return;
    }
    let folder = Folder::new("mpi-differs");
    let one = ["--bind-to", "none", "--oversubscribe", "-n", "1"];
    let other = [":", "-n", "1", env!("CARGO_BIN_EXE_iosonde"), "--mpi", "--color=never"];
    let ran = |more: &[&str]| {
        let line = [JOB, &other, JOB, more].concat();
        let output = command(OPEN_MPI, &folder, &one, &line).output().unwrap();
        (output.status.code(), text(&output))
    };
    let (code, words) = ran(&["--bs=8k"]);
    assert_eq!(code, Some(1), "{words}");
    let why = ":1: its command line has \"--bs=8k\", and that of rank 0 has nothing more";
    assert!(words.contains(why), "{words}");
    assert!(!folder.join("result.0.json").exists());
    // Where a result goes is each rank's own.
    let (code, words) = ran(&["--results=other"]);
    assert!(has_run(code), "{words}");
    assert!(folder.join("result.0.json").exists() && folder.join("other/result.1.json").exists());
}

#[test]
fn what_the_launcher_prints_has_no_escape_codes_unless_they_are_asked_for() {
    if !has(OPEN_MPI, "openmpi-bin") {
        return;
    }
    let folder = Folder::new("mpi-colour");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_iosonde"));
    // Open MPI gives each rank a terminal; both on this machine have its device in common.
    let output = command_of(program, OPEN_MPI, &folder, TWO, JOB).output().unwrap();
    let words = text(&output);
    assert!(has_run(output.status.code()) && !words.contains('\u{1b}'), "{words}");
    assert!(words.matches("disk ").count() <= 1, "{words}");
    let asked = [&["--color=always", "--force"], JOB].concat();
    let output = command_of(program, OPEN_MPI, &folder, TWO, &asked).output().unwrap();
    assert!(text(&output).contains('\u{1b}'), "{}", text(&output));
}

#[test]
fn a_job_that_one_host_refuses_runs_nowhere() {
    if !has(OPEN_MPI, "openmpi-bin") {
        return;
    }
    let folder = Folder::new("mpi-refused");
    // Only rank 0 finds its directory.
    fs::create_dir(folder.join("0")).unwrap();
    let job = ["--name=a", "--rw=write", "--size=4k", "--directory={rank}", "--filename=f"];
    let output = command(OPEN_MPI, &folder, TWO, &job).output().unwrap();
    let words = text(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("1 is not a directory: it does not exist"), "{words}");
    assert!(!folder.join("0/f").exists());
}

#[test]
fn a_rank_that_is_silent_is_named_and_the_run_ends() {
    if !has(OPEN_MPI, "openmpi-bin") {
        return;
    }
    let folder = Folder::new("mpi-silent");
    let flags = ["--mpi-timeout=10s", "--runtime=100", "--time_based"];
    let started = command(OPEN_MPI, &folder, TWO, &[&flags[..], JOB].concat());
    let launched = Launched::start(started, &folder);
    launched.wait_for_thread("a", &[0, 1]);
    let rank = launched.rank(1);
    send("-STOP", rank);
    wait_until("rank 0 has ended the run", || launched.out().contains("no result of rank 1"));
    // A process that is stopped hears no signal but this one.
    send("-KILL", rank);
    let (code, out) = launched.end();
    assert_ne!(code, 0);
    assert!(out.contains("silent for 10 s"), "{out}");
    assert!(folder.join("result.0.json").exists());
}

#[test]
fn two_hosts_with_clocks_of_their_own_start_together() {
    if !has(OPEN_MPI, "openmpi-bin") || !has("ip", "iproute2") || !is_root("network namespaces") {
        return;
    }
    let folder = Folder::new("mpi-hosts");
    let Some(hosts) = or_skip(TwoHosts::new(&folder)) else { return };
    let flags = ["--output-format=json", "--output=all.json", "--runtime=1", "--time_based"];
    let output = hosts.command(&folder, &[&flags[..], JOB].concat()).output().unwrap();
    assert!(has_run(output.status.code()), "{}", text(&output));
    let document = document(&folder, "all.json");
    let ours = &document["iosonde"];
    let names = [&ours["hosts"][0]["name"], &ours["hosts"][1]["name"]];
    assert_eq!(names, ["h1", "h2"]);
    // The skew of the monotonic clocks is in nothing.
    let overlap = &ours["overlap"][0];
    assert!(overlap["start_skew_ns"].as_u64().unwrap() < 100_000_000_000, "{overlap}");
    assert!(ours["hosts"][1]["clock"]["offset_ns"].as_i64().unwrap() < 100_000_000_000);
}

/// `iosonde meta` in the folder, with a rank for each of the lines.
fn meta(folder: &Folder, lines: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(OPEN_MPI);
    command.args(["--bind-to", "none", "--oversubscribe"]);
    for (at, line) in lines.iter().enumerate() {
        command.args(if at > 0 { &[":", "-n", "1"][..] } else { &["-n", "1"] });
        command.args([env!("CARGO_BIN_EXE_iosonde"), "meta", ".", "--mpi"]);
        command.args(line.split_whitespace());
    }
    command.current_dir(folder.path()).stdin(std::process::Stdio::null());
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let output = command.output().unwrap();
    (output.status.code(), text(&output))
}

#[test]
fn meta_on_several_ranks_does_each_name_once_and_leaves_nothing() {
    if !has(OPEN_MPI, "openmpi-bin") {
        return;
    }
    // A tree for each thread, one tree of all, one directory of all.
    for shape in ["--dirs=12", "--dirs=12 --shared", "--dirs=1 --shared"] {
        let folder = Folder::new("mpi-meta");
        let line = format!("--files=300 --threads=2 --shift=1 {shape} --json");
        let (code, out) = meta(&folder, &[line.as_str(); 3]);
        assert_eq!(code, Some(0), "{out}");
        let json = &out[out.find('{').unwrap()..];
        let document: Value =
            serde_json::from_str(json).unwrap_or_else(|why| panic!("{why}: {out}"));
        for phase in document["rounds"][0].as_array().unwrap() {
            let word = phase["phase"].as_str().unwrap();
            let ranks = phase["ranks"].as_array().unwrap();
            let sum: u64 = ranks.iter().map(|rank| rank["operations"].as_u64().unwrap()).sum();
            assert_eq!(phase["operations"], sum, "{phase}");
            if ["create", "stat", "read", "rename", "unlink"].contains(&word) {
                assert_eq!((sum, ranks.len()), (300, 3), "{shape}: {phase}");
            }
            assert!(ranks.iter().all(|rank| rank["host"].as_str().unwrap().contains(':')));
            let last = ranks.iter().map(|rank| rank["last_done_ns"].as_u64()).max().unwrap();
            assert_eq!(phase["last_done_ns"].as_u64(), last, "{phase}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{shape}");
    }
}

#[test]
fn a_limit_of_time_ends_create_when_all_ranks_have_made_as_many() {
    if !has(OPEN_MPI, "openmpi-bin") {
        return;
    }
    let folder = Folder::new("mpi-meta-limit");
    let line =
        "--files=30m --dirs=1 --size=0 --shared --shift=1 --limit=400ms --phases=stat --json";
    let (code, out) = meta(&folder, &[line; 3]);
    assert_eq!(code, Some(0), "{out}");
    let document: Value = serde_json::from_str(&out[out.find('{').unwrap()..]).unwrap();
    let phases = document["rounds"][0].as_array().unwrap();
    for word in ["create", "stat", "unlink"] {
        let phase = phases.iter().find(|phase| phase["phase"] == word).unwrap();
        let ranks = phase["ranks"].as_array().unwrap();
        let counts: Vec<u64> =
            ranks.iter().map(|rank| rank["operations"].as_u64().unwrap()).collect();
        let made = phases[2]["operations"].as_u64().unwrap() / 3;
        assert!(made > 0 && made < 10_000_000, "{made}");
        assert_eq!(counts, [made; 3], "{word}");
    }
}

#[test]
fn meta_with_other_words_on_another_rank_and_what_fails_on_one_ends_on_all() {
    if !has(OPEN_MPI, "openmpi-bin") {
        return;
    }
    let folder = Folder::new("mpi-meta-refused");
    let (code, out) = meta(&folder, &["--files=100 --dirs=4", "--files=200 --dirs=4"]);
    assert_ne!(code, Some(0), "{out}");
    assert!(out.contains("has another job: --files=200"), "{out}");
    let (code, out) = meta(&folder, &["--files=10 --dirs=20"; 2]);
    assert_eq!((code, out.matches("some would be empty").count()), (Some(1), 1), "{out}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
