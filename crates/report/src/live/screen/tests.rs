//! The screen as a terminal shows it, of several sizes.

use super::*;
use ratatui_core::backend::TestBackend;
use ratatui_core::style::{Color, Modifier};
use ratatui_core::terminal::Terminal;

const PLAIN: ScreenStyle = ScreenStyle { colour: false, unicode: true, keys: true, paused: false };

fn rate(iops: f64) -> LiveRate {
    LiveRate {
        iops,
        bytes_per_s: iops * 4096.0,
        percentiles_ns: Some([119_000, 243_000, 4_100_000]),
        max_ns: Some(5_900_000),
        errors: 0,
    }
}

fn run() -> LiveRun {
    let mut latency = CoarseCounts::default();
    latency.add(40, 1000);
    latency.add(52, 3);
    let window = |bytes_per_s: f64| {
        let p99_ns = Some(243_000);
        Arc::new(LiveWindow { bytes_per_s, latency: latency.clone(), p99_ns })
    };
    let job = |name: &str, iops: f64| LiveJob {
        name: name.to_owned(),
        iops,
        bytes_per_s: iops * 4096.0,
        is_running: true,
        has_failed: false,
    };
    LiveRun {
        title: "db: randrw 4k, io_uring, depth 8, direct".to_owned(),
        target: "data (vda)".to_owned(),
        phase: "run",
        elapsed_s: 34,
        done: Some(0.57),
        left_s: Some(26),
        dirs: PerDir([Some(rate(36_200.0)), Some(rate(15_500.0)), None]),
        syncs: Some(rate(968.0)),
        windows: [208e6, 208e6, 208e6, 80e6].map(window).to_vec(),
        places: LivePlaces {
            reads_from_memory: Some(0.0),
            only_in_memory: Some(412 << 20),
            written: 1420 << 20,
            devices: vec![("vda".to_owned(), [3 << 30, 1 << 30])],
        },
        depth_requested: 8,
        depth_observed: Some(7.98),
        depth_at_device: Some(6.13),
        cpu: Some([0.03, 0.31]),
        findings: vec![LiveFinding {
            id: "not-steady".to_owned(),
            severity: Severity::Warning,
            text: "the rate fell by 62 %, after 7.1 GiB and 23 s".to_owned(),
        }],
        jobs: vec![job("db.0", 51_100.0), job("db.1", 50_900.0), job("db.3", 9200.0)],
        jobs_running: 3,
    }
}

fn terminal(columns: u16, rows: u16, view: LiveView, style: &ScreenStyle) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal
        .draw(|frame| {
            draw(&run(), view, style, frame.buffer_mut());
        })
        .unwrap();
    terminal.backend().clone()
}

/// The rows of a terminal, without blanks at their ends and empty rows below.
fn rows(backend: &TestBackend) -> Vec<String> {
    let buffer = backend.buffer();
    let rows = buffer.content().chunks(buffer.area.width.into());
    let text = |row: &[ratatui_core::buffer::Cell]| {
        row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()
    };
    let mut rows: Vec<String> = rows.map(text).collect();
    let last = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
    rows.truncate(last);
    rows
}

