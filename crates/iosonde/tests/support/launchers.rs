//! Runs under a launcher of MPI, on this machine or on two hosts: network namespaces with a
//! link between them.

use super::running::{threads_of, wait_until, works};
use iosonde_testing::{Folder, Undo, run};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub const OPEN_MPI: &str = "mpirun.openmpi";
pub const MPICH: &str = "mpirun.mpich";
/// Two ranks on one machine; without binding, which would put both on one core.
pub const TWO: &[&str] = &["--bind-to", "none", "--oversubscribe", "-n", "2"];
/// A job whose thread is named a.
pub const JOB: &[&str] =
    &["--name=a", "--rw=randread", "--bs=4k", "--size=4m", "--filename=f.{rank}"];

/// A launcher in a folder, with the flags of the program and a job after it.
pub fn command(launcher: &str, folder: &Folder, before: &[&str], flags: &[&str]) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_iosonde"));
    let flags = [&["--color=never"], flags].concat();
    command_of(program, launcher, folder, before, &flags)
}

/// The same for another name of the program.
pub fn command_of(
    program: &Path,
    launcher: &str,
    folder: &Folder,
    before: &[&str],
    flags: &[&str],
) -> Command {
    let mut command = Command::new(launcher);
    command.args(before).arg(program).arg("--mpi");
    command.args(flags).current_dir(folder.path()).stdin(Stdio::null());
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_mpi_yield_when_idle", "1");
    command
}

/// A launcher that is to end its ranks waits one second until it kills them, in which they write
/// what they have; a busy machine needs more. It sleeps for all of that time.
pub fn with_time_to_end(mut command: Command) -> Command {
    command.env("OMPI_MCA_odls_base_sigkill_timeout", "5");
    command
}

/// Two hosts: network namespaces with a link between them, and an agent in place of ssh. The
/// second one's monotonic clock is 1000 s ahead.
pub struct TwoHosts {
    spaces: [String; 2],
    agent: PathBuf,
    _undo: [Undo; 2],
}

impl TwoHosts {
    pub fn new(folder: &Folder) -> Result<TwoHosts, String> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let id = std::process::id();
        let spaces = ["a", "b"].map(|host| format!("ios{host}{id}-{number}"));
        let agent = folder.join("agent.sh");
        // One that could not be made is not there.
        let undo = spaces.each_ref().map(|space| Undo::by(&format!("ip netns del {space}")));
        let hosts = TwoHosts { spaces, agent, _undo: undo };
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
        // Called by mpirun as ssh would be: options, the host, a command.
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

    /// The name of a host's network namespace.
    pub fn space(&self, host: usize) -> &str {
        &self.spaces[host]
    }

    /// Open MPI with a rank on each host, h1 and h2.
    pub fn command(&self, folder: &Folder, flags: &[&str]) -> Command {
        let before = ["--mca", "plm_rsh_agent", self.agent.to_str().unwrap(), "--bind-to", "none"];
        let before = [&before[..], &["--host", "10.77.0.1:1,10.77.0.2:1", "-n", "2"]].concat();
        let inner = command(OPEN_MPI, folder, &before, flags);
        let mut outer = Command::new("ip");
        outer.args(["netns", "exec", &self.spaces[0], "unshare", "--uts", "sh", "-c"]);
        outer.args(["hostname h1; exec \"$@\"", "sh"]);
        outer.arg(inner.get_program()).args(inner.get_args());
        outer.current_dir(folder.path()).stdin(Stdio::null());
        for (name, value) in inner.get_envs() {
            outer.env(name, value.unwrap_or_default());
        }
        outer
    }
}

/// A run under a launcher, its output in a file; killed if it outlives its test.
pub struct Launched<'f> {
    child: Child,
    /// Kills the launcher, where the test is interrupted.
    kill: Option<Undo>,
    folder: &'f Folder,
}

