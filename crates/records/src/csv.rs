//! A row for every line, as SBK's CSVLogger writes them.

use crate::bench::Benchmark;
use crate::figures::Figures;
use crate::latencies::{name, percentiles};
use crate::lines::Requested;
use iosonde_sys::process::close;
use iosonde_sys::whole_file::is_still_there;
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

/// The columns before the percentiles.
const COLUMNS: &str = "ID,Date,Time,Header,Type,Connections,MaxConnections,Storage,Action,\
    LatencyTimeUnit,Writers,Readers,MaxWriters,MaxReaders,WriteRequestMB,WriteRequestRecords,\
    WriteRequestRecords/Sec,WriteRequestMB/Sec,ReadRequestMB,ReadRequestRecords,\
    ReadRequestRecords/Sec,ReadRequestMB/Sec,WriteResponsePendingMB,WriteResponsePendingRecords,\
    ReadResponsePendingMB,ReadResponsePendingRecords,WriteReadRequestPendingMB,\
    WriteReadRequestPendingRecords,WriteTimeoutEvents,WriteTimeoutEventsPerSec,ReadTimeoutEvents,\
    ReadTimeoutEventsPerSec,ReportSeconds,MB,Records,Records/Sec,MB/Sec,AvgLatency,MinLatency,\
    MaxLatency,InvalidLatencies,LowerDiscard,HigherDiscard,SLC1,SLC2";

/// An open table.
#[derive(Debug)]
pub struct CsvFile {
    file: BufWriter<File>,
    rows: u64,
}

impl CsvFile {
    /// Create the file, or replace it, and write the header.
    pub fn create(path: &Path, bench: &Benchmark) -> Result<CsvFile> {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(COLUMNS.as_bytes())?;
        for word in ["Percentile", "Percentile_Count"] {
            for &p in percentiles(bench.output.format) {
                write!(file, ",{word}_{}", name(p))?;
            }
        }
        file.write_all(b"\n")?;
        file.flush()?;
        Ok(CsvFile { file, rows: 0 })
    }

    /// Write a row; it is there for others at once.
    pub fn row(&mut self, bench: &Benchmark, figures: &Figures) -> Result<()> {
        self.rows += 1;
        let row = row(bench, figures, self.rows);
        self.file.write_all(row.as_bytes())?;
        self.file.flush()
    }

    /// Close it: some file systems report only now what a write met.
    pub fn finish(self) -> Result<()> {
        let file = self.file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        is_still_there(&file)?;
        close(file.into())
    }
}

/// Numbers have a decimal point whatever the locale.
fn row(bench: &Benchmark, figures: &Figures, number: u64) -> String {
    let unit = bench.output.unit;
    let now =
        iosonde_report::scale::timestamp(figures.unix_ms, iosonde_sys::local_time::utc_offset_s());
    let (date, time) = now.split_once(' ').unwrap_or((&now, ""));
    let kind = if figures.total { "Total" } else { "Regular" };
    let mut cells = vec![
        format!("{number:>16},{date},{time},sbk,{kind},0,0,{}", bench.class.storage()),
        format!("{},{}", bench.action.word(), unit.name()),
    ];
    cells.extend(figures.workers_of(bench.action).map(|n| format!("{n:>5}")));
    let requested = Requested::of(bench, figures);
    for requested in requested {
        cells.extend([
            format!("{:>11.1}", requested.mb),
            format!("{:>16}", requested.records),
            format!("{:>11.1}", figures.per_second(requested.records as f64)),
            format!("{:>8.2}", figures.per_second(requested.mb)),
        ]);
    }
    for requested in requested.into_iter().chain([Requested::default()]) {
        cells.extend([
            format!("{:>8.2}", requested.pending_mb),
            format!("{:>13}", requested.pending),
        ]);
    }
    for _ in 0..2 {
        cells.extend([format!("{:>13}", 0), format!("{:>8.2}", 0.0)]);
    }
    let latencies = &figures.latencies;
    let (mean, min, max) = figures.spread(unit);
    cells.extend([
        format!("{:>8}", figures.seconds()),
        format!("{:>11.1}", figures.mb()),
        format!("{:>16}", latencies.records),
        format!("{:>11.1}", figures.records_per_second()),
        format!("{:>8.2}", figures.per_second(figures.mb())),
        format!("{mean:>8.1}"),
        format!("{min:>7}"),
        format!("{max:>7}"),
        format!("{:>8}", 0),
        format!("{:>8}", latencies.lower),
        format!("{:>8}", latencies.higher),
        format!("{:>2}", figures.ranked.slc.0),
        format!("{:>2}", figures.ranked.slc.1),
    ]);
    cells.extend(figures.ranked.values.iter().map(|(value, _)| format!("{value:>7}")));
    cells.extend(figures.ranked.values.iter().map(|(_, times)| format!("{times:>7}")));
    cells.join(",") + "\n"
}