#[test]
fn eighty_columns_show_everything() {
    let shown = rows(&terminal(80, 24, LiveView::Overview, &PLAIN));
    let expected = [
        " db: randrw 4k, io_uring, depth 8, direct       data (vda)   run  00:34 / 01:00",
        " [########################################                               ]  57 %",
        "              IOPS     MiB/s       p50       p99     p99.9       max    errors",
        " read        36.2k       141    119 us    243 us   4.10 ms   5.90 ms         0",
        " write       15.5k      60.5    119 us    243 us   4.10 ms   5.90 ms         0",
        " sync          968              119 us    243 us   4.10 ms   5.90 ms         0",
        " rate   ███▄                                              0 to 198 MiB/s",
        " p99    ████                                              0 to 243 us",
        " where  reads: device 100 %, cache 0 %  writes: still dirty 29.0 % (412 MiB)",
        " depth  requested 8  observed 7.98  at device 6.13   cpu 3 % user 31 % system",
        " ! the rate fell by 62 %, after 7.1 GiB and 23 s                   [not-steady]",
        " jobs   3 of 3 run  db.0 51.1k  db.1 50.9k  db.3 9.20k  <- slowest",
        " q end and report   p pause   j jobs   h heat map   s status   ? help",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn narrow_terminals_leave_out_the_tail_the_jobs_and_the_depth() {
    let shown = rows(&terminal(60, 16, LiveView::Overview, &PLAIN)).join("\n");
    for left_out in ["p99.9", "max", "jobs   3 of", "depth  requested"] {
        assert!(!shown.contains(left_out), "{left_out}:\n{shown}");
    }
    for kept in ["run  00:34 / 01:00", "p99", "errors", "[not-steady]", "q end"] {
        assert!(shown.contains(kept), "{kept}:\n{shown}");
    }
    let wider = rows(&terminal(78, 16, LiveView::Overview, &PLAIN)).join("\n");
    assert!(wider.contains("max") && wider.contains("depth  requested"), "{wider}");
    assert!(!wider.contains("p99.9"), "{wider}");
}

#[test]
fn no_size_and_no_view_draws_past_the_end() {
    let views = [LiveView::Overview, LiveView::Jobs, LiveView::HeatMap, LiveView::Help];
    for (columns, rows) in [(40, 10), (1, 1), (3, 40), (200, 3), (60, 16)] {
        for view in views {
            terminal(columns, rows, view, &PLAIN);
        }
    }
}

#[test]
fn the_views_show_all_jobs_and_durations_over_time() {
    let jobs = rows(&terminal(80, 24, LiveView::Jobs, &PLAIN)).join("\n");
    let slowest = jobs.find("db.3").unwrap();
    assert!(slowest < jobs.find("db.1").unwrap() && slowest < jobs.find("db.0").unwrap());
    let heat = rows(&terminal(80, 24, LiveView::HeatMap, &PLAIN)).join("\n");
    assert!(heat.contains("us ▄▄▄▄") && heat.contains("us ▁▁▁▁"), "{heat}");
    let help = rows(&terminal(80, 24, LiveView::Help, &PLAIN)).join("\n");
    assert!(help.contains(" q  end the run"), "{help}");
}

#[test]
fn more_jobs_than_fit_are_counted() {
    let jobs = (0..512).map(|at| LiveJob { name: format!("j.{at}"), ..LiveJob::default() });
    let many = LiveRun { jobs: jobs.collect(), ..run() };
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal
        .draw(|frame| {
            draw(&many, LiveView::Jobs, &PLAIN, frame.buffer_mut());
        })
        .unwrap();
    let shown = rows(terminal.backend()).join("\n");
    assert!(shown.contains(" more do not fit"), "{shown}");
}

#[test]
fn jobs_that_failed_come_first_on_every_view() {
    let mut failed = run();
    failed.jobs[1].has_failed = true;
    for view in [LiveView::Overview, LiveView::Jobs, LiveView::HeatMap] {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal
            .draw(|frame| {
                draw(&failed, view, &PLAIN, frame.buffer_mut());
            })
            .unwrap();
        assert_eq!(rows(terminal.backend())[2], " FAILED: 1 of 3 jobs: db.1");
    }
    assert_eq!(object(&failed)["jobs"][1]["failed"], true);
}

#[test]
fn colours_and_blocks_are_left_out_where_they_cannot_be_shown() {
    let coloured = ScreenStyle { colour: true, ..PLAIN };
    let is_styled = |style: &ScreenStyle| {
        let backend = terminal(80, 24, LiveView::Overview, style);
        let mut cells = backend.buffer().content().iter();
        cells.any(|cell| cell.fg == Color::Yellow || cell.modifier != Modifier::empty())
    };
    assert!(is_styled(&coloured));
    assert!(!is_styled(&PLAIN));
    let ascii = ScreenStyle { unicode: false, ..PLAIN };
    let shown = rows(&terminal(80, 24, LiveView::Overview, &ascii)).join("\n");
    assert!(shown.is_ascii() && shown.contains(" rate   ###-"), "{shown}");
}

#[test]
fn a_hostile_name_moves_nothing() {
    let name = "\u{1b}[2J\u{9b}31m\r\n</x>\u{202e}";
    let mut hostile = run();
    hostile.title = name.repeat(40);
    hostile.jobs[0].name = name.to_owned();
    hostile.findings[0].text = name.to_owned();
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    for view in [LiveView::Overview, LiveView::Jobs] {
        terminal
            .draw(|frame| {
                draw(&hostile, view, &PLAIN, frame.buffer_mut());
            })
            .unwrap();
        let cells = terminal.backend().buffer().content().iter();
        let symbols: String = cells.map(|cell| cell.symbol()).collect();
        assert!(!symbols.chars().any(char::is_control), "{symbols:?}");
    }
}

#[test]
fn the_object_has_the_figures_and_null_for_what_is_not_known() {
    let object = object(&run());
    assert_eq!(object["last_second"]["read"]["p99_ns"], 243_000);
    assert_eq!(object["last_second"]["sync"]["iops"], 968.0);
    assert!(object["last_second"].get("trim").is_none());
    assert_eq!(object["depth"]["at_device"], 6.13);
    assert_eq!(object["findings"][0]["id"], "not-steady");
    assert_eq!(object["jobs"][2]["name"], "db.3");
    let unknown = super::object(&LiveRun::default());
    assert!(unknown["done"].is_null() && unknown["only_in_memory_bytes"].is_null());
}

#[test]
fn a_terminal_that_has_become_too_small_has_a_line_for_each_direction() {
    let small = rows(&terminal(40, 11, LiveView::Overview, &PLAIN));
    assert_eq!(
        small,
        [
            "run 00:34, 00:26 left",
            "read 36.2k IOPS, p99 243 us",
            "write 15.5k IOPS, p99 243 us",
            "sync 968 IOPS, p99 243 us"
        ]
    );
    assert_eq!(rows(&terminal(100, 2, LiveView::HeatMap, &PLAIN)).len(), 2);
    assert!(rows(&terminal(60, 15, LiveView::Overview, &PLAIN)).len() > 8);
}
