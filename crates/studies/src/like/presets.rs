//! The workloads, each with its job file, its steps and what its figures mean.
//! Their sources are in the job files.

use super::preset::{Preset, PresetSteps};
use super::readings;

const DESKTOP_SECTIONS: [&str; 8] = [
    "SEQ1M-Q8T1-read",
    "SEQ1M-Q8T1-write",
    "SEQ1M-Q1T1-read",
    "SEQ1M-Q1T1-write",
    "RND4K-Q32T1-read",
    "RND4K-Q32T1-write",
    "RND4K-Q1T1-read",
    "RND4K-Q1T1-write",
];

/// All workloads, in the order of the list.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "etcd-wal",
        summary: "the log of etcd; goal: p99 of fdatasync below 10 ms",
        job: include_str!("jobs/etcd-wal.fio"),
        writes: true,
        steps: PresetSteps::Whole,
        read: readings::etcd_wal,
    },
    Preset {
        name: "pg-wal",
        summary: "commits of one session of PostgreSQL",
        job: include_str!("jobs/pg-wal.fio"),
        writes: true,
        steps: PresetSteps::Whole,
        read: readings::pg_wal,
    },
    Preset {
        name: "pg-checkpoint",
        summary: "reads of PostgreSQL with and without a checkpoint at the same time",
        job: include_str!("jobs/pg-checkpoint.fio"),
        writes: true,
        steps: PresetSteps::Sections(&[&["reads"], &["reads", "checkpoint"]]),
        read: readings::pg_checkpoint,
    },
    Preset {
        name: "oltp",
        summary: "many sessions of a database: where the knee is, latency at half of it",
        job: include_str!("jobs/oltp.fio"),
        writes: true,
        steps: PresetSteps::Depths(&["1", "2", "4", "8", "16", "32"]),
        read: readings::oltp,
    },
    Preset {
        name: "kafka",
        summary: "a broker of Kafka: appends without fsync, two readers",
        job: include_str!("jobs/kafka.fio"),
        writes: true,
        steps: PresetSteps::Whole,
        read: readings::kafka,
    },
    Preset {
        name: "backup",
        summary: "a backup is written: twice the memory, at least 64 GiB",
        job: include_str!("jobs/backup.fio"),
        writes: true,
        steps: PresetSteps::Whole,
        read: readings::backup,
    },
    Preset {
        name: "restore",
        summary: "a backup is read: twice the memory, at least 64 GiB",
        job: include_str!("jobs/restore.fio"),
        writes: false,
        steps: PresetSteps::Whole,
        read: readings::backup,
    },
    Preset {
        name: "vm-boot",
        summary: "8 virtual machines boot together",
        job: include_str!("jobs/vm-boot.fio"),
        writes: true,
        steps: PresetSteps::Whole,
        read: readings::vm_boot,
    },
    Preset {
        name: "video",
        summary: "8 streams of video are played: how many reads come late",
        job: include_str!("jobs/video.fio"),
        writes: false,
        steps: PresetSteps::Whole,
        read: readings::video,
    },
    Preset {
        name: "file-server",
        summary: "Intel's file server for Iometer, from light to heavy load",
        job: include_str!("jobs/file-server.fio"),
        writes: true,
        steps: PresetSteps::Depths(&["1", "4", "8", "64", "256"]),
        read: readings::depths,
    },
    Preset {
        name: "desktop",
        summary: "the 4 x 2 table of CrystalDiskMark",
        job: include_str!("jobs/desktop.fio"),
        writes: true,
        steps: PresetSteps::Loops(&DESKTOP_SECTIONS),
        read: readings::desktop,
    },
    Preset {
        name: "k8s-volume",
        summary: "a volume of Kubernetes, as kubestr measures it",
        job: include_str!("jobs/k8s-volume.fio"),
        writes: true,
        steps: PresetSteps::Sections(&[
            &["read_iops"],
            &["write_iops"],
            &["read_bw"],
            &["write_bw"],
        ]),
        read: readings::k8s_volume,
    },
];
