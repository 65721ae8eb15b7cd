//! What holds for every page: its size, no requests, hostile names, contrast,
//! well-formed markup. With PAGES=DIR the pages are left there, to be looked at.

mod made;
mod pictures;

use iosonde_base::Dir;
use iosonde_html::{
    ChartLine, Column, ColumnsChart, DotsChart, FigureUnit, LinePoint, LineStyle, LinesChart,
    MarkedRange, PAGE_BYTES_MOST, PageRun, PlotCell, PlotPart, PlotTable, comparison_page,
    matrix_page, page, plot_page, search_page, sweep_page,
};
use iosonde_report::{Report, SetOption, UsedVariable};
use iosonde_result::{StoredResult, read};

const JUDGED: &str = include_str!("../../report/tests/golden/judged.json");
const SEVERAL: &str = include_str!("../../report/tests/golden/several-plus.json");
const MIXED: &str = include_str!("../../report/tests/golden/mixed-ours.json");
const OLD: &str = include_str!("../../result/tests/documents/fio-2.1.json");

fn stored(text: &str) -> StoredResult {
    read(text).unwrap()
}

fn page_of(name: &str, text: &str) -> String {
    let stored = stored(text);
    let run = PageRun {
        name,
        report: &stored.report,
        json: Some(text),
        notes: &stored.notes,
        findings: &[],
    };
    keep(name, page(name, &[run]))
}

/// Leave a page where it can be looked at.
fn keep(name: &str, page: String) -> String {
    if let Some(folder) = std::env::var_os("PAGES") {
        let path = std::path::Path::new(&folder).join(format!("{name}.html"));
        std::fs::write(path, &page).unwrap();
    }
    page
}

/// The result of `judged` with as many jobs, each with its own figures.
fn many_jobs(jobs: u64) -> String {
    let mut document: serde_json::Value = serde_json::from_str(JUDGED).unwrap();
    let one = document["jobs"][0].clone();
    let ours = document["iosonde"]["jobs"][0].clone();
    let series = document["iosonde"]["series"]["jobs"][0].clone();
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    for at in 0..jobs {
        let named = |value: &serde_json::Value| {
            let mut value = value.clone();
            value["jobname"] = format!("db.{at}").into();
            value
        };
        all[0].push(named(&one));
        let mut own = named(&ours);
        for bin in own["latency_bins"]["write"].as_array_mut().unwrap() {
            bin[0] = (bin[0].as_u64().unwrap() * (100 + at) / 100).into();
        }
        all[1].push(own);
        all[2].push(named(&series));
    }
    let [fio, own, series] = all;
    document["jobs"] = fio.into();
    document["iosonde"]["jobs"] = own.into();
    document["iosonde"]["series"]["jobs"] = series.into();
    document.to_string()
}

/// A run of six minutes with a cliff, two modes of latency, stalls and a gap.
fn cliff() -> String {
    let mut document: serde_json::Value = serde_json::from_str(JUDGED).unwrap();
    let (mut bytes, mut ios, mut errors, mut latency) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut dirty: Vec<u64> = Vec::new();
    for at in 0..360u64 {
        if (200..206).contains(&at) {
            for column in [&mut bytes, &mut ios, &mut errors, &mut latency] {
                column.push(serde_json::Value::Null);
            }
            dirty.push(0);
            continue;
        }
        let count = if at < 140 { 7000 + at * 37 % 900 } else { 1600 + at * 53 % 300 };
        ios.push(count.into());
        bytes.push((count << 18).into());
        errors.push(0.into());
        let mut buckets = vec![0u64; 60];
        (buckets[5], buckets[6], buckets[7]) = (count / 2, count / 3, count / 8);
        if at >= 140 {
            (buckets[22], buckets[23]) = (count / 10, count / 20);
        }
        if at % 47 == 0 {
            buckets[40] = 1;
        }
        let cell: Vec<u64> = std::iter::once(36).chain(buckets).collect();
        latency.push(cell.into());
        dirty.push(at << 22);
    }
    document["iosonde"]["series"] = serde_json::json!({
        "interval_ns": 1_000_000_000u64, "windows": 360,
        "write": {"bytes": bytes, "ios": ios, "errors": errors, "latency": latency},
        "dirty_bytes": dirty, "jobs": [],
    });
    document["iosonde"]["changes"] = serde_json::json!([{
        "at_ns": 140_000_000_000u64, "at_bytes": 280_000_000_000u64,
        "before_bytes_per_s": 1.9e9, "after_bytes_per_s": 4.6e8, "stat": 900.0,
    }]);
    document.to_string()
}

