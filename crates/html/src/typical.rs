//! Next to a figure, what devices of its class are known to reach. It helps a reader who does
//! not know whether a figure is usual, and judges nothing.

use crate::charts::frame::at;
use crate::charts::scale::Scale;
use crate::figures::ledger;
use iosonde_base::Dir;
use iosonde_report::Report;
use iosonde_report::normal::{self, Band};
use maud::{Markup, html};

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 14.0;

/// The band for a direction of a run of one job, where one is known.
pub(crate) fn band(report: &Report, dir: Dir) -> Option<Band> {
    let ledger = ledger(report)?;
    let [job] = ledger.jobs.as_slice() else { return None };
    normal::of_job(job, dir, ledger)
}

/// The band with the measured figure in it, and its words with the source.
pub(crate) fn section(band: &Band, iops: f64, bytes_per_s: f64) -> Markup {
    let measured = if band.shape.is_rate() { bytes_per_s } else { iops };
    if measured <= 0.0 {
        return Markup::default();
    }
    // Equal steps are equal ratios: classes lie powers of ten apart.
    let ends = (band.low.min(measured) / 2.0, band.high.max(measured) * 2.0);
    let x = Scale::log(ends.0, ends.1, 0.0, WIDTH);
    let (low, high) = (x.at(band.low), x.at(band.high));
    html! {
        div.typical {
            svg.usual viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-hidden="true" {
                line.base x1="0" x2=(WIDTH) y1=(at(HEIGHT / 2.0)) y2=(at(HEIGHT / 2.0)) {}
                rect.marked x=(at(low)) y="2" width=(at(high - low)) height=(at(HEIGHT - 4.0)) {}
                line.measured x1=(at(x.at(measured))) x2=(at(x.at(measured))) y1="0" y2=(at(HEIGHT)) {}
            }
            p.moved {
                (band.words()) " for a " (band.shape.words()) " (" (without_links(band.from)) "). "
                "The line is this run. Not used for a verdict."
            }
        }
    }
}

/// Markdown without the addresses of its links: a page names no address.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let link = after.split_once(']').and_then(|(words, behind)| {
            // The address, or the name of one that stands below the text.
            let end = match behind.chars().next()? {
                '(' => ')',
                '[' => ']',
                _ => return None,
            };
            Some((words, behind.split_once(end)?.1))
        });
        let Some((words, behind)) = link else { break };
        plain.push_str(before);
        plain.push_str(words);
        rest = behind;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_report::normal::{Class, Shape, typical};

    #[test]
    fn a_source_is_named_without_its_address() {
        assert_eq!(
            without_links("from [a sheet](https://x.example) to b [c]"),
            "from a sheet to b [c]"
        );
        assert_eq!(without_links("A ([KitGuru][870-evo]) and [B][b]"), "A (KitGuru) and B");
    }

    #[test]
    fn the_line_is_right_of_the_band_where_the_run_was_faster() {
        let band = typical(Class::SataSsd, Shape::RandomRead).unwrap();
        let page = section(&band, 100e3, 0.0).into_string();
        assert!(
            page.contains("typical of a SATA SSD: ") && page.contains("Not used for a verdict")
        );
        let place = |mark: &str| -> f64 {
            page.split(mark).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        assert!(place("line class=\"measured\" x1=\"") > place("class=\"marked\" x=\""));
        assert!(section(&band, 0.0, 0.0).0.is_empty());
    }
}