impl<'f> Launched<'f> {
    pub fn start(mut command: Command, folder: &'f Folder) -> Launched<'f> {
        let out = fs::File::create(folder.join("out")).unwrap();
        let errors = out.try_clone().unwrap();
        let child = command.stdout(out).stderr(errors).spawn().unwrap();
        let kill = Some(Undo::kill(&child));
        Launched { child, kill, folder }
    }

    /// What has been printed so far.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.folder.join("out")).unwrap()).into_owned()
    }

    /// The launcher's process.
    pub fn launcher(&self) -> u32 {
        self.child.id()
    }

    /// The process of a rank, once it is there: of those that run in the folder, the one whose
    /// environment says so.
    pub fn rank(&self, rank: u32) -> u32 {
        let mut found = None;
        wait_until(&format!("rank {rank} is there"), || {
            let own = format!("OMPI_COMM_WORLD_RANK={rank}");
            found = processes_in(self.folder).into_iter().find(|id| {
                let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
                environment.split(|&byte| byte == 0).any(|set| set == own.as_bytes())
            });
            found.is_some()
        });
        found.unwrap()
    }

    /// Wait until these ranks have a thread of that name: a job's has the job's, and is there
    /// from the start of the wave on.
    pub fn wait_for_thread(&self, name: &str, ranks: &[u32]) {
        for &rank in ranks {
            let process = self.rank(rank);
            wait_until(&format!("rank {rank} has a thread named {name}"), || {
                threads_of(process).iter().any(|thread| thread == name)
            });
        }
    }

    /// Names of a rank's threads.
    pub fn threads(&self, rank: u32) -> Vec<String> {
        threads_of(self.rank(rank))
    }

    /// Wait until these ranks do I/O in a thread of that name.
    pub fn wait_for_work(&self, name: &str, ranks: &[u32]) {
        for &rank in ranks {
            let process = self.rank(rank);
            wait_until(&format!("rank {rank} does I/O"), || works(process, name));
        }
    }

    /// Wait until a file of the folder is there.
    pub fn wait_for_file(&self, name: &str) {
        wait_until(&format!("{name} is there"), || self.folder.join(name).exists());
    }

    /// Wait for its end: the exit code as a shell has it, and what it printed. Fails the test
    /// if it hangs.
    pub fn end(mut self) -> (i32, String) {
        let mut ended: Option<ExitStatus> = None;
        wait_until("the launcher ends", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        self.kill.take().into_iter().for_each(Undo::cancel);
        let ended = ended.unwrap();
        (ended.code().unwrap_or(128 + ended.signal().unwrap_or_default()), self.out())
    }
}

impl Drop for Launched<'_> {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let ranks = processes_in(self.folder);
            ranks.iter().for_each(|&id| send("-KILL", id));
            drop(self.kill.take());
            let _ = self.child.wait();
        }
    }
}

/// Processes of the program that run in a folder.
fn processes_in(folder: &Folder) -> Vec<u32> {
    let Ok(place) = fs::canonicalize(folder.path()) else { return Vec::new() };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
    let is_ours = |id: &u32| {
        let name = fs::read_to_string(format!("/proc/{id}/comm"));
        let is_in = || fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd == place);
        name.is_ok_and(|name| name == "iosonde\n") && is_in()
    };
    ids.filter(is_ours).collect()
}

/// Send a signal to a process, which may have ended.
pub fn send(signal: &str, process: u32) {
    // The shell's own: a small Debian has no other kill.
    let _ = run("sh", &["-c", "kill \"$0\" \"$1\"", signal, &process.to_string()]);
}

/// Whether all hosts ran their jobs. On a busy machine they may not run together: then there is no
/// total, and the code is 3.
pub fn has_run(code: Option<i32>) -> bool {
    matches!(code, Some(0 | 3))
}

/// The result of a rank, or another document of the folder.
#[track_caller]
pub fn document(folder: &Folder, name: &str) -> Value {
    let text = folder.read(name);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"))
}
