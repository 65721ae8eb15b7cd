//! The jobs of each host as they are, and all of them as one: what fio's client prints.

use super::MergedHost;
use super::job_sum::JobSum;
use iosonde_report::hosts::{ClientJobs, HostJobs};
use iosonde_report::{JobReport, Report};

/// fio's name of the sum.
const ALL_CLIENTS: &str = "All clients";

/// All jobs of all hosts so far.
#[derive(Debug, Default)]
pub(super) struct ClientSum {
    sum: JobSum,
    first: Option<JobReport>,
}

impl ClientSum {
    /// Add the jobs of a host, which are kept.
    pub fn add(&mut self, host: &str, report: &Report) -> HostJobs {
        for job in &report.jobs {
            self.sum.add(host, job, None);
            self.first.get_or_insert_with(|| job.clone());
        }
        HostJobs {
            host: host.to_owned(),
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
        sum.options = Vec::new();
        sum.description = None;
        let kept = |host: &mut MergedHost| {
            let jobs = host.jobs.take()?;
            Some(HostJobs { host: host.row.name.clone(), ..jobs })
        };
        ClientJobs { hosts: hosts.iter_mut().filter_map(kept).collect(), sum }
    }
}
