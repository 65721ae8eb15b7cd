//! Output while workers run: a line for each window, then the total.

use crate::bench::{Benchmark, LineFormat, Logger, WorkerRole};
use crate::csv::CsvFile;
use crate::figures::Figures;
use crate::jobs::{PlannedBench, RecordWorker, WINDOW_NS, sync_call};
use crate::latencies::Latencies;
use crate::lines;
use crate::metrics::Metrics;
use crate::remedies::own_names;
use iosonde_base::text::harmless;
use iosonde_run::conductor::{Observer, RunEvent};
use iosonde_run::worker::JobError;
use iosonde_sys::clock::Clock;
use iosonde_sys::standard_error;
use std::io::Write;
use std::time::{Duration, Instant};

/// How long the end of a window is waited for: its workers hand over what they
/// have at that moment, unless one blocks in a call.
const PATIENCE: Duration = Duration::from_millis(200);

/// Observes a run and prints its lines.
pub struct RecordsObserver<'a> {
    bench: &'a Benchmark,
    workers: &'a [RecordWorker],
    origin: &'a crate::tally::RunStart,
    table: Option<CsvFile>,
    metrics: Option<Metrics>,
    /// The next window to print.
    window: u64,
    total: Latencies,
    issued: u64,
    /// Errors of workers, by their numbers, that were no end of file.
    pub errors: Vec<String>,
    /// The first write error: of the table or the lines.
    pub lost: Option<String>,
}

