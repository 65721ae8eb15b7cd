//! Pages of made-up figures: a comparison, sweeps, a search, a matrix. `name`
//! stands wherever a user's words do.

use iosonde_html::{
    AxisValue, ComparedFigure, ComparedJob, ComparedSide, ComparisonPage, FigureUnit,
    FigureVerdict, KneePlace, MatrixCell, MatrixPage, MatrixRow, PartRow, RunPlace, SearchPage,
    SearchedProbe, StudyAnswer, StudyCard, StudyGoal, SweepPage, SweptFigure, SweptKind, SweptKnee,
    SweptPoint,
};
use iosonde_report::Report;
use iosonde_report::finding::Severity;

/// A comparison of `pairs` pairs of the same report.
pub fn comparison<'a>(report: &'a Report, name: &str, pairs: usize) -> ComparisonPage<'a> {
    let side = |letter: &str| ComparedSide {
        name: format!("{letter} {name}"),
        reports: vec![report; pairs],
        files: (0..pairs).map(|at| format!("{at:03}-{letter}.json")).collect(),
    };
    let order = |pair: usize| {
        let first = pair % 3 % 2;
        [RunPlace { side: first, index: pair }, RunPlace { side: 1 - first, index: pair }]
    };
    let job = |at: usize| ComparedJob {
        name: format!("job{at} {name}"),
        note: (at == 3).then(|| "only in A".to_owned()),
        figures: figures(name, 2)[..3].to_vec(),
    };
    ComparisonPage {
        sides: [side("iodepth=8"), side("iodepth=32")],
        design: format!("{pairs} pairs, random order (seed 7213)"),
        answer: StudyAnswer {
            sentence: "B is better in read IOPS: +13.3 % (interval +6.9 .. +20.1)".into(),
            is_doubtful: true,
            goals: vec![StudyGoal { words: "gate".into(), outcome: "passed".into(), is_met: true }],
            lines: vec![format!("runs vary by 2.3 % {name}")],
            cards: vec![StudyCard {
                title: format!("A: {name}"),
                figures: vec![("read IOPS".into(), "36.2k".into())],
                note: "5 runs".into(),
            }],
            findings: vec![
                (Severity::Warning, format!("the kernel differs: 6.12.1 in A, {name} in B")),
                (Severity::Note, "pair 3: far outside the others, kept".into()),
            ],
            ..StudyAnswer::default()
        },
        ratio_name: "B/A in pairs",
        margin: 0.05,
        figures: figures(name, pairs),
        findings: vec![(name.to_owned(), ["3 of 5".into(), "0 of 5".into()])],
        jobs: (0..4).map(job).collect(),
        order: (0..pairs).flat_map(order).collect(),
        same: vec!["machine".into(), "device".into()],
        differences: vec![PartRow {
            part: "job".into(),
            what: "iodepth".into(),
            values: [name.to_owned(), "32".into()],
            is_meant: true,
        }],
        unknown: vec!["file system".into()],
        command: format!("iosonde compare job.fio --a='--iodepth=8' --description='{name}'"),
        json: Some("{}".into()),
    }
}

fn figures(name: &str, runs: usize) -> Vec<ComparedFigure> {
    use FigureVerdict::{CannotTell, Differs, Same};
    let all = [
        ("read IOPS", FigureUnit::Count, 36_200.0, 1.133, Differs, true),
        ("read p50", FigureUnit::Nanoseconds, 119_000.0, 3.38, Differs, false),
        ("read p99", FigureUnit::Nanoseconds, 243_000.0, 5.39, Differs, false),
        ("CPU per I/O", FigureUnit::Nanoseconds, 6480.0, 0.974, Same, true),
        ("durable rate", FigureUnit::BytesPerSecond, 1.5e9, 1.02, CannotTell, true),
        (name, FigureUnit::Count, 100.0, 0.45, CannotTell, true),
    ];
    let figure =
        |(label, unit, value, ratio, verdict, b_is_better): (&str, FigureUnit, f64, f64, _, _)| {
            let runs_of =
                |scale: f64| (0..runs).map(|at| value * scale * (1.0 + at as f64 * 0.01)).collect();
            ComparedFigure {
                label: label.to_owned(),
                unit,
                values: [unit.text(value), unit.text(value * ratio)],
                ratio,
                interval: Some((ratio * 0.94, ratio * 1.06)),
                change: format!("{:+.1} %", (ratio - 1.0) * 100.0),
                interval_text: "+6.9 .. +20.1".into(),
                verdict,
                words: "differs".into(),
                b_is_better,
                runs: [runs_of(1.0), runs_of(ratio)],
            }
        };
    all.into_iter().map(figure).collect()
}

fn figure(kind: SweptKind, label: &str, unit: FigureUnit, value: f64) -> SweptFigure {
    let range = (value * 0.97, value * 1.03);
    SweptFigure { lane: "read".into(), kind, label: label.into(), unit, value, range }
}

fn point(values: Vec<AxisValue>, load: f64, knee: f64, service_ns: f64) -> SweptPoint {
    let iops = load.min(knee) * 1e9 / service_ns;
    let wait = load / iops * 1e9;
    SweptPoint {
        values,
        load,
        runs: 3,
        figures: vec![
            figure(SweptKind::Iops, "read IOPS", FigureUnit::Count, iops),
            figure(
                SweptKind::Bandwidth,
                "read bandwidth",
                FigureUnit::BytesPerSecond,
                iops * 4096.0,
            ),
            figure(SweptKind::Latency(50.0), "read p50", FigureUnit::Nanoseconds, wait),
            figure(SweptKind::Latency(99.0), "read p99", FigureUnit::Nanoseconds, wait * 2.4),
            figure(SweptKind::Other, "CPU per I/O", FigureUnit::Nanoseconds, 6000.0),
        ],
        findings: if load > 100.0 { vec!["tool-bound".into()] } else { Vec::new() },
    }
}

