//! The last window's figures over HTTP, for Prometheus, under SBK's names.

use crate::bench::{Benchmark, MB, MetricsAddress};
use crate::figures::Figures;
use crate::latencies::{name, percentiles};
use crate::lines::Requested;
use iosonde_report::live::PageServer;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// Answers scrapes until it is dropped.
pub struct Metrics {
    _server: PageServer,
    page: Arc<Mutex<String>>,
    sums: Sums,
}

/// Counters summed over all windows.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    records: u64,
    bytes: u64,
    lower: u64,
    higher: u64,
    requests: [(u64, f64); 2],
}

impl Metrics {
    /// Listen.
    pub fn listen(context: &MetricsAddress, bench: &Benchmark) -> Result<Metrics, String> {
        let shown = Arc::<Mutex<String>>::default();
        let server = PageServer::listen(&context.address, &context.path, shown.clone())
            .map_err(|error| format!("-context {}: cannot listen: {error}", context.address))?;
        let mut metrics = Metrics { _server: server, page: shown, sums: Sums::default() };
        metrics.publish(bench, &Figures::of(bench, Default::default(), 0, false));
        Ok(metrics)
    }

    /// From now on, answer with these figures of a window.
    pub fn publish(&mut self, bench: &Benchmark, figures: &Figures) {
        let latencies = &figures.latencies;
        self.sums.records += latencies.records;
        self.sums.bytes += latencies.bytes;
        self.sums.lower += latencies.lower;
        self.sums.higher += latencies.higher;
        for (sum, of_window) in self.sums.requests.iter_mut().zip(Requested::of(bench, figures)) {
            *sum = (sum.0 + of_window.records, sum.1 + of_window.mb * MB);
        }
        let page = page(bench, figures, &self.sums);
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = page;
    }
}

/// A page of the text format (version 0.0.4), each name with its type.
struct Exposition {
    text: String,
    labels: String,
}

impl Exposition {
    fn put(&mut self, name: &str, value: f64) {
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        let labels = &self.labels;
        let _ = writeln!(self.text, "# TYPE {name} {kind}\n{name}{{{labels}}} {value}");
    }
}

fn page(bench: &Benchmark, figures: &Figures, sums: &Sums) -> String {
    let (action, class) = (bench.action.word(), bench.class.storage());
    let labels = format!("action=\"{action}\",class=\"{class}\",component=\"sbk\"");
    let mut page = Exposition { text: String::new(), labels };
    let kinds = ["Writers", "Readers", "Max_Writers", "Max_Readers"];
    for (kind, n) in kinds.into_iter().zip(figures.workers_of(bench.action)) {
        page.put(&format!("SBK_{kind}"), n.into());
    }
    requests(&mut page, bench, figures, sums);
    let put = |page: &mut Exposition, what: &str, value: f64| {
        page.put(&format!("SBK_{action}_{what}"), value);
    };
    put(&mut page, "Bytes_total", sums.bytes as f64);
    put(&mut page, "Records_total", sums.records as f64);
    put(&mut page, "MBPerSec", figures.per_second(figures.mb()));
    put(&mut page, "RecordsPerSec", figures.records_per_second());
    put(&mut page, "InvalidLatencyRecords_total", 0.0);
    put(&mut page, "LowerDiscardedLatencyRecords_total", sums.lower as f64);
    put(&mut page, "HigherDiscardLatencyRecords_total", sums.higher as f64);
    put(&mut page, "SLC_1", figures.ranked.slc.0 as f64);
    put(&mut page, "SLC_2", figures.ranked.slc.1 as f64);
    // SBK's metrics are in nanoseconds, whatever -time is.
    let latencies = &figures.latencies;
    put(&mut page, "ns_AvgLatency", latencies.mean(crate::bench::LatencyUnit::Nanos));
    put(&mut page, "ns_MinLatency", latencies.least() as f64);
    put(&mut page, "ns_MaxLatency", latencies.max as f64);
    let ranked = latencies
        .clone()
        .ranked(percentiles(bench.output.format), crate::bench::LatencyUnit::Nanos);
    for (&p, (value, times)) in percentiles(bench.output.format).iter().zip(&ranked.values) {
        let p = name(p).replace('.', "_");
        put(&mut page, &format!("ns_{p}"), *value as f64);
        put(&mut page, &format!("Count_{p}"), *times as f64);
    }
    page.text
}

fn requests(page: &mut Exposition, bench: &Benchmark, figures: &Figures, sums: &Sums) {
    let [write, read] = Requested::of(bench, figures);
    let rates = ["Write_Request_Bytes_MBPerSec", "Read_Request_MBPerSec"];
    for (((word, requested), sum), rate) in
        [("Write", write), ("Read", read)].into_iter().zip(sums.requests).zip(rates)
    {
        page.put(&format!("SBK_{word}_Request_Bytes_total"), sum.1);
        page.put(&format!("SBK_{word}_Request_Records_total"), sum.0 as f64);
        page.put(&format!("SBK_{rate}"), figures.per_second(requested.mb));
        let a_second = figures.per_second(requested.records as f64);
        page.put(&format!("SBK_{word}_Request_RecordsPerSec"), a_second);
        page.put(&format!("SBK_{word}_Response_Pending_Records"), requested.pending as f64);
        page.put(&format!("SBK_{word}_Response_Pending_Bytes"), requested.pending_mb * MB);
        page.put(&format!("SBK_{word}_Timeout_Events_total"), 0.0);
        page.put(&format!("SBK_{word}_Timeout_Events_PerSec"), 0.0);
    }
    page.put("SBK_Write_Read_Request_Pending_Records", 0.0);
    page.put("SBK_Write_Read_Request_Pending_Bytes", 0.0);
}