impl<'a> RecordsObserver<'a> {
    /// A listener for one run; its table and its metrics are there from now on.
    pub fn new(
        bench: &'a Benchmark,
        planned: &'a PlannedBench,
    ) -> Result<RecordsObserver<'a>, String> {
        let output = &bench.output;
        let table = match &output.csv {
            Some(path) => Some(
                CsvFile::create(path, bench)
                    .map_err(|error| format!("-csvfile {}: {error}", path.display()))?,
            ),
            None => None,
        };
        let metrics = output.metrics.as_ref().map(|context| Metrics::listen(context, bench));
        Ok(RecordsObserver {
            bench,
            workers: &planned.workers,
            origin: &planned.origin,
            table,
            metrics: metrics.transpose()?,
            window: 0,
            total: Latencies::default(),
            issued: 0,
            errors: Vec::new(),
            lost: None,
        })
    }

    /// Print the windows that are over.
    fn print_due(&mut self) {
        let Some(&(origin, clock)) = self.origin.get() else { return };
        while clock.ns_between(origin, clock.now()) >= (self.window + 1) * WINDOW_NS {
            self.await_passed();
            self.print_window(WINDOW_NS);
        }
    }

    fn await_passed(&self) {
        let since = Instant::now();
        while !self.workers.iter().all(|worker| worker.tally.has_passed(self.window))
            && since.elapsed() < PATIENCE
        {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn print_window(&mut self, elapsed_ns: u64) {
        let (mut all, mut issued, mut running) = (Latencies::default(), 0, 0);
        for worker in self.workers {
            let taken = worker.tally.take(self.window);
            all.merge(taken.latencies);
            issued += taken.issued;
            running += u32::from(taken.runs);
        }
        self.window += 1;
        self.total.merge(all.clone());
        let mut figures = Figures::of(self.bench, all, elapsed_ns, false);
        figures.workers = (running, self.most_at_once());
        figures.requests = self.bench.output.requests.then(|| {
            let requested = issued.saturating_sub(self.issued);
            (requested, issued.saturating_sub(self.total.records))
        });
        self.issued = issued;
        self.report(&figures);
    }

    fn report(&mut self, figures: &Figures) {
        if let (Some(metrics), false) = (&mut self.metrics, figures.total) {
            metrics.publish(self.bench, figures);
        }
        if let Some(Err(error)) = self.table.as_mut().map(|table| table.row(self.bench, figures)) {
            self.lost.get_or_insert(format!("cannot write the CSV file: {error}"));
            self.table = None;
        }
        self.print(&lines::line(self.bench, figures));
    }

    fn print(&mut self, text: &str) {
        if self.bench.output.logger == Logger::Json {
            return;
        }
        let mut out = std::io::stdout();
        let written = out.write_all(harmless(text).as_bytes()).and_then(|()| out.flush());
        match written {
            // A closed pipe, as before `head`, is no error.
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                self.lost.get_or_insert(format!("cannot write to standard output: {error}"));
            }
            _ => {}
        }
    }

    /// The run is over: print the rest and the total. `requested_s` are the seconds
    /// that were requested, if the run lasted as long.
    pub fn finish(&mut self, requested_s: Option<u64>) {
        let origin = self.origin.get().copied();
        let last_end = self.workers.iter().map(|worker| worker.tally.last_end()).max().unwrap_or(0);
        let elapsed_ns = origin.map_or(0, |(origin, clock)| since(&clock, origin, last_end));
        while self.workers.iter().any(|worker| worker.tally.has_more()) {
            let begins = self.window * WINDOW_NS;
            let rest = elapsed_ns.saturating_sub(begins);
            if rest < WINDOW_NS && self.bench.output.format == LineFormat::Old {
                // 0.77 does not print a window that was cut short.
                self.collect_rest();
            } else {
                self.print_window(rest.min(WINDOW_NS));
            }
        }
        let mut figures =
            Figures::of(self.bench, std::mem::take(&mut self.total), elapsed_ns, true);
        figures.workers = (0, self.most_at_once());
        figures.requests = self.bench.output.requests.then_some((self.issued, 0));
        figures.requested_s = requested_s;
        self.report(&figures);
        if figures.latencies.is_coarse() {
            self.print(
                "More than four million distinct latencies: percentiles are exact to 0.006 %.\n",
            );
        }
        self.print_syncs();
        if let Some(Err(error)) = self.table.take().map(CsvFile::finish) {
            self.lost.get_or_insert(format!("-csvfile: {error}"));
        }
        // The server ends with the run.
        self.metrics = None;
    }

    fn collect_rest(&mut self) {
        for worker in self.workers {
            let taken = worker.tally.take(self.window);
            self.total.merge(taken.latencies);
            self.issued = self.issued.max(taken.issued);
        }
        self.window += 1;
    }

    /// The most workers that ran at the same time so far.
    fn most_at_once(&self) -> u32 {
        let spans: Vec<_> = self.workers.iter().filter_map(|worker| worker.tally.span()).collect();
        // Most run when one of them begins.
        let runs_at = |moment: u64| {
            let runs = |span: &&(u64, u64)| (span.0..=span.1).contains(&moment);
            spans.iter().filter(runs).count() as u32
        };
        spans.iter().map(|&(began, _)| runs_at(began)).max().unwrap_or(0)
    }

    fn print_syncs(&mut self) {
        let mut syncs = Latencies::default();
        self.workers.iter().for_each(|worker| syncs.merge(worker.tally.syncs()));
        if syncs.records > 0 {
            let own = crate::jobs::empties_buffers(self.bench);
            let call = if own { "flushes, no fsync" } else { sync_call(self.bench) };
            let line = lines::syncs(self.bench, call, syncs);
            self.print(&line);
        }
    }

    /// Keep the error of a worker.
    fn failed(&mut self, job: usize, error: &JobError) {
        if self.bench.action == WorkerRole::Read && is_end_of_file(error) {
            return;
        }
        let number = self.workers[job].number;
        let line = format!("{} {number} failed: {}", self.bench.action.worker(), own_names(error));
        standard_error::print_line(format_args!("{line}"));
        self.errors.push(line);
    }
}

/// Whether a reader found less in its file than was there when it began.
pub fn is_end_of_file(error: &JobError) -> bool {
    error.failure.doing == "read"
        && error.failure.detail.is_some_and(|detail| detail.starts_with("end of file"))
}

fn since(clock: &Clock, earlier: u64, later: u64) -> u64 {
    if later > earlier { clock.ns_between(earlier, later) } else { 0 }
}

impl Observer for RecordsObserver<'_> {
    fn see(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Tick { .. } => self.print_due(),
            RunEvent::JobFinished { job, result } => {
                if let Some(error) = &result.error {
                    self.failed(job.number as usize - 1, error);
                }
            }
            RunEvent::Stopping { signal } => {
                standard_error::print_line(format_args!("signal {signal}: ending the run"))
            }
            _ => {}
        }
    }

    fn every(&self) -> Option<Duration> {
        Some(Duration::from_millis(200))
    }
}