fn value(number: f64) -> AxisValue {
    AxisValue { text: format!("{number}"), number: Some(number) }
}

/// Depths 1 to 256 with a knee at 24.
pub fn depths<'a>(report: Option<&'a Report>, name: &str) -> SweepPage<'a> {
    let load = |power: i32| 2f64.powi(power);
    SweepPage {
        jobs: format!("randread 4k {name}"),
        design: "9 points, 3 rounds in random order (seed 7)".into(),
        axes: vec!["iodepth".into()],
        load_axis: Some(0),
        points: (0..9).map(|at| point(vec![value(load(at))], load(at), 24.0, 80_000.0)).collect(),
        answer: StudyAnswer {
            sentence: format!("knee at 24 I/Os in flight (22 .. 26) {name}"),
            ..StudyAnswer::default()
        },
        knees: vec![SweptKnee {
            words: "knee at 24 I/Os in flight (22 .. 26)".into(),
            at: String::new(),
            place: Some(KneePlace {
                load: 24.0,
                interval: Some((22.0, 26.0)),
                iops_most: 300_000.0,
                ns_least: 80_000.0,
            }),
        }],
        missing: vec![(format!("iodepth=512 {name}"), "io_uring: too deep".into())],
        result: report,
        command: format!("iosonde sweep job.fio --over 'iodepth=1..256*2' --description='{name}'"),
        json: Some("{}".into()),
    }
}

/// A grid of `rows` by `columns` with names of their own.
pub fn grid(name: &str, rows: usize, columns: usize) -> SweepPage<'static> {
    let mut points = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let depth = (row + 1) as f64;
            let size = AxisValue { text: format!("{}k{name}", 4 << column.min(20)), number: None };
            let knee = 2.0 + column as f64;
            points.push(point(vec![value(depth), size], depth, knee, 80_000.0));
        }
    }
    SweepPage {
        axes: vec!["iodepth".into(), format!("bs{name}")],
        load_axis: Some(0),
        points,
        knees: Vec::new(),
        ..depths(None, name)
    }
}

/// A search of 12 probes.
pub fn search(name: &str) -> SearchPage<'static> {
    let rates = [100.0, 200.0, 400.0, 800.0, 1600.0, 1130.0, 950.0, 1030.0, 1000.0, 1000.0, 1000.0];
    let probe = |(at, rate): (usize, f64)| SearchedProbe {
        rate,
        phase: if at < 5 {
            "grow"
        } else if at < 8 {
            "halve"
        } else {
            "confirm"
        },
        values: vec![format!("1.2 ms {name}")],
        is_kept: rate <= 1000.0,
    };
    SearchPage {
        jobs: format!("randread 4k {name}"),
        promises: vec!["read.response.p99 < 2ms".into(), name.to_owned()],
        option: "rate_iops".into(),
        answer: StudyAnswer {
            goals: vec![StudyGoal {
                words: format!("read.response.p99 < 2ms: rate_iops 1k {name}"),
                outcome: "kept".into(),
                is_met: true,
            }],
            ..StudyAnswer::default()
        },
        rate: Some(1000.0),
        probes: rates.into_iter().enumerate().map(probe).collect(),
        ..SearchPage::default()
    }
}

/// A matrix of all rows and 14 block sizes; some cells have no figure.
pub fn matrix(name: &str) -> MatrixPage {
    let modes = [
        "BUFFERED",
        "AMORTIZED_FDATASYNC",
        "AMORTIZED_FSYNC",
        "FDATASYNC",
        "FSYNC",
        "O_DSYNC",
        "O_SYNC",
    ];
    let paths = [("plain", ""), ("ALIGNED", " + ALIGNED"), ("O_DIRECT", " + O_DIRECT")];
    let sizes: Vec<u64> = (12..26).map(|power| 1 << power).collect();
    let cell = |at: usize, size: u64| {
        let most = 1.3e9 / (1.0 + at as f64 * 0.2);
        let bytes_per_s = most.min(size as f64 / 2e-3 * if at < 3 { 600.0 } else { 1.0 });
        if at % 5 == 3 && size < 8192 {
            MatrixCell::None(format!("O_DIRECT refused {name}"))
        } else {
            MatrixCell::Rate {
                bytes_per_s,
                range: (bytes_per_s * 0.95, bytes_per_s * 1.05),
                text: format!("{:.0}", bytes_per_s / f64::from(1 << 20)),
                is_best_of_row: size == 1 << 20,
                is_best_of_column: at == 4,
            }
        }
    };
    let mut rows = Vec::new();
    for (at, mode) in modes.into_iter().enumerate() {
        for (path, words) in paths {
            rows.push(MatrixRow {
                name: format!("{mode}{words}"),
                path,
                mode,
                is_write: true,
                is_memory: at == 0 && path != "O_DIRECT",
                cells: sizes.iter().map(|&size| cell(at, size)).collect(),
            });
        }
    }
    MatrixPage {
        target: format!("a temporary file in /mnt {name}: first 128 MiB"),
        answer: StudyAnswer {
            sentence: "2.00 ms a write and 500 writes a second below 64 KiB.".into(),
            lines: vec![name.to_owned()],
            findings: vec![(Severity::Note, "3 of 294 figures did not settle (~).".into())],
            ..StudyAnswer::default()
        },
        tested: vec![("host", name.to_owned()), ("command", "iosonde matrix --quick".into())],
        sizes,
        rows,
        json: Some("{}".into()),
    }
}
