//! The jobs of each host as they are, and all of them as one: what fio's client prints.

use super::MergedHost;
use super::job_sum::JobSum;
use iosonde_base::{DIRS, PerDir};
use iosonde_report::hosts::{ClientJobs, HostJobs};
use iosonde_report::{JobReport, Report};

/// fio's name of the sum.
const ALL_CLIENTS: &str = "All clients";

/// All jobs of all hosts so far.
#[derive(Debug, Default)]
pub(super) struct ClientSum {
    sum: JobSum,
    first: Option<JobReport>,
    /// The group of the last job, and the longest run in each direction, where the sum is
    /// as that of fio's client.
    as_fio: Option<(u32, PerDir<u64>)>,
}

impl ClientSum {
    /// Whose report is as that of fio's client.
    pub fn as_fio() -> ClientSum {
        ClientSum { as_fio: Some(Default::default()), ..ClientSum::default() }
    }

    /// Add the jobs of a host, which are kept.
    pub fn add(&mut self, host: &str, report: &Report) -> HostJobs {
        for job in &report.jobs {
            self.sum.add(host, job, None);
            self.first.get_or_insert_with(|| job.clone());
            if let Some((group, longest)) = &mut self.as_fio {
                *group = job.group;
                for dir in DIRS {
                    longest[dir] = longest[dir].max(job.dirs[dir].runtime_ms);
                }
            }
        }
        HostJobs {
            host: host.to_owned(),
            port: 0,
            global_options: report.global_options.clone(),
            jobs: report.jobs.clone(),
            disks: report.disks.clone(),
        }
    }

    /// The hosts in their order, and the sum: it took from the first start to the last end.
    pub fn report(self, hosts: &mut [MergedHost]) -> ClientJobs {
        let spans = || hosts.iter().flat_map(|host| &host.groups).map(|group| group.span);
        let began = spans().map(|span| span.began_ns).min().unwrap_or(0);
        let ended = spans().map(|span| span.ended_ns).max().unwrap_or(0);
        let run_ms = (ended.saturating_sub(began) + 500_000) / 1_000_000;
        let mut sum = self.sum.report(&self.first.unwrap_or_default(), run_ms);
        (sum.name, sum.group) = (ALL_CLIENTS.to_owned(), 0);
        if let Some((group, longest)) = self.as_fio {
            (sum.group, sum.start_unix_ms) = (group, 0);
            for dir in DIRS {
                let own = &mut sum.dirs[dir];
                own.runtime_ms = longest[dir];
                let kib_per_s = own.bw_bytes_per_s() as f64 / 1024.0;
                let share = own.bw_kib.mean * 100.0 / kib_per_s.max(1.0);
                own.bw_agg_percent = share.min(100.0);
            }
        }
        sum.options = Vec::new();
        sum.description = None;
        let kept = |host: &mut MergedHost| {
            let jobs = host.jobs.take()?;
            Some(HostJobs { host: host.row.name.clone(), ..jobs })
        };
        ClientJobs { hosts: hosts.iter_mut().filter_map(kept).collect(), sum }
    }
}
