//! A Slurm of a test's own: a controller and two nodes, each in a network namespace, with all
//! their files in the test's folder. It neither uses nor disturbs one of the machine.

use super::launchers::TwoHosts;
use super::running::wait_until;
use iosonde_testing::{Folder, Undo};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A cluster of two nodes, h1 and h2; its processes end with it.
pub struct Slurm {
    /// The first process of their namespace, with which all end.
    daemons: Child,
    kill: Option<Undo>,
    hosts: TwoHosts,
    configuration: PathBuf,
}

impl Slurm {
    /// Start it, in a folder whose path is short: sockets are in it.
    pub fn start(folder: &Folder) -> Result<Slurm, String> {
        let hosts = TwoHosts::new(folder)?;
        let place = folder.path().to_str().unwrap();
        for directory in ["state", "spool.h1", "spool.h2", "tmp.h1", "tmp.h2"] {
            fs::create_dir(folder.join(directory)).unwrap();
        }
        // Neither authentication nor credentials: the nodes' networks reach nobody else.
        let configuration = format!(
            "ClusterName=test\nSlurmctldHost=h1(10.77.0.1)\nAuthType=auth/none\n\
             CredType=cred/none\nSlurmUser=root\nSlurmdUser=root\n\
             StateSaveLocation={place}/state\nSlurmdSpoolDir={place}/spool.%n\n\
             SlurmctldPidFile={place}/control.pid\nSlurmdPidFile={place}/node.%n.pid\n\
             SlurmctldLogFile={place}/control.log\nSlurmdLogFile={place}/node.%n.log\n\
             TmpFS={place}/tmp.%n\nProctrackType=proctrack/pgid\nTaskPlugin=task/none\n\
             JobAcctGatherType=jobacct_gather/none\nSelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core\nSlurmdParameters=config_overrides\n\
             ReturnToService=2\nMpiDefault=none\n\
             NodeName=h1 NodeAddr=10.77.0.1 CPUs=1\nNodeName=h2 NodeAddr=10.77.0.2 CPUs=1\n\
             PartitionName=all Nodes=h1,h2 Default=YES State=UP OverSubscribe=FORCE\n"
        );
        let configuration = PathBuf::from(folder.write("slurm.conf", configuration));
        let on = |host: usize| on_host(&hosts, host);
        let script = format!(
            "{} slurmctld -D -i & {} slurmd -D -N h1 & {} slurmd -D -N h2 & wait",
            on(1),
            on(1),
            on(2)
        );
        let log = fs::File::create(folder.join("daemons.log")).unwrap();
        // With a process namespace of their own nothing of them is left over.
        let mut command = Command::new("unshare");
        command.args(["--pid", "--mount-proc", "--fork", "--kill-child=KILL", "sh", "-c", &script]);
        command.env("SLURM_CONF", &configuration).stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log);
        let daemons = command.spawn().map_err(|error| format!("unshare: {error}"))?;
        let kill = Some(Undo::kill(&daemons));
        let slurm = Slurm { daemons, kill, hosts, configuration };
        wait_until("both nodes are idle", || {
            let nodes = slurm.on_first(&["sinfo", "--noheader", "--format=%D %T"]).output();
            nodes.is_ok_and(|nodes| nodes.stdout == b"2 idle\n")
        });
        Ok(slurm)
    }

    /// A command of Slurm on the first node.
    pub fn on_first(&self, words: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec {} \"$@\"", on_host(&self.hosts, 1)), "sh"]);
        command.args(words).env("SLURM_CONF", &self.configuration).stdin(Stdio::null());
        command
    }

    /// A rank of the program on each node.
    pub fn srun(&self, folder: &Folder, flags: &[&str], words: &[&str]) -> Command {
        let ranks = ["srun", "-N", "2", "--ntasks-per-node=1"];
        let program = [env!("CARGO_BIN_EXE_iosonde"), "--color=never"];
        let mut command = self.on_first(&[&ranks[..], flags, &program, words].concat());
        command.current_dir(folder.path());
        // As docs/hosts.md says for Open MPI: no binding to one processor.
        command.env("OMPI_MCA_hwloc_base_binding_policy", "none").env("PMIX_MCA_gds", "hash");
        command.env("OMPI_MCA_mpi_yield_when_idle", "1");
        command
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        drop(self.kill.take());
        let _ = self.daemons.wait();
    }
}

/// What precedes a command that runs on a host. `ip netns exec` would hide the control groups
/// of /sys, which slurmd wants to see.
fn on_host(hosts: &TwoHosts, host: usize) -> String {
    let space = hosts.space(host - 1);
    format!(
        "nsenter --net=/run/netns/{space} unshare --uts sh -c 'hostname h{host}; exec \"$@\"' sh"
    )
}