/// Pages that are not of runs, with a user's words in them.
fn judged_pages(words: &str) -> Vec<(&'static str, String)> {
    let (one, long) = (stored(JUDGED), stored(&cliff()));
    vec![
        ("compare", comparison_page(&made::comparison(&one.report, words, 5))),
        ("compare-cliff", comparison_page(&made::comparison(&long.report, words, 2))),
        ("compare-long", comparison_page(&made::comparison(&one.report, words, 1000))),
        ("sweep", sweep_page(&made::depths(Some(&one.report), words))),
        ("sweep-9x9", sweep_page(&made::grid(words, 9, 9))),
        ("sweep-30x30", sweep_page(&made::grid(words, 30, 30))),
        ("sweep-huge", sweep_page(&made::grid(words, 100, 100))),
        ("search", search_page(&made::search(words))),
        ("matrix", matrix_page(&made::matrix(words))),
        ("plot", plot(words)),
    ]
}

/// A page with each kind of part, all under this name.
fn plot(name: &str) -> String {
    let latency = stored(JUDGED).report.jobs[0].dirs[Dir::Write].shown_latency().clone();
    let point = |x: f64| LinePoint { x, y: x * 10.0, low: x * 9.0, high: x * 12.0 };
    let line = |number: usize| ChartLine {
        name: name.to_owned(),
        style: if number == 0 { LineStyle::Sum } else { LineStyle::Series(number) },
        points: [1.0, 2.0, 3.0, 9.0, 10.0].map(point).into(),
        gap: 1.5,
    };
    let lines = |id: &str, is_log: bool, range: Option<MarkedRange>| LinesChart {
        id: id.to_owned(),
        title: name.to_owned(),
        finding: name.to_owned(),
        x: (FigureUnit::Count, name.to_owned()),
        y: FigureUnit::Nanoseconds,
        is_log,
        lines: (0..3).map(line).collect(),
        range,
        table: (vec![name.to_owned()], vec![vec![name.to_owned()]]),
    };
    let range = MarkedRange { low: 20.0, high: 40.0, name: name.to_owned() };
    let column = Column { value: 3.0, low: 2.0, high: 4.0 };
    let parts = [
        PlotPart::Heading { title: name.to_owned(), words: vec![name.to_owned()] },
        PlotPart::Lines(lines("one", false, Some(range))),
        PlotPart::Lines(lines("other", true, None)),
        PlotPart::Dots(DotsChart {
            id: "dots".to_owned(),
            title: name.to_owned(),
            finding: name.to_owned(),
            x: (FigureUnit::Bytes, name.to_owned()),
            dir: Dir::Write,
            dots: (0..5000u64).map(|at| ((at * 7919 % 5000) as f64, at * at)).collect(),
        }),
        PlotPart::Columns(ColumnsChart {
            id: "columns".to_owned(),
            title: name.to_owned(),
            finding: name.to_owned(),
            x_name: name.to_owned(),
            groups: vec![name.to_owned(), "4".to_owned()],
            series: vec![name.to_owned(), "b".to_owned()],
            y: FigureUnit::Count,
            columns: vec![vec![Some(column), None], vec![None, Some(column)]],
        }),
        PlotPart::Percentiles {
            id: "percentiles".to_owned(),
            latencies: vec![(name.to_owned(), LineStyle::Series(4), latency)],
        },
        PlotPart::Table(PlotTable {
            heads: vec![name.to_owned()],
            rows: vec![vec![PlotCell { words: name.to_owned(), share: Some(0.5) }]],
        }),
    ];
    plot_page(name, &parts)
}

