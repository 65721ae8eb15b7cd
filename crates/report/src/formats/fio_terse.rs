//! fio's terse output, versions 2 to 5: fields between semicolons, a line for
//! each job. Latencies in microseconds, sizes in KiB.

use crate::report::*;
use crate::scale::percent;
use std::fmt::Write;

/// A version of the terse format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerseVersion {
    /// No version of the program; the description on a separate line.
    V2,
    /// fio's default: no trims.
    #[default]
    V3,
    /// Trims too.
    V4,
    /// And windows of I/Os per second.
    V5,
}

impl TerseVersion {
    /// The version of a number, 2 to 5.
    pub fn of(number: u32) -> Option<TerseVersion> {
        Some(match number {
            2 => TerseVersion::V2,
            3 => TerseVersion::V3,
            4 => TerseVersion::V4,
            5 => TerseVersion::V5,
            _ => return None,
        })
    }

    fn number(self) -> u32 {
        self as u32 + 2
    }
}

/// How many percentiles there are columns for, asked for or not.
const PERCENTILE_FIELDS: usize = 20;

/// The report as fio's `--output-format=terse`: a line for each job.
pub fn fio_terse(report: &Report, version: TerseVersion) -> String {
    let mut text = String::new();
    for job in &report.jobs {
        let line = TerseLine { text: &mut text, version, begun: false };
        line.job(job, report);
    }
    text
}

/// A line being written.
struct TerseLine<'a> {
    text: &'a mut String,
    version: TerseVersion,
    begun: bool,
}

impl TerseLine<'_> {
    fn field(&mut self, field: impl std::fmt::Display) {
        if self.begun {
            self.text.push(';');
        }
        self.begun = true;
        write!(self.text, "{field}").expect("a String takes every write");
    }

    /// A text of the user's. A line's end in it becomes a blank; a semicolon
    /// stays, as in fio, and shifts what follows.
    fn words(&mut self, words: &str) {
        self.field(words.replace(['\n', '\r'], " "));
    }

    fn job(mut self, job: &JobReport, report: &Report) {
        let version = self.version;
        self.field(version.number());
        if version > TerseVersion::V2 {
            self.words(&report.version);
        }
        self.words(&job.name);
        self.field(job.group);
        self.field(job.shown_errno());
        for (name, dir) in job.shown() {
            if name != "trim" || version != TerseVersion::V3 {
                self.direction(dir, &job.percentile_list);
            }
        }
        self.field(format_args!("{:.6}%", job.cpu.user_percent()));
        self.field(format_args!("{:.6}%", job.cpu.system_percent()));
        self.field(job.cpu.ctx);
        self.field(job.cpu.majf);
        self.field(job.cpu.minf);
        self.classes(job);
        if version > TerseVersion::V2 {
            report.disks.iter().for_each(|disk| self.disk(disk));
        }
        if let Some(errors) = &job.errors {
            self.field(errors.total);
            self.field(errors.first_errno);
        }
        if let Some(description) = &job.description {
            if version == TerseVersion::V2 {
                self.text.push('\n');
            }
            self.words(description);
        }
        self.text.push('\n');
    }

    fn direction(&mut self, dir: &DirReport, percentile_list: &[f64]) {
        self.field(dir.io_bytes / 1024);
        self.field(dir.bw_bytes_per_s() / 1024);
        self.field(dir.iops() as u64);
        self.field(dir.runtime_ms);
        self.moments(&dir.slat);
        self.moments(&dir.clat);
        self.percentiles(dir, percentile_list);
        self.moments(&dir.lat);
        let WindowReport { min, max, mean, stddev, samples } = dir.bw_kib;
        self.field(min);
        self.field(max);
        self.field(format_args!("{:.6}%", dir.bw_agg_percent));
        self.field(format_args!("{mean:.6}"));
        self.field(format_args!("{stddev:.6}"));
        if self.version == TerseVersion::V5 {
            self.field(samples);
            let WindowReport { min, max, mean, stddev, samples } = dir.iops_windows;
            self.field(min);
            self.field(max);
            self.field(format_args!("{mean:.6}"));
            self.field(format_args!("{stddev:.6}"));
            self.field(samples);
        }
    }

    fn moments(&mut self, latency: &LatencyReport) {
        self.field(latency.min_ns / 1000);
        self.field(latency.max_ns / 1000);
        self.field(format_args!("{:.6}", latency.mean_ns / 1e3));
        self.field(format_args!("{:.6}", latency.stddev_ns / 1e3));
    }

    /// Twenty fields: `99.000000%=12`, zeros where the direction had no I/O,
    /// and `0%=0` for those beyond the list or not asked for. With `lat_percentiles`
    /// they are those of lat.
    fn percentiles(&mut self, dir: &DirReport, percentile_list: &[f64]) {
        let percentiles = dir.lat.percentiles.as_ref().or(dir.clat.percentiles.as_ref());
        for at in 0..PERCENTILE_FIELDS {
            let value = percentiles.and_then(|list| list.get(at)).map_or(0, |(_, ns)| ns / 1000);
            match percentile_list.get(at) {
                Some(percent) => self.field(format_args!("{percent:.6}%={value}")),
                None => self.field("0%=0"),
            }
        }
    }

    /// Depths, then latency classes; those under a microsecond are counted in
    /// the first.
    fn classes(&mut self, job: &JobReport) {
        for count in job.depth.level {
            self.field(format_args!("{:3.1}%", percent(count, job.issued_ios(), 0.1)));
        }
        let mut classes = job.latency_classes[10..].to_vec();
        classes[0] += job.latency_classes[..10].iter().sum::<u64>();
        for count in classes {
            self.field(format_args!("{:3.2}%", percent(count, job.issued_ios(), 0.01)));
        }
    }

    fn disk(&mut self, disk: &DiskReport) {
        let DiskCounts { ios, merges, ticks_ms, in_queue_ms, util_percent, .. } = disk.counts;
        self.words(&disk.name);
        [ios, merges, ticks_ms].into_iter().flatten().for_each(|count| self.field(count));
        self.field(in_queue_ms);
        self.field(format_args!("{util_percent:3.2}%"));
        disk.slaves.iter().for_each(|slave| self.disk(slave));
    }
}
