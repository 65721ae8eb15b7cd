//! `--mpi` under real launchers, of Open MPI and MPICH, on this machine and in two network
//! namespaces.

use crate::support::running::wait_until;
use iosonde_testing::{Folder, has, is_root, or_skip, run};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const OPEN_MPI: &str = "mpirun.openmpi";
const MPICH: &str = "mpirun.mpich";
/// Two ranks on one machine; without binding, which would put both on one core.
const TWO: &[&str] = &["--bind-to", "none", "--oversubscribe", "-n", "2"];
const JOB: &[&str] = &["--name=a", "--rw=randread", "--bs=4k", "--size=4m", "--filename=f.{rank}"];

/// A launcher in a folder, with the flags of the program and a job after it.
fn command(launcher: &str, folder: &Folder, before: &[&str], flags: &[&str]) -> Command {
    let mut command = Command::new(launcher);
    command.args(before).arg(env!("CARGO_BIN_EXE_iosonde")).args(["--mpi", "--color=never"]);
    command.args(flags).current_dir(folder.path()).stdin(Stdio::null());
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_mpi_yield_when_idle", "1");
    command
}

fn text(output: &Output) -> String {
    let both = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    both.concat()
}

/// The merged result of a run that ended well.
fn merged(folder: &Folder) -> Value {
    let text = fs::read_to_string(folder.join("all.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn two_ranks_run_together(launcher: &str, before: &[&str]) {
    let folder = Folder::new("mpi");
    let flags = ["--output-format=json", "--output=all.json", "--runtime=1", "--time_based"];
    let flags: Vec<&str> = flags.iter().chain(JOB).copied().collect();
    let output = command(launcher, &folder, before, &flags).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let document = merged(&folder);
    let schema = include_str!("../../../../docs/schema/result-1.json");
    let found =
        iosonde_testing::schema::violations(&serde_json::from_str(schema).unwrap(), &document);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let ours = &document["iosonde"];
    assert_eq!(ours["hosts"].as_array().unwrap().len(), 2);
    assert!(ours["overlap"][0]["clock_error_ns"].is_u64(), "{}", ours["overlap"]);
    let own = |rank: u32| -> Value {
        let file = folder.join(&format!("result.{rank}.json"));
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    };
    let ios = |result: &Value| result["jobs"][0]["read"]["total_ios"].as_u64().unwrap();
    assert_eq!(ios(&document), ios(&own(0)) + ios(&own(1)));
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

/// A run of a minute or two under Open MPI, and its ranks' processes once they do I/O.
fn long_run(folder: &Folder, flags: &[&str]) -> (Child, Vec<String>) {
    let long = ["--runtime=100", "--time_based"];
    let flags: Vec<&str> = flags.iter().chain(&long).chain(JOB).copied().collect();
    let mut command = command(OPEN_MPI, folder, TWO, &flags);
    let out = fs::File::create(folder.join("out")).unwrap();
    let errors = out.try_clone().unwrap();
    let child = command.stdout(out).stderr(errors).spawn().unwrap();
    let launcher = child.id().to_string();
    let ranks = || {
        let found = run("pgrep", &["-P", &launcher, "iosonde"]).unwrap_or_default();
        found.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    // A job's thread has its name; it is there from the start of the wave on.
    let does_io = |rank: &String| {
        let threads = fs::read_dir(format!("/proc/{rank}/task")).into_iter().flatten().flatten();
        let name = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("comm"));
        threads.filter_map(|thread| name(thread).ok()).any(|name| name == "a\n")
    };
    wait_until("both ranks do I/O", || {
        let ranks = ranks();
        ranks.len() == 2 && ranks.iter().all(does_io)
    });
    (child, ranks())
}

fn kill(signal: &str, process: &str) {
    run("kill", &[signal, process]).unwrap();
}

#[test]
fn a_rank_that_is_killed_ends_the_run_and_the_results_of_the_others_are_kept() {
    if !has(OPEN_MPI, "openmpi-bin") || !has("pgrep", "procps") {
        return;
    }
    let folder = Folder::new("mpi-killed");
    let (mut child, ranks) = long_run(&folder, &[]);
    kill("-KILL", &ranks[1]);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 9));
    let out = fs::read(folder.join("out")).unwrap();
    let words = String::from_utf8_lossy(&out);
    assert!(words.contains("process rank 1"), "{words}");
    let kept = fs::read_to_string(folder.join("result.0.json")).unwrap();
    assert!(kept.contains("\"ended_early\" : \"stopped by signal"), "{kept}");
    assert!(!folder.join("result.1.json").exists());
}

#[test]
fn a_rank_that_is_silent_is_named_and_the_run_ends() {
    if !has(OPEN_MPI, "openmpi-bin") || !has("pgrep", "procps") {
        return;
    }
    let folder = Folder::new("mpi-silent");
    let (mut child, ranks) = long_run(&folder, &["--mpi-timeout=10s"]);
    kill("-STOP", &ranks[1]);
    let out = || String::from_utf8_lossy(&fs::read(folder.join("out")).unwrap()).into_owned();
    wait_until("rank 0 has ended the run", || out().contains("no result of rank 1"));
    // A process that is stopped hears no signal but this one.
    kill("-KILL", &ranks[1]);
    assert!(!child.wait().unwrap().success());
    assert!(out().contains("silent for 10 s"), "{}", out());
    assert!(folder.join("result.0.json").exists());
}

#[test]
fn an_interrupt_ends_all_ranks_and_what_they_measured_is_kept() {
    if !has(OPEN_MPI, "openmpi-bin") || !has("pgrep", "procps") {
        return;
    }
    let folder = Folder::new("mpi-interrupt");
    let (mut child, _) = long_run(&folder, &[]);
    kill("-INT", &child.id().to_string());
    assert!(!child.wait().unwrap().success());
    for rank in 0..2 {
        let kept = fs::read_to_string(folder.join(&format!("result.{rank}.json"))).unwrap();
        assert!(kept.contains("\"ended_early\" : \"stopped by signal"), "{kept}");
    }
}

/// Two hosts: network namespaces with a link between them, and an agent in place of ssh.
struct TwoHosts {
    spaces: [String; 2],
    agent: PathBuf,
}

impl TwoHosts {
    fn new(folder: &Folder) -> Result<TwoHosts, String> {
        let id = std::process::id();
        let spaces = ["a", "b"].map(|host| format!("ios{host}{id}"));
        let agent = folder.join("agent.sh");
        let hosts = TwoHosts { spaces, agent };
        let [one, other] = &hosts.spaces;
        run("ip", &["netns", "add", one])?;
        run("ip", &["netns", "add", other])?;
        let link = ["link", "add", "iosv1", "netns", one, "type", "veth", "peer", "name", "iosv2"];
        run("ip", &[&link[..], &["netns", other]].concat())?;
        for (space, device, address) in
            [(one, "iosv1", "10.77.0.1/24"), (other, "iosv2", "10.77.0.2/24")]
        {
            run("ip", &["-n", space, "addr", "add", address, "dev", device])?;
            run("ip", &["-n", space, "link", "set", "lo", "up"])?;
            run("ip", &["-n", space, "link", "set", device, "up"])?;
        }
        // Called by mpirun as ssh would be: options, the host, a command. The second host's
        // monotonic clock is 1000 s ahead.
        let script = format!(
            "#!/bin/sh\nwhile [ \"${{1#-}}\" != \"$1\" ]; do shift; done\nshift\n\
             exec ip netns exec {other} unshare --uts --time --monotonic 1000 --fork \
             sh -c 'hostname h2; exec sh -c \"$0\"' \"$*\"\n"
        );
        fs::write(&hosts.agent, script).map_err(|error| error.to_string())?;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&hosts.agent, executable).map_err(|error| error.to_string())?;
        Ok(hosts)
    }
}