fn all_pages() -> Vec<(&'static str, String)> {
    let two = [stored(JUDGED), stored(OLD)];
    let names = ["judged.json", "old.json"];
    let runs: Vec<PageRun> = two
        .iter()
        .zip(names)
        .map(|(one, name)| PageRun {
            name,
            report: &one.report,
            json: None,
            notes: &one.notes,
            findings: &[],
        })
        .collect();
    let mut pages = vec![
        ("judged", page_of("judged", JUDGED)),
        ("several", page_of("several", SEVERAL)),
        ("mixed", page_of("mixed", MIXED)),
        ("old", page_of("old", OLD)),
        ("cliff", page_of("cliff", &cliff())),
        ("jobs-64", page_of("jobs-64", &many_jobs(64))),
        ("jobs-200", page_of("jobs-200", &many_jobs(200))),
        ("two", keep("two", page("two", &runs))),
    ];
    pages.extend(judged_pages("").into_iter().map(|(name, page)| (name, keep(name, page))));
    pages
}

#[test]
fn no_page_is_larger_than_500_kib_and_none_makes_a_request() {
    for (name, page) in all_pages() {
        assert!(page.len() <= PAGE_BYTES_MOST, "{name}: {} bytes", page.len());
        for word in ["http:", "https:", "src=", "@import", "<link", "<iframe", "fetch("] {
            let is_policy =
                |at: usize| page[..at].ends_with("content=\"default-src 'none'; style-");
            let found: Vec<usize> = page.match_indices(word).map(|(at, _)| at).collect();
            assert!(found.iter().all(|&at| is_policy(at)), "{name}: {word}");
        }
        assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'; img-src data:"));
        for part in page.split("href=\"").skip(1) {
            assert!(part.starts_with('#') || part.starts_with("data:"), "{name}: {}", &part[..20]);
        }
    }
}

#[test]
fn windows_are_read_out_and_counted_in_ios_without_a_script() {
    let page = page_of("judged", JUDGED);
    assert!(page.contains("The same in IOPS") && page.contains("id=\"rate-ios\""));
    assert!(page.contains("The system meanwhile") && page.contains("flushes at most"));
    // One area a row of the table: of the rate, of I/Os, of the latency.
    assert_eq!(page.matches("<rect class=\"hit\"").count(), 3 * 30);
    assert!(page.contains("<title>200 ms: write "), "{page}");
    let script = include_str!("../src/script.js");
    assert!(script.len() <= 6 << 10, "{} bytes", script.len());
}

#[test]
fn a_run_that_syncs_has_a_map_of_its_syncs() {
    let mut document: serde_json::Value = serde_json::from_str(JUDGED).unwrap();
    let windows = document["iosonde"]["series"]["windows"].as_u64().unwrap();
    let ios: Vec<u64> = (0..windows).collect();
    let latency: Vec<Vec<u64>> = ios.iter().map(|&number| vec![60, number]).collect();
    document["iosonde"]["series"]["sync"] = serde_json::json!({"ios": ios, "latency": latency});
    let page = page_of("syncs", &document.to_string());
    assert!(page.contains("Latency of syncs over time") && page.contains("syncs (from 1 to"));
    assert!(!page_of("judged", JUDGED).contains("Latency of syncs over time"));
}

#[test]
fn a_page_has_the_variables_and_the_options_that_were_set() {
    let mut stored = stored(JUDGED);
    let settings = stored.report.ours.settings.as_mut().unwrap();
    let variable = |name: &str, value: Option<&str>| UsedVariable {
        name: name.to_owned(),
        value: value.map(str::to_owned),
    };
    settings.environment = vec![variable("SIZE", Some("4g")), variable("DEPTH", None)];
    let implied = SetOption {
        name: "buffered".into(),
        value: "0".into(),
        origin: "implied by direct".into(),
    };
    settings.jobs[0].options.push(implied);
    let run = PageRun { name: "x", report: &stored.report, json: None, notes: &[], findings: &[] };
    let page = page("x", &[run]);
    assert!(page.contains("<code>SIZE=4g, DEPTH is not set</code>"));
    assert!(page.contains("implied by direct") && !page.contains("buffered=0"));
    assert!(page_of("judged", JUDGED).contains("[copy]\nrw=write\n"));
}

#[test]
fn the_same_result_gives_the_same_page() {
    assert_eq!(page_of("judged", JUDGED), page_of("judged", JUDGED));
}

