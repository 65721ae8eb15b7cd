//! The sum of all clients in fio's normal text: a job whose units and decimals fio's client does
//! not know.

use super::add_job;
use crate::report::*;
use crate::scale::date;
use iosonde_base::DIRS;

/// `All clients`, of the report of all hosts.
pub fn fio_all_clients(sum: &JobReport, report: &Report) -> String {
    let mut sum = sum.clone();
    for dir in DIRS {
        let DirReport { slat, clat, lat, .. } = &mut sum.dirs[dir];
        [slat, clat, lat].into_iter().for_each(whole_percents);
    }
    whole_percents(&mut sum.sync.lat);
    let mut text = String::new();
    add_job(&sum, &date(report.time_unix_ms, report.utc_offset_s), &mut text);
    let is_shown = |line: &&str| !line.starts_with("     latency   :");
    text.lines().filter(is_shown).map(|line| as_fio(line) + "\n").collect()
}

fn whole_percents(latency: &mut LatencyReport) {
    for (percent, _) in latency.percentiles.iter_mut().flatten() {
        *percent = percent.round();
    }
}

/// Rates have no unit there.
fn as_fio(line: &str) -> String {
    if line.contains(": IOPS=") { line.replace("B/s", "") } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::Dir;

    #[test]
    fn rates_have_no_unit_and_percentiles_no_decimals() {
        let name = "All clients".to_owned();
        let mut sum = JobReport { name, significant_figures: 4, ..JobReport::default() };
        let read = &mut sum.dirs[Dir::Read];
        (read.io_bytes, read.runtime_ms, read.issued_ios) = (93_323_264, 1001, 22_784);
        (read.total_ios, read.clat.n) = (22_784, 22_784);
        read.clat.percentiles = Some(vec![(1.0, 940), (99.5, 399_360), (99.95, 782_336)]);
        let text = fio_all_clients(&sum, &Report::default());
        assert!(text.starts_with("All clients: (groupid=0, jobs=0): err= 0: pid=0: "), "{text}");
        assert!(
            text.contains("  read: IOPS=22.8k, BW=88.9Mi (93.2M)(89.0MiB/1001msec)\n"),
            "{text}"
        );
        let row = "     |   1th=[   940], 100th=[399360], 100th=[782336]\n";
        assert!(text.contains(row) && !text.contains("latency   :"), "{text}");
    }
}
