//! CPU affinity, priorities, control groups and users of a job.

use iosonde_options::{Category, CpuSet, FioSupport, options};

use crate::values::{CpusAllowedPolicy, NodeList, NumaMemory};

options! {
    /// Processors and priorities
    pub struct CpuOptions in Category::Process {
        /// Nice value of the job (nice(2)).
        nice: i32 = "0" as "nice" {
            min: Some(-20),
            max: Some(19),
            good: &["0", "-5", "19"],
            bad: &["-21", "20", "very"],
        }
        /// I/O priority within its class, 0 is the highest (ioprio_set(2)).
        prio: Option<u32> = "" as "prio" {
            min: Some(0),
            max: Some(7),
            good: &["0", "7"],
            bad: &["8", "high"],
        }
        /// Class of the I/O priority: 1 real time, 2 best effort, 3 idle.
        prioclass: Option<u32> = "" as "prioclass" {
            min: Some(0),
            max: Some(3),
            good: &["1", "2", "3"],
            bad: &["4", "best"],
        }
        /// Priority hint passed to the device (ioprio_set(2)).
        priohint: Option<u32> = "" as "priohint" {
            min: Some(0),
            max: Some(1023),
            good: &["0", "1"],
            bad: &["1024", "now"],
        }
        /// CPUs the job may run on, as a bit mask.
        cpumask: Option<u64> = "" as "cpumask" {
            good: &["1", "0x3"],
        }
        /// CPUs the job may run on, by number: `0,2-5`.
        cpus_allowed: Option<CpuSet> = "" as "cpus_allowed" {
            fio: FioSupport::Differs("text that is not a CPU number is refused; fio reads it as 0"),
            good: &["0", "0,1", "0-1"],
        }
        /// How these CPUs are assigned to the job's clones.
        cpus_allowed_policy: CpusAllowedPolicy = "shared" as "cpus_allowed_policy" {
            priority: -1,
            parent: Some("cpus_allowed"),
            with: &["cpus_allowed=0-1"],
            good: &["shared", "split"],
        }
        /// NUMA nodes the job may run on.
        numa_cpu_nodes: Option<NodeList> = "" as "numa_cpu_nodes" {
            fio: FioSupport::Differs("text that is not a node number is refused"),
            good: &["0", "0-1", "all"],
        }
        /// NUMA memory policy: `bind:0-1`, `interleave:0,1`, `prefer:0`, `local`.
        numa_mem_policy: Option<NumaMemory> = "" as "numa_mem_policy" {
            fio: FioSupport::Differs("an unknown policy is refused"),
            good: &["default", "bind:0", "interleave:0-1", "bind:all", "prefer:0", "local"],
        }
        /// Run in this control group; it is created if missing.
        ///
        /// With cgroup v1 (`blkio`) each job's thread can be in a different group; with v2 the
        /// program moves as a whole, so all jobs must name the same group.
        cgroup: Option<String> = "" as "cgroup" {
            good: &["test"],
        }
        /// Keep a control group that was created for the job.
        cgroup_nodelete: bool = "0" as "cgroup_nodelete" {
            parent: Some("cgroup"),
            with: &["cgroup=test"],
        }
        /// I/O weight of the control group, where the kernel supports it.
        cgroup_weight: Option<u32> = "" as "cgroup_weight" {
            parent: Some("cgroup"),
            min: Some(100),
            max: Some(1000),
            with: &["cgroup=test"],
            good: &["100", "500"],
            bad: &["99", "1001", "heavy"],
        }
        /// Run as this user: the job's thread alone, after files are laid out.
        uid: Option<u32> = "" as "uid" {
            min: Some(0),
            good: &["0", "1000"],
        }
        /// Run as this group: the job's thread alone, after files are laid out.
        gid: Option<u32> = "" as "gid" {
            min: Some(0),
            good: &["0", "1000"],
        }
    }
}