#[test]
fn a_run_has_its_conclusion_findings_charts_and_settings() {
    let page = page_of("judged", JUDGED);
    for words in [
        "Probably limited by nvme0n1 at queue depth 1",
        "[not-durable]",
        "iosonde explain not-steady",
        "Where the bytes went",
        "Rate over time",
        "Latency by percentile",
        "Latency of writes over time",
        "Queue depth and the limit of the tester",
        "<span>copy.fio</span> <span>--runtime=6</span>",
        "copy.fio:2",
        "kind=disk; model=EXAMPLE SSD",
        "data:image/png;base64,",
        "data:application/gzip;base64,",
        "not sampled",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn each_chart_has_a_title_and_a_sentence_without_a_script() {
    for (name, page) in all_pages() {
        assert_eq!(page.matches("<figure").count(), page.matches("<desc>").count(), "{name}");
        // The words of a plot are its caller's: here none.
        assert!(name == "plot" || !page.contains("<desc></desc>"), "{name}");
    }
}

#[test]
fn no_text_of_a_chart_leaves_it_or_lies_on_another() {
    let mut all = all_pages();
    let names = ["1", "log_writer", "a-rather-long-name-of-a-job-with-numbers-0123456789"];
    all.extend(names.map(|name| (name, plot(name))));
    all.extend(judged_pages("a rather long name of a job"));
    let faults: Vec<String> = all
        .iter()
        .flat_map(|(name, page)| {
            pictures::faults(page).into_iter().map(move |fault| format!("{name}: {fault}"))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_comparison_has_its_conclusion_charts_and_what_differs() {
    let page = comparison_page(&made::comparison(&stored(JUDGED).report, "x", 5));
    let parts = [
        "B is better in read IOPS",
        "id=\"forest\"",
        "B worse",
        "read IOPS of each run, in order",
        "Rate over time, A and B",
        "Latency by percentile: write, A and B",
        "Latency of writes over time, A and B",
        "only in A",
        "the kernel differs",
        "Settings and system of B",
        "<span>compare</span> <span>job.fio</span>",
    ];
    let places: Vec<usize> =
        parts.iter().map(|part| page.find(part).unwrap_or_else(|| panic!("{part}"))).collect();
    assert!(places[0] < places[1], "the conclusion comes first");
}

#[test]
fn a_sweep_has_its_curves_knee_and_reasons() {
    let page = sweep_page(&made::depths(None, "x"));
    for part in [
        "Latency against throughput: read",
        "Throughput: read IOPS against iodepth",
        "knee at 24 (22 .. 26) in flight",
        "at most 300k IOPS",
        "io_uring: too deep",
        "tool-bound",
        "--over",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let two = sweep_page(&made::grid("", 9, 9));
    assert!(
        two.contains("read IOPS by iodepth and bs") && two.contains("read p99 by iodepth and bs")
    );
    let search = search_page(&made::search("x"));
    assert!(search.contains("answer 1.00k<") && search.contains("not kept"));
}

#[test]
fn a_matrix_has_a_map_curves_and_what_durability_costs() {
    let page = matrix_page(&made::matrix("x"));
    for part in [
        "MiB/s by mode and block size",
        "Rate against block size: O_DIRECT",
        "What durability costs, in blocks of 4K",
        "O_DIRECT refused x",
        "(memory)",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

fn hostile() -> [String; 6] {
    [
        "</script><script>alert(1)</script>".into(),
        "<img src=x onerror=alert(1)>".into(),
        "\"'>&".into(),
        "\u{202e}txet thgir ot tfel".into(),
        "\u{7}\u{1b}[31m".into(),
        "x".repeat(10_000),
    ]
}

/// No user's words have become markup, and the page is not too large.
fn check_harmless(page: &str, name: &str) {
    let scripts = page.matches("<script").count();
    assert_eq!((scripts, page.matches("</script").count()), (1, 1), "{name}");
    assert!(!page.contains("<img"), "{name}");
    assert!(page.len() <= PAGE_BYTES_MOST, "{name}");
    assert_eq!(faults(page), [""; 0], "{name}");
}

#[test]
fn hostile_names_are_text() {
    for name in &hostile() {
        let mut stored = stored(JUDGED);
        let Report { jobs, ours, .. } = &mut stored.report;
        jobs[0].name = name.to_owned();
        ours.jobs[0].name = name.to_owned();
        ours.jobs[0].what = name.to_owned();
        ours.conclusion.as_mut().unwrap().text = name.to_owned();
        let ledger = ours.ledger.as_mut().unwrap();
        ledger.devices[0].facts.model = Some(name.to_owned());
        ledger.jobs[0].name = name.to_owned();
        ledger.verdict[0].statement = name.to_owned();
        let run = PageRun { name, report: &stored.report, json: None, notes: &[], findings: &[] };
        check_harmless(&keep("hostile", page(name, &[run])), name);
    }
}

#[test]
fn hostile_words_are_text_in_comparisons_sweeps_and_matrices() {
    for name in &hostile() {
        for (of, page) in judged_pages(name) {
            check_harmless(&page, &format!("{of}, {}", &name[..name.len().min(40)]));
        }
    }
}

/// Elements that have no end.
const VOID: [&str; 3] = ["meta", "br", "!DOCTYPE"];

/// What is wrong with the nesting of a page's elements.
fn faults(page: &str) -> Vec<String> {
    // Style and script are texts of their own.
    let mut rest = page;
    let mut open: Vec<String> = Vec::new();
    let mut faults = Vec::new();
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').unwrap_or(rest.len());
        let tag = &rest[..end];
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap_or_default();
        if tag.starts_with('/') {
            match open.pop() {
                Some(last) if last == name => {}
                other => faults.push(format!("</{name}> closes {other:?}")),
            }
        } else if !VOID.contains(&name) {
            open.push(name.to_owned());
        }
        rest = &rest[end..];
        if !tag.starts_with('/') && (name == "style" || name == "script") {
            let closing = format!("</{name}");
            rest = &rest[rest.find(&closing).unwrap_or(rest.len())..];
        }
    }
    faults.extend(open.into_iter().map(|name| format!("<{name}> is not closed")));
    faults
}

#[test]
fn each_element_is_closed_and_each_link_leads_somewhere() {
    for (name, page) in all_pages() {
        assert_eq!(faults(&page), [""; 0], "{name}");
        for part in page.split("href=\"#").skip(1) {
            let id = part.split('"').next().unwrap();
            assert!(page.contains(&format!("id=\"{id}\"")), "{name}: #{id}");
        }
    }
}

/// A colour of the style sheet as it is written: `#rgb` or `#rrggbb`.
fn luminance(colour: &str) -> f64 {
    let digits = colour.trim_start_matches('#');
    let wide: String = match digits.len() {
        3 => digits.chars().flat_map(|digit| [digit, digit]).collect(),
        _ => digits.to_owned(),
    };
    let part = |at: usize| {
        let value = f64::from(u8::from_str_radix(&wide[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
}

fn contrast(one: &str, other: &str) -> f64 {
    let (a, b) = (luminance(one), luminance(other));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// WCAG 2.1: 4.5 for text, 3 for graphics.
#[test]
fn text_and_lines_have_contrast_in_both_schemes() {
    let style = include_str!("../src/style.css");
    let schemes: Vec<&str> =
        style.split(":root{").skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
    assert_eq!(schemes.len(), 2);
    for scheme in schemes {
        let of = |name: &str| {
            let all =
                scheme.split(';').filter_map(|pair| pair.trim_start_matches("--").split_once(':'));
            let mut found = all.filter(|(known, _)| *known == name);
            found.next().unwrap_or_else(|| panic!("{name} is not in {scheme}")).1
        };
        for ground in ["ground", "panel"] {
            for text in ["text", "muted", "read", "bad", "good", "mid"] {
                let found = contrast(of(text), of(ground));
                assert!(found >= 4.5, "{text} on {ground}: {found:.2} in {scheme}");
            }
        }
        for graphic in
            ["read", "write", "trim", "sync", "mid", "bad", "good", "muted", "text", "stripe"]
        {
            let found = contrast(of(graphic), of("ground"));
            assert!(found >= 3.0, "{graphic}: {found:.2} in {scheme}");
        }
        // The darkest and the brightest colour of heat maps.
        for shade in ["#453581", "#b5de2b"] {
            assert!(contrast(shade, of("ground")) >= 1.45, "{shade} in {scheme}");
        }
    }
}

/// What a browser is asked to measure: texts of drawings that leave them or lie on one another,
/// and a page or a table that is wider than the screen has room for (but for the folded numbers of
/// a chart, which scroll).
const MEASURE: &str = r#"<script>addEventListener('load', () => {
document.querySelectorAll('details').forEach(one => one.open = true);
const found = [], wide = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > wide + 1) found.push('the page is wider than ' + wide);
if (wide > 1000) document.querySelectorAll('.scroll, pre').forEach(one => {
  if (!one.closest('figure') && one.scrollWidth > one.clientWidth + 1) found.push('cut off: ' + one.textContent.slice(0, 60)); });
document.querySelectorAll('svg[role]').forEach(svg => {
  const all = svg.getBoundingClientRect(), title = svg.getAttribute('aria-label');
  const texts = [...svg.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
  texts.forEach(([words, box], at) => {
    if (box.left < all.left - 3 || box.right > all.right + 3) found.push(title + ': leaves: ' + words);
    texts.slice(at + 1).forEach(([others, other]) => {
      const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
      if (across > 2 && down > 5) found.push(title + ': ' + words + ' on ' + others); }); }); });
document.body.innerHTML = '<pre id="found"></pre>';
document.querySelector('pre').textContent = found.join('\n') + '\nmeasured'; });</script>"#;

/// In a browser of three widths: no label is cut, none lies on another, no column is off the edge.
#[test]
fn a_browser_measures_no_text_on_another_at_three_widths() {
    if !iosonde_testing::has("chromium", "chromium") {
        return;
    }
    let folder = iosonde_testing::Folder::new("html-measured");
    let measured = ["judged", "several", "compare", "sweep-9x9", "matrix"];
    let pages = all_pages().into_iter().filter(|(name, _)| measured.contains(name));
    let mut faults = Vec::new();
    for (name, page) in pages {
        folder.write("page.html", page + MEASURE);
        for width in [1280, 1100, 390] {
            let ran = std::process::Command::new("chromium")
                .current_dir(folder.path())
                .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"])
                .arg(format!("--user-data-dir={}", folder.join("profile").display()))
                .arg(format!("--window-size={width},1000"))
                .arg(format!("file://{}", folder.join("page.html").display()))
                .output()
                .unwrap();
            let document = String::from_utf8_lossy(&ran.stdout);
            let found = document.split("<pre id=\"found\">").nth(1).unwrap_or_default();
            let found = found.split("</pre>").next().unwrap_or_default();
            let Some(found) = found.strip_suffix("\nmeasured") else {
                let log = String::from_utf8_lossy(&ran.stderr);
                iosonde_testing::skip::test(format_args!("chromium does not run here: {log}"));
                return;
            };
            let lines = found.lines().filter(|line| !line.is_empty());
            faults.extend(lines.map(|line| format!("{name} at {width}: {line}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// In a browser: no request is refused because none is made, and a page prints on a few sheets.
#[test]
fn a_browser_prints_a_page_and_finds_nothing_to_refuse() {
    if !iosonde_testing::has("chromium", "chromium") {
        return;
    }
    let folder = iosonde_testing::Folder::new("html-print");
    let of_runs = [("judged", page_of("judged", JUDGED)), ("cliff", page_of("cliff", &cliff()))];
    let printed = ["compare", "sweep", "sweep-9x9", "matrix"];
    let others = judged_pages("").into_iter().filter(|(name, _)| printed.contains(name));
    for (name, page) in of_runs.into_iter().chain(others) {
        folder.write(&format!("{name}.html"), page);
        let ran = std::process::Command::new("chromium")
            .current_dir(folder.path())
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .args(["--no-pdf-header-footer", "--print-to-pdf=page.pdf"])
            .arg(format!("file://{}", folder.join(&format!("{name}.html")).display()))
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&ran.stderr);
        let Ok(pdf) = std::fs::read(folder.join("page.pdf")) else {
            iosonde_testing::skip::test(format_args!("chromium does not run here: {log}"));
            return;
        };
        assert!(!log.contains("Refused to") && !log.contains("Uncaught"), "{name}: {log}");
        let pdf = String::from_utf8_lossy(&pdf);
        // The list of pages is `/Type /Pages`.
        let sheets = pdf.matches("/Type /Page\n").count();
        assert!((1..=8).contains(&sheets), "{name}: {sheets} sheets");
    }
}
