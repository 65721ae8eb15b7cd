//! `docs/normal.md`, made from the table.

use super::{Band, Class, Shape, typical};
use std::fmt::Write;

/// The page, in Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for class in Class::ALL {
        // Writing to a String cannot fail.
        let _ = write!(page, "## {}\n\n{}\n\n", title(class), limit(class));
        page += "| work | typical | from |\n|---|---|---|\n";
        for band in Shape::ALL.into_iter().filter_map(|shape| typical(class, shape)) {
            let _ = writeln!(page, "| {} | {} | {} |", band.shape.words(), range(&band), band.from);
        }
        page.push('\n');
    }
    page + LINKS
}

const HEAD: &str = "# Reference values

<!-- Made from the table by `cargo run -p xtask -- docs`: change crates/report/src/normal. -->

What classes of devices are known to reach, so that a figure can be judged: by the limit of the interface, by arithmetic, by data
sheets and by published results. The report shows a band with `--verbose` where a job has one of these shapes and its bytes came from, or
went to, one device of a known class; a virtual disk has none, since nothing shows what is behind it. **No verdict uses them**: a device
outside its band is not broken, and one inside it may have been measured wrongly.

Vendors state the best case: a fresh drive, much of it empty, at the latency of one machine. Figures here are decimal (1 MB is
1 000 000 bytes), as in data sheets; the report shows the same bands in its own units.

";

const LINKS: &str = "[percona-2018]: https://www.percona.com/blog/2018/07/18/why-consumer-ssd-reviews-are-useless-for-database-performance-use-case/
[percona-2019]: https://www.percona.com/blog/2019/09/19/update-on-fsync-performance/
[sync-latency]: https://engineered.at/articles/ssds-power-loss-protection-and-fsync-latency
[ebs]: https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html
[exos-x18]: https://computerbase.de/2022-11/seagate-exos-2x18-erste-hdd-mit-550-mb-s-dank-dual-aktor-mach-2-enthuellt
[exos-2x18]: https://www.tomshardware.com/news/seagate-launches-2nd-gen-dual-actuator-hdds-18-tb
[850-evo]: https://www.wired2fire.co.uk/samsung-1tb-850-evo-series-sata-iii-6gb-s-solid-state-drive.html
[860-qvo]: https://www.mmorpg.com/hardware-reviews/samsung-qvo-860-1tb-ssd-big-and-cheap-ssd-storage-2000108351
[870-evo]: https://www.kitguru.net/components/ssd-drives/simon-crisp/samsung-ssd-870-evo-1tb-review/all/1/
[870-qvo]: https://www.pcgamer.com/samsung-870-qvo-1tb-ssd-review-benchmarks
[first-gen4]: https://www.tomshardware.com/news/samsung-embraces-pcie-40-in-upcoming-980-pro-ssd
[980-pro]: https://reviewcentralme.com/?p=31849
[990-pro]: https://www.thefpsreview.com/2024/05/27/samsung-990-pro-with-heatsink-1tb-pcie-gen4-m-2-nvme-ssd-review/4
[990-pro-figures]: https://www.slashcam.com/news/single/Samsung-990-PRO--New-NVMe-SSD-top-model-reaches-th-17407.html
[nm790]: https://kitguru.net/components/ssd-drives/simon-crisp/lexar-nm790-with-heatsink-4tb-ssd-review/11
[cs3140]: https://kitguru.net/components/ssd-drives/simon-crisp/pny-xlr8-cs3140-1tb-ssd-review/9
[t700]: https://www.tomshardware.com/features/crucial-t700-ssd-preview-fastest-consumer-ssd-hits-124-gbs
[9100-pro]: https://www.storagereview.com/review/samsung-9100-pro-8tb-review-premium-gen5-performance-at-a-massive-scale
";

fn title(class: Class) -> &'static str {
    match class {
        Class::Hdd => "Hard disk",
        Class::SataSsd => "SATA SSD",
        Class::NvmeGen3 => "NVMe SSD, PCIe 3",
        Class::NvmeGen4 => "NVMe SSD, PCIe 4",
        Class::NvmeGen5 => "NVMe SSD, PCIe 5",
        Class::Nvme => "NVMe SSD",
        Class::NetworkDisk => "Network disk of a cloud",
        Class::Memory => "Memory",
    }
}

/// The limit that the interface sets.
fn limit(class: Class) -> &'static str {
    match class {
        Class::Hdd => "The spindle is the limit: 7 200 revolutions per minute, 8.3 ms for each.",
        Class::SataSsd => {
            "Limit of the interface: 6 Gb/s, with 10 bits on the line for each byte: 600 MB/s."
        }
        Class::NvmeGen3 => {
            "Limit of the interface: 4 lanes of 8 GT/s, 128 of 130 bits are data: 3.94 GB/s. An SSD whose \
             generation is not known has the bands of PCIe 3 to 5 together."
        }
        Class::NvmeGen4 | Class::Nvme => "Limit of the interface: 4 lanes of 16 GT/s: 7.88 GB/s.",
        Class::NvmeGen5 => "Limit of the interface: 4 lanes of 32 GT/s: 15.75 GB/s.",
        Class::NetworkDisk => {
            "The limit is what was bought, for the disk and for the machine. Others' models state \
             limits of the same order."
        }
        Class::Memory => "What the page cache, tmpfs or a RAM disk delivers to one job.",
    }
}

/// The range in decimal units.
fn range(band: &Band) -> String {
    if !band.shape.is_rate() {
        return format!("{} - {} IOPS", grouped(band.low), grouped(band.high));
    }
    if band.low >= 1e9 {
        return format!("{} - {} GB/s", band.low / 1e9, band.high / 1e9);
    }
    format!("{} - {} MB/s", grouped(band.low / 1e6), grouped(band.high / 1e6))
}

/// A whole number with a space between each three digits.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::table::BANDS;

    #[test]
    fn each_row_is_on_the_page_and_has_a_low_below_its_high() {
        let page = page();
        for (at, band) in BANDS.iter().enumerate() {
            assert!(page.contains(&format!("{} |\n", band.from)), "{band:?}");
            assert!(0.0 < band.low && band.low <= band.high, "{band:?}");
            let same = |other: &Band| (other.class, other.shape) == (band.class, band.shape);
            assert!(!BANDS[..at].iter().any(same), "twice: {band:?}");
        }
    }

    #[test]
    fn bands_keep_the_limit_of_their_interface() {
        let most = |class| typical(class, Shape::SequentialRead).map(|band| band.high);
        assert!(most(Class::SataSsd) < Some(600e6));
        assert!(most(Class::NvmeGen3) < Some(3.94e9));
        assert!(most(Class::NvmeGen4) < Some(7.88e9));
        assert!(most(Class::NvmeGen5) < Some(15.75e9));
    }

    #[test]
    fn ranges_are_decimal() {
        let band = |class, shape| range(&typical(class, shape).unwrap());
        assert_eq!(band(Class::SataSsd, Shape::SequentialRead), "300 - 560 MB/s");
        assert_eq!(band(Class::NvmeGen3, Shape::SequentialWrite), "400 - 3 300 MB/s");
        assert_eq!(band(Class::NvmeGen4, Shape::QueuedRandomRead), "500 000 - 1 400 000 IOPS");
    }
}
