//! `srun` on two nodes: with MPI, and with Slurm's variables and a common start alone.

use crate::support::Who;
use crate::support::launchers::{JOB, document};
use crate::support::slurm::Slurm;
use iosonde_testing::{Folder, has, is_root, or_skip, skip_part};
use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A cluster, or a skip.
fn slurm(folder: &Folder) -> Option<Slurm> {
    let programs = [("slurmctld", "slurmctld"), ("slurmd", "slurmd"), ("srun", "slurm-client")];
    let tools = [("ip", "iproute2"), ("nsenter", "util-linux"), ("unshare", "util-linux")];
    let all_there = programs.iter().chain(&tools).all(|(program, package)| has(program, package));
    if !all_there || !is_root("start a Slurm in network namespaces") {
        return None;
    }
    or_skip(Slurm::start(folder))
}

#[test]
fn srun_starts_a_rank_of_mpi_on_each_node() {
    let folder = Folder::temporary("srun");
    let Some(slurm) = slurm(&folder) else { return };
    for (kind, library) in [("--mpi=pmix", "libmpi.so.40"), ("--mpi=pmi2", "libmpich.so.12")] {
        let probed = slurm.on_first(&["srun", kind, "-N", "1", "true"]).output().unwrap();
        if !probed.status.success() {
            let why = String::from_utf8_lossy(&probed.stderr).into_owned();
            skip_part!("srun {kind}: {}", why.lines().last().unwrap_or_default());
            continue;
        }
        let words = ["--mpi", "--force", "--output-format=json", "--output=all.json"];
        let words = [&words[..], &["--runtime=1", "--time_based"], JOB].concat();
        let mut command = slurm.srun(&folder, &[kind], &words);
        let output = command.env("IOSONDE_MPI_LIB", library).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        if errors.contains("no MPI library can be loaded") {
            skip_part!("{library} is not installed (apt-get install openmpi-bin mpich)");
            continue;
        }
        assert!(output.status.success(), "{kind}: {errors}");
        let all = document(&folder, "all.json");
        let ours = &all["iosonde"];
        assert_eq!([&ours["hosts"][0]["name"], &ours["hosts"][1]["name"]], ["h1", "h2"]);
        assert!(ours["overlap"][0]["clock_error_ns"].is_u64(), "{kind}: {}", ours["overlap"]);
        fs::remove_file(folder.join("all.json")).unwrap();
    }
}

#[test]
fn without_mpi_the_place_is_that_of_slurms_variables() {
    let folder = Folder::temporary("srun-start-at");
    let Some(slurm) = slurm(&folder) else { return };
    // A machine that is too busy to be ready in time gets more of it.
    let started = [5, 60].into_iter().any(|seconds| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let at = format!("--start-at={}", (now + Duration::from_secs(seconds)).as_secs());
        let words = [&["--force", &at, "--runtime=1", "--time_based"], JOB].concat();
        let output = slurm.srun(&folder, &[], &words).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() || errors.contains("choose a later one"), "{errors}");
        output.status.success()
    });
    assert!(started, "both ranks are ready within a minute");
    let words = ["merge", "result.0.json", "result.1.json", "--format=json"];
    let merged = Who::Native.run(&folder, &words).json();
    let hosts = &merged["iosonde"]["hosts"];
    assert_eq!([&hosts[0]["name"], &hosts[1]["name"]], ["h1", "h2"]);
    assert_eq!((&hosts[0]["rank"], &hosts[1]["rank"]), (&0.into(), &1.into()));
}