impl Drop for TwoHosts {
    fn drop(&mut self) {
        for space in &self.spaces {
            // One that could not be made is not there.
            let _ = run("ip", &["netns", "del", space]);
        }
    }
}

#[test]
fn two_hosts_with_clocks_of_their_own_start_together() {
    if !has(OPEN_MPI, "openmpi-bin") || !has("ip", "iproute2") || !is_root("network namespaces") {
        return;
    }
    let folder = Folder::new("mpi-hosts");
    let Some(hosts) = or_skip(TwoHosts::new(&folder)) else { return };
    let agent = hosts.agent.to_str().unwrap();
    let flags = ["--output-format=json", "--output=all.json", "--runtime=1", "--time_based"];
    let flags: Vec<&str> = flags.iter().chain(JOB).copied().collect();
    let before = ["--mca", "plm_rsh_agent", agent, "--bind-to", "none", "--host"];
    let before = [&before[..], &["10.77.0.1:1,10.77.0.2:1", "-n", "2"]].concat();
    let inner = command(OPEN_MPI, &folder, &before, &flags);
    let mut outer = Command::new("ip");
    outer.args(["netns", "exec", &hosts.spaces[0], "unshare", "--uts", "sh", "-c"]);
    outer.args(["hostname h1; exec \"$@\"", "sh"]).arg(inner.get_program()).args(inner.get_args());
    outer.current_dir(Path::new(folder.path())).stdin(Stdio::null());
    for (name, value) in inner.get_envs() {
        outer.env(name, value.unwrap_or_default());
    }
    let output = outer.output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let document = merged(&folder);
    let ours = &document["iosonde"];
    let names = [&ours["hosts"][0]["name"], &ours["hosts"][1]["name"]];
    assert_eq!(names, ["h1", "h2"]);
    // The skew of the monotonic clocks is in nothing.
    let overlap = &ours["overlap"][0];
    assert!(overlap["start_skew_ns"].as_u64().unwrap() < 100_000_000_000, "{overlap}");
    assert!(ours["hosts"][1]["clock"]["offset_ns"].as_i64().unwrap() < 100_000_000_000);
}
