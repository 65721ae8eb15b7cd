//! OpenMetrics 1.0 as text; prometheus-client writes and escapes it.
//!
//! Values are snapshots of the jobs' counters, so a collector hands them over
//! and no metric objects are kept up to date.

use super::{DeviceMetrics, DirMetrics, Durations, JobMetrics, RunMetrics, RunState};
use iosonde_base::DIRS;
use iosonde_stats::octave_end_ns;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, text::encode};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;

/// The metrics, `# EOF` included.
pub(super) fn text(metrics: &RunMetrics) -> String {
    let mut registry = Registry::with_prefix("iosonde");
    registry.register_collector(Box::new(metrics.clone()));
    let mut text = String::new();
    encode(&mut text, &registry).expect("a String takes all text");
    text
}

impl Collector for RunMetrics {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut page = MetricsPage(encoder);
        self.run(&mut page)?;
        self.counters(&mut page)?;
        self.durations(&mut page)?;
        self.places(&mut page)?;
        self.result(&mut page)
    }
}

/// Labels with their values.
type Labels<'a> = Vec<(&'static str, &'a str)>;

struct MetricsPage<'a>(DescriptorEncoder<'a>);

/// Name, unit, help.
type Described = (&'static str, Option<Unit>, &'static str);

impl MetricsPage<'_> {
    fn counter(&mut self, of: Described, samples: &[(Labels<'_>, u64)]) -> fmt::Result {
        let (name, unit, help) = of;
        if samples.is_empty() {
            return Ok(());
        }
        let kind = MetricType::Counter;
        let mut family = self.0.encode_descriptor(name, help, unit.as_ref(), kind)?;
        for (labels, value) in samples {
            let mut metric = family.encode_family(labels)?;
            metric.encode_counter::<NoLabelSet, u64, u64>(value, None)?;
        }
        Ok(())
    }

    fn gauge(&mut self, of: Described, samples: &[(Labels<'_>, f64)]) -> fmt::Result {
        let (name, unit, help) = of;
        if samples.is_empty() {
            return Ok(());
        }
        let kind = MetricType::Gauge;
        let mut family = self.0.encode_descriptor(name, help, unit.as_ref(), kind)?;
        for (labels, value) in samples {
            if labels.is_empty() {
                family.encode_gauge(value)?
            } else {
                family.encode_family(labels)?.encode_gauge(value)?
            }
        }
        Ok(())
    }

    fn histogram(&mut self, of: Described, samples: &[(Labels<'_>, &Durations)]) -> fmt::Result {
        let (name, unit, help) = of;
        if samples.is_empty() {
            return Ok(());
        }
        let kind = MetricType::Histogram;
        let mut family = self.0.encode_descriptor(name, help, unit.as_ref(), kind)?;
        for (labels, durations) in samples {
            let end_s = |octave| octave_end_ns(octave).map_or(f64::INFINITY, |ns| ns as f64 / 1e9);
            let buckets: Vec<(f64, u64)> =
                durations.counts.iter().enumerate().map(|(at, &n)| (end_s(at), n)).collect();
            // The buckets are read one after the other while the job counts on: their sum, and
            // not the job's count of a moment before, is what they hold.
            let count = durations.counts.iter().sum();
            let mut metric = family.encode_family(labels)?;
            let sum_s = durations.sum_ns as f64 / 1e9;
            metric.encode_histogram::<NoLabelSet>(sum_s, count, &buckets, None)?;
        }
        Ok(())
    }
}

fn device(device: &DeviceMetrics) -> Labels<'_> {
    vec![("device", &device.name)]
}

fn job(job: &JobMetrics) -> Labels<'_> {
    vec![("job", &job.name)]
}

impl RunMetrics {
    fn run(&self, page: &mut MetricsPage<'_>) -> fmt::Result {
        let run = &self.run;
        let labels: Labels<'_> = vec![
            ("tool", &run.tool),
            ("kernel", &run.kernel),
            ("engine", &run.engine),
            ("block_size", &run.block_size),
            ("fingerprint", &run.fingerprint),
        ];
        let help = "The run: tool, kernel, engines, block sizes, hash of the job options.";
        page.0.encode_descriptor("run", help, None, MetricType::Info)?.encode_info(&labels)?;
        let states = RunState::ALL.map(|state| {
            (vec![("state", state.word())], if state == self.state { 1.0 } else { 0.0 })
        });
        page.gauge(("run_state", None, "1 for the state that the run is in."), &states)?;
        let progress: Vec<_> = self.progress.iter().map(|&share| (Vec::new(), share)).collect();
        let help = "Share of the run that is done, from 0 to 1.";
        page.gauge(("run_progress_ratio", None, help), &progress)?;
        let help = "When the run began, since 1970.";
        let started = [(Vec::new(), self.started_unix_s)];
        page.gauge(("run_start_timestamp", Some(Unit::Seconds), help), &started)
    }

    /// Each direction in use, with its labels.
    fn dirs(&self) -> impl Iterator<Item = (Labels<'_>, &DirMetrics)> {
        self.jobs.iter().flat_map(|job| {
            DIRS.into_iter().filter_map(move |dir| {
                let labels = vec![("job", job.name.as_str()), ("direction", dir.name())];
                Some((labels, job.dirs[dir].as_ref()?))
            })
        })
    }

    fn counters(&self, page: &mut MetricsPage<'_>) -> fmt::Result {
        let each = |value: fn(&DirMetrics) -> u64| -> Vec<_> {
            self.dirs().map(|(labels, dir)| (labels, value(dir))).collect()
        };
        page.counter(("io_operations", None, "I/Os completed."), &each(|dir| dir.ios))?;
        let bytes = ("io", Some(Unit::Bytes), "Bytes moved.");
        page.counter(bytes, &each(|dir| dir.bytes))?;
        page.counter(("io_errors", None, "I/Os that failed."), &each(|dir| dir.errors))
    }

    fn durations(&self, page: &mut MetricsPage<'_>) -> fmt::Result {
        type Pick = fn(&DirMetrics) -> Option<&Durations>;
        let each = |pick: Pick| -> Vec<_> {
            self.dirs().filter_map(|(labels, dir)| Some((labels, pick(dir)?))).collect()
        };
        let seconds = || Some(Unit::Seconds);
        let help = "Duration of an I/O, from start to completion.";
        page.histogram(("io_duration", seconds(), help), &each(|dir| dir.service.as_ref()))?;
        let help = "Time from when an I/O was due to its completion, of paced jobs.";
        let response: Vec<_> = each(|dir| dir.response.as_ref());
        page.histogram(("response_duration", seconds(), help), &response)?;
        let syncs = self.jobs.iter().filter_map(|one| Some((job(one), one.syncs.as_ref()?)));
        let help = "Duration of fsync, fdatasync and sync_file_range.";
        page.histogram(("sync_duration", seconds(), help), &syncs.collect::<Vec<_>>())
    }

    fn places(&self, page: &mut MetricsPage<'_>) -> fmt::Result {
        let bytes = self.devices.iter().flat_map(|one| {
            let dirs = DIRS.into_iter().zip(one.bytes);
            dirs.map(|(dir, bytes)| {
                (vec![("device", one.name.as_str()), ("direction", dir.name())], bytes)
            })
        });
        let help = "Bytes that the device moved since the run began, of all programs.";
        let of = ("device", Some(Unit::Bytes), help);
        page.counter(of, &bytes.collect::<Vec<_>>())?;
        let flushes: Vec<_> = self.devices.iter().map(|one| (device(one), one.flushes)).collect();
        let help = "Cache flushes of the device since the run began.";
        page.counter(("device_flushes", None, help), &flushes)?;
        let help = "Mean requests in flight at the device since the last reading.";
        let depths = self.devices.iter().filter_map(|one| Some((device(one), one.depth?)));
        page.gauge(("device_queue_depth", None, help), &depths.collect::<Vec<_>>())?;
        let dirty =
            self.jobs.iter().filter_map(|one| Some((job(one), one.only_in_memory_bytes? as f64)));
        let help = "Bytes of the job's files that are dirty in the page cache.";
        let of = ("only_in_memory", Some(Unit::Bytes), help);
        page.gauge(of, &dirty.collect::<Vec<_>>())?;
        let depths = self.jobs.iter().flat_map(|job| {
            let requested = Some(("requested", job.depth_requested as f64));
            let observed = job.depth_observed.map(|depth| ("observed", depth));
            requested
                .into_iter()
                .chain(observed)
                .map(|(place, depth)| (vec![("job", job.name.as_str()), ("place", place)], depth))
        });
        let help = "Queue depth of a job: requested, and the mean observed since the last reading.";
        page.gauge(("queue_depth", None, help), &depths.collect::<Vec<_>>())
    }

    fn result(&self, page: &mut MetricsPage<'_>) -> fmt::Result {
        let Some(result) = &self.result else { return Ok(()) };
        let findings: Vec<_> = result
            .findings
            .iter()
            .map(|(rule, severity)| {
                (vec![("rule", rule.as_str()), ("severity", severity.as_str())], 1.0)
            })
            .collect();
        page.gauge(("finding", None, "1 for each finding of the verdict."), &findings)?;
        let durable: Vec<_> =
            result.durable_bytes_per_s.iter().map(|&rate| (Vec::new(), rate)).collect();
        let help = "Rate of the writes with write-back included.";
        page.gauge(("result_durable_bytes_per_second", None, help), &durable)?;
        let percentiles = result.percentiles.iter().map(|(job, dir, percentile, ns)| {
            let labels =
                vec![("job", job.as_str()), ("direction", dir), ("percentile", percentile)];
            (labels, *ns as f64 / 1e9)
        });
        let help = "Percentiles of the duration of an I/O, of the whole run.";
        let of = ("result_percentile", Some(Unit::Seconds), help);
        page.gauge(of, &percentiles.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests;
