//! A rank whose control thread panics, under real launchers: all ranks end, none waits for
//! ever.

use iosonde_hosts::mpi::{ABORT_CODE, Mpi};
use iosonde_hosts::transport::Transport;
use iosonde_testing::{has, temporary_file};
use std::io::{Read, Seek};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing takes so long; only a run that hangs does.
const PATIENCE: Duration = Duration::from_secs(60);
/// In the environment of ranks, which are this program.
const IS_RANK: &str = "IOSONDE_TEST_RANK_PANICS";

#[test]
fn a_rank_of_open_mpi_that_panics_aborts_all_ranks() {
    let name = "a_rank_of_open_mpi_that_panics_aborts_all_ranks";
    let before = ["--bind-to", "none", "--oversubscribe", "-n", "2"];
    panics_under("mpirun.openmpi", "openmpi-bin", &before, name);
}

#[test]
fn a_rank_of_mpich_that_panics_aborts_all_ranks() {
    let name = "a_rank_of_mpich_that_panics_aborts_all_ranks";
    panics_under("mpirun.mpich", "mpich", &["-n", "2"], name);
}

fn panics_under(launcher: &str, package: &str, before: &[&str], test: &str) {
    if std::env::var_os(IS_RANK).is_some() {
        return rank();
    }
    if !has(launcher, package) {
        return;
    }
    let mut out = temporary_file(b"");
    let mut command = Command::new(launcher);
    command.args(before).arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(IS_RANK, "1").stdin(Stdio::null());
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.stdout(out.try_clone().unwrap()).stderr(out.try_clone().unwrap());
    let (mut child, began) = (command.spawn().unwrap(), Instant::now());
    let ended = loop {
        match child.try_wait().unwrap() {
            None if began.elapsed() > PATIENCE => {
                let _ = child.kill();
                panic!("{launcher} hangs");
            }
            None => std::thread::sleep(Duration::from_millis(10)),
            Some(ended) => break ended,
        }
    };
    let mut bytes = Vec::new();
    out.rewind().unwrap();
    out.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert_eq!(ended.code(), Some(ABORT_CODE), "{text}");
    assert!(text.contains("this rank panics"), "{text}");
}

/// Rank 1 panics; rank 0 waits for it, as long as it is let.
fn rank() {
    let mut mpi = Mpi::begin().unwrap();
    assert!(mpi.rank() == 0, "this rank panics");
    loop {
        let _ = mpi.receive();
        std::thread::sleep(Duration::from_millis(1));
    }
}
