//! What fio's normal text says before the jobs start.

use super::line;
use crate::report::TextUnits;
use crate::scale::{PrefixBase, PrefixedUnit, human};
use iosonde_base::PerDir;
use std::fmt::Write;

/// A job as it is announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Its name.
    pub name: String,
    /// Its reporting group.
    pub group: u32,
    /// `rw=`, in fio's canonical word: `randrw`.
    pub rw: String,
    /// Smallest and largest block of each direction, in bytes.
    pub block_bytes: PerDir<(u64, u64)>,
    /// `bs_is_seq_rand`: then there are two sizes, not three.
    pub bs_is_seq_rand: bool,
    /// `ioengine=`.
    pub engine: String,
    /// `iodepth=`, as asked.
    pub depth: u32,
    /// `numjobs=`.
    pub clones: u32,
    /// Units, of which the base counts.
    pub units: TextUnits,
    /// `significant_figures`.
    pub significant_figures: u32,
}

/// A line for each job, `...` after those with clones, and the version.
pub fn opening_lines(jobs: &[Opening], version: &str) -> String {
    let mut text = String::new();
    for job in jobs {
        let sizes = ["(R)", "(W)", "(T)"].into_iter().zip(job.block_bytes.0);
        let sizes: Vec<String> = sizes
            .take(if job.bs_is_seq_rand { 2 } else { 3 })
            .map(|(name, (least, most))| {
                let size = |bytes| {
                    let base = PrefixBase::of(job.units.kb_base);
                    human(bytes, job.significant_figures, base, PrefixedUnit::Bytes)
                };
                format!("{name} {}-{}", size(least), size(most))
            })
            .collect();
        let seq_rand = if job.bs_is_seq_rand { ", bs_is_seq_rand" } else { "" };
        let Opening { name, group, rw, engine, depth, .. } = job;
        let sizes = sizes.join(", ");
        line!(
            text,
            "{name}: (g={group}): rw={rw}, bs={sizes}{seq_rand}, ioengine={engine}, \
             iodepth={depth}"
        );
        if job.clones > 1 {
            text.push_str("...\n");
        }
    }
    line!(text, "{version}");
    text
}

/// `Starting 2 threads and 1 process`.
pub fn starting_line(threads: u32, processes: u32) -> String {
    let plural = |n: u32, one: &str, many: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{n} {many}")),
    };
    let parts = [plural(threads, "thread", "threads"), plural(processes, "process", "processes")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!("Starting {}\n", parts.join(" and ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_announced_as_fio_does() {
        let job = Opening {
            name: "x".into(),
            group: 0,
            rw: "randrw".into(),
            block_bytes: PerDir([(4096, 8192), (512, 65_536), (1 << 20, 10_000_000)]),
            bs_is_seq_rand: false,
            engine: "null".into(),
            depth: 1,
            clones: 3,
            units: TextUnits::default(),
            significant_figures: 4,
        };
        assert_eq!(
            opening_lines(std::slice::from_ref(&job), "fio-3.42"),
            "x: (g=0): rw=randrw, bs=(R) 4096B-8192B, (W) 512B-64.0KiB, (T) 1024KiB-9766KiB, \
             ioengine=null, iodepth=1\n...\nfio-3.42\n"
        );
        let two = Opening { bs_is_seq_rand: true, clones: 1, ..job };
        assert_eq!(
            opening_lines(&[two], "v"),
            "x: (g=0): rw=randrw, bs=(R) 4096B-8192B, (W) 512B-64.0KiB, bs_is_seq_rand, \
             ioengine=null, iodepth=1\nv\n"
        );
        assert_eq!(starting_line(2, 1), "Starting 2 threads and 1 process\n");
        assert_eq!(starting_line(0, 3), "Starting 3 processes\n");
    }
}
