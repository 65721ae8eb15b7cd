//! The table of one job's figures.

use crate::formats::style::{Mark, Style, add_narrow_row, paint};
use crate::report::LatencyReport;
use iosonde_base::text::duration;

/// Columns of the table.
const COLUMNS: usize = 78;

/// A row: what it has no figure for is blank.
pub(super) struct Row<'a> {
    pub name: String,
    pub iops: Option<String>,
    pub bandwidth: Option<String>,
    pub latency: &'a LatencyReport,
    pub moved: Option<String>,
}

/// Add the rows; each as a wrapped line where the table does not fit.
pub(super) fn add_rows(rows: &[Row], style: &Style, text: &mut String) {
    let fits = style.columns >= COLUMNS;
    if fits {
        let cells = ["", "IOPS", "bandwidth", "p50", "p99", "p99.9", "max", "moved"];
        text.push_str(&paint(line(&cells), Mark::Label, style));
        text.push('\n');
    }
    for row in rows {
        let [p50, p99, p999, max] = row.percentiles();
        let or_blank = |cell: &Option<String>| cell.clone().unwrap_or_default();
        let (iops, bandwidth) = (or_blank(&row.iops), or_blank(&row.bandwidth));
        let moved = or_blank(&row.moved);
        if fits {
            let cells = [&row.name[..], &iops, &bandwidth, &p50, &p99, &p999, &max, &moved];
            text.push_str(line(&cells).trim_end());
            text.push('\n');
            continue;
        }
        let named = [
            (iops, "", " IOPS"),
            (bandwidth, "", ""),
            (p50, "p50 ", ""),
            (p99, "p99 ", ""),
            (p999, "p99.9 ", ""),
            (max, "max ", ""),
            (moved, "", " moved"),
        ];
        let known = named.into_iter().filter(|(cell, ..)| !cell.is_empty());
        let cells: Vec<String> =
            known.map(|(cell, before, after)| format!("{before}{cell}{after}")).collect();
        add_narrow_row(row.name.trim_start(), &cells, style, text);
    }
}

fn line(cells: &[&str; 8]) -> String {
    let [name, iops, bandwidth, p50, p99, p999, max, moved] = cells;
    // A name may take the room of figures that its row does not have.
    let name =
        format!("{name:<11}{iops:>width$}", width = 19usize.saturating_sub(name.len().max(11)));
    format!("  {name}{bandwidth:>12}{p50:>9}{p99:>9}{p999:>9}{max:>9}{moved:>10}")
}

impl Row<'_> {
    /// p50, p99, p99.9 and the maximum; `-` for what was not kept, blank where
    /// nothing was measured.
    fn percentiles(&self) -> [String; 4] {
        if self.latency.n == 0 {
            return Default::default();
        }
        let quick = self.latency.quick;
        let cells = quick.map(|quick| [quick.p50_ns, quick.p99_ns, quick.p999_ns].map(duration));
        let [p50, p99, p999] = cells.unwrap_or_else(|| ["-"; 3].map(String::from));
        [p50, p99, p999, duration(self.latency.max_ns)]
    }
}
