//! Metrics of a run for Prometheus: over HTTP (`--metrics-listen`) and in a file
//! for node_exporter's textfile collector (`--metrics-file`).
//!
//! Who asks reads the jobs' counters; the jobs do not notice.

mod collect;
mod textfile;

use collect::RunCollector;
use iosonde_report::Report;
use iosonde_report::live::metrics::{RunMetrics, RunState};
use iosonde_report::live::{PageServer, PageSource, ServedPage};
use iosonde_run::conductor::RunEvent;
use iosonde_session::ReadyRun;
use iosonde_spec::cli::flags::Flags;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use textfile::TextFile;

const PATH: &str = "/metrics";

/// Counters are read for a page at most this often; who asks meanwhile gets the
/// same again. A scraper that asks without pause takes no processor for it.
const EVERY_LEAST: Duration = Duration::from_millis(50);

/// Where metrics are to be had; opened before anything runs.
pub struct Endpoints {
    server: Option<PageServer>,
    pages: Arc<MetricsPages>,
    file: Option<TextFile>,
}

/// The metrics of a run.
pub struct MetricsOutputs {
    collector: Arc<RunCollector>,
    file: Option<TextFile>,
    _server: Option<PageServer>,
}

#[derive(Default)]
struct MetricsPages {
    collector: OnceLock<Arc<RunCollector>>,
    last: Mutex<Option<(Instant, RunMetrics)>>,
}

impl PageSource for MetricsPages {
    fn page(&self, accept: &str) -> ServedPage {
        let Some(collector) = self.collector.get() else {
            return RunMetrics::default().page(accept);
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |(at, _): &(Instant, RunMetrics)| at.elapsed() < EVERY_LEAST;
        let metrics = match last.take().filter(is_recent) {
            Some(recent) => recent,
            None => (Instant::now(), collector.collect()),
        };
        last.insert(metrics).1.page(accept)
    }
}

impl Endpoints {
    /// Listen, and see whether the file may be written. `None` if no metrics are wanted.
    ///
    /// # Errors
    /// The address is in use, or the file is not one of metrics: a sentence.
    pub fn open(flags: &Flags) -> Result<Option<Endpoints>, String> {
        if flags.live.metrics_listen.is_none() && flags.live.metrics_file.is_none() {
            return Ok(None);
        }
        let file = flags
            .live
            .metrics_file
            .as_ref()
            .map(|file| TextFile::at(Path::new(file), flags.output.force));
        let file = file.transpose().map_err(|why| format!("--metrics-file: {why}"))?;
        let pages = Arc::<MetricsPages>::default();
        let listen = |address: &String| {
            PageServer::listen(address, PATH, pages.clone())
                .map_err(|error| format!("--metrics-listen={address}: cannot listen: {error}"))
        };
        let server = flags.live.metrics_listen.as_ref().map(listen).transpose()?;
        Ok(Some(Endpoints { server, pages, file }))
    }

    /// Where metrics are served, for the user.
    pub fn url(&self) -> Option<String> {
        let address = self.server.as_ref()?.address();
        Some(format!("http://{address}{PATH}"))
    }

    /// Metrics of these jobs from now on.
    ///
    /// # Errors
    /// The file cannot be written: a sentence.
    pub fn begin(mut self, ready: &ReadyRun<'_>) -> Result<MetricsOutputs, String> {
        let collector = Arc::new(RunCollector::new(ready));
        // Nobody else sets it.
        let _ = self.pages.collector.set(collector.clone());
        if let Some(file) = &mut self.file {
            let source = collector.clone();
            file.keep(move || source.collect().classic())
                .map_err(|why| format!("--metrics-file: {why}"))?;
        }
        Ok(MetricsOutputs { collector, file: self.file, _server: self.server })
    }
}

impl MetricsOutputs {
    /// What happens in the run.
    pub fn see(&self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Begun { view } => self.collector.attach(view),
            RunEvent::WaveStarted { .. } => self.collector.enter(RunState::Running),
            RunEvent::Ended => self.collector.enter(RunState::Finishing),
            _ => {}
        }
    }

    /// The run is done, and this is its report.
    ///
    /// # Errors
    /// The file cannot be written: a sentence.
    pub fn finish(self, report: &Report) -> Result<(), String> {
        self.collector.finish(report);
        match self.file {
            Some(file) => file.finish().map_err(|why| format!("--metrics-file: {why}")),
            None => Ok(()),
        }
    }
}
