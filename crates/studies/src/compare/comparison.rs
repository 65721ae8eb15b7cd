//! Results of A and B judged: plain data for all formats.

use super::likeness::Likeness;
use super::side::{CompareSide, SideRun};
use crate::trials::figures::{BetterWhen, Figure, Measure, percentile};
use iosonde_judge::{
    ALPHA, Decision, Estimate, JudgedMetric, Margin, PairOrder, cliff, geometric_mean,
    judge_metrics, median, outliers, pairs_needed, standard_deviation,
};
use iosonde_report::Report;

/// How the results came about.
#[derive(Clone, Debug, PartialEq)]
pub enum RunDesign {
    /// In pairs, in this order; judged at this level.
    Pairs {
        /// The order of each pair.
        orders: Vec<PairOrder>,
        /// The level of this look.
        alpha: f64,
        /// The smallest and the largest pair are left out.
        robust: bool,
    },
    /// By somebody, some time: a drift between A and B is not excluded.
    Unordered,
    /// A is sessions, by the number of runs of each in turn; B is a session.
    Sessions(Vec<usize>),
    /// One run a side; the scatter of a run, if it is known.
    Single(Option<f64>),
}

/// One figure of both sides.
#[derive(Clone, Debug)]
pub struct JudgedFigure {
    /// Which.
    pub figure: Figure,
    /// Its value of A: the geometric mean of rates, the percentile of all I/Os
    /// together.
    pub a: f64,
    /// Its value of B.
    pub b: f64,
    /// Values are medians of the runs' percentiles: not all runs have bins.
    pub is_median: bool,
    /// B over A.
    pub ratio: f64,
    /// Whether B is the better one, by the estimate.
    pub b_is_better: bool,
    /// The values of each run of A and of B.
    pub values: [Vec<f64>; 2],
    /// What the runs show; `None` where nothing can be estimated.
    pub judged: Option<JudgedMetric>,
    /// The least difference that such runs show, as a ratio: 0.1 is 10 %.
    pub detectable: Option<f64>,
    /// The scatter of one run, as a ratio.
    pub scatter: Option<f64>,
    /// So many pairs would show the margin.
    pub pairs_needed: Option<usize>,
    /// The two modes that its percentile lies between, in nanoseconds.
    pub between_modes: Option<(f64, f64)>,
}

impl JudgedFigure {
    /// What the runs show.
    pub fn decision(&self) -> Decision {
        self.judged.map_or(Decision::CannotTell, |judged| judged.decision)
    }
}

/// A comparison.
#[derive(Clone, Debug)]
pub struct SideComparison {
    /// A, then B.
    pub sides: [CompareSide; 2],
    /// How their results came about.
    pub design: RunDesign,
    /// What differs between the sides besides the figures.
    pub likeness: Likeness,
    /// The difference that matters.
    pub margin: Margin,
    /// Each figure; the first one decides.
    pub figures: Vec<JudgedFigure>,
    /// The figures of each job, if there are several.
    pub jobs: Vec<JudgedJob>,
    /// Figures that only some results have.
    pub incomplete: Vec<String>,
    /// Runs that lie far outside the others, or are marked: kept, and named.
    pub remarks: Vec<String>,
    /// More than a fifth of the runs are marked, so nothing is decided.
    pub is_unreliable: bool,
}

/// One job of both sides.
#[derive(Clone, Debug)]
pub struct JudgedJob {
    /// Its name; of jobs matched by their order both names.
    pub name: String,
    /// Why it has no figures, if it has none.
    pub note: Option<String>,
    /// Its figures, each judged by itself.
    pub figures: Vec<JudgedFigure>,
}

/// Of the runs, so many may be marked.
const MARKED_MOST: f64 = 0.2;

/// What to compare, and how sure to be.
#[derive(Clone, Debug)]
pub struct JudgeRequest {
    /// The figures that were named; the first decides.
    pub named: Vec<Figure>,
    /// The difference that matters.
    pub margin: Margin,
}

impl SideComparison {
    /// Judge two sides, all jobs together.
    ///
    /// # Errors
    /// They have no figure in common, or not the one that was named.
    pub fn judge(
        sides: [CompareSide; 2],
        design: RunDesign,
        likeness: Likeness,
        request: &JudgeRequest,
    ) -> Result<SideComparison, String> {
        let (figures, incomplete) = choose(&sides, request)?;
        let mut judged: Vec<JudgedFigure> =
            figures.into_iter().map(|figure| measured(figure, &sides)).collect();
        let marks = marks(&sides);
        let runs: usize = sides.iter().map(|side| side.runs.len()).sum();
        let is_unreliable = marks.len() as f64 > MARKED_MOST * runs as f64;
        estimate(&mut judged, &design, request.margin);
        if is_unreliable {
            let metrics = judged.iter_mut().filter_map(|figure| figure.judged.as_mut());
            metrics.for_each(|metric| metric.decision = Decision::CannotTell);
        }
        let mut remarks = marks;
        remarks.extend(far_pairs(&judged, &design));
        let margin = request.margin;
        Ok(SideComparison {
            sides,
            design,
            likeness,
            margin,
            figures: judged,
            jobs: Vec::new(),
            incomplete,
            remarks,
            is_unreliable,
        })
    }

    /// The figure that decides.
    pub fn primary(&self) -> &JudgedFigure {
        &self.figures[0]
    }

    /// How many pairs, or runs of B.
    pub fn count(&self) -> usize {
        self.sides[1].runs.len()
    }
}

/// The figures of both sides, the deciding one first; and those that are not
/// in all results.
fn choose(
    sides: &[CompareSide; 2],
    request: &JudgeRequest,
) -> Result<(Vec<Figure>, Vec<String>), String> {
    let reports: Vec<&Report> =
        sides.iter().flat_map(|side| &side.runs).map(SideRun::report).collect();
    let mut known: Vec<Figure> = Vec::new();
    for figure in reports.iter().flat_map(|report| Figure::of(report)) {
        if !known.contains(&figure) {
            known.push(figure);
        }
    }
    // A percentile that was named beside the usual ones.
    for named in &request.named {
        let lanes = known.iter().map(|figure| figure.lane).collect::<Vec<_>>();
        for lane in lanes {
            let figure = Figure { lane: named.lane.or(lane), measure: named.measure };
            let is_wanted = figure.is_meant_by(named) && !known.contains(&figure);
            if is_wanted && reports.iter().any(|report| figure.value(report).is_some()) {
                known.push(figure);
            }
        }
    }
    let is_in_all = |figure: &Figure| reports.iter().all(|report| figure.value(report).is_some());
    let (mut common, part): (Vec<Figure>, Vec<Figure>) = known.into_iter().partition(is_in_all);
    if common.is_empty() {
        return Err(
            "the results have no figure in common: no direction has I/Os in all of them".into()
        );
    }
    if let Some(primary) = request.named.first() {
        let meant: Vec<Figure> = request
            .named
            .iter()
            .flat_map(|named| common.iter().filter(|figure| figure.is_meant_by(named)).copied())
            .collect();
        if !meant.first().is_some_and(|figure| figure.is_meant_by(primary)) {
            let have: Vec<String> = common.iter().map(Figure::key).collect();
            return Err(format!(
                "--metric: {} is not in all results: use {}",
                primary.key(),
                have.join(", ")
            ));
        }
        return Ok((meant, Vec::new()));
    }
    drop_repetitions(&mut common, &reports);
    let primary = default_primary(&common);
    common[..=primary].rotate_right(1);
    Ok((common, part.iter().map(Figure::key).collect()))
}

/// Where all I/Os have one size, the bandwidth repeats the IOPS.
fn drop_repetitions(figures: &mut Vec<Figure>, reports: &[&Report]) {
    let size = |figure: &Figure, report: &Report| -> Option<f64> {
        let iops = Figure { lane: figure.lane, measure: Measure::Iops }.value(report)?;
        Some(figure.value(report)? / iops)
    };
    figures.retain(|figure| {
        if figure.measure != Measure::Bandwidth {
            return true;
        }
        let sizes: Vec<f64> = reports.iter().filter_map(|report| size(figure, report)).collect();
        let (low, high) = sizes
            .iter()
            .fold((f64::MAX, 0.0f64), |(low, high), &size| (low.min(size), high.max(size)));
        high > low * 1.01
    });
}

/// The durable rate of writes, the response of paced jobs, else IOPS.
fn default_primary(figures: &[Figure]) -> usize {
    let find = |wanted: fn(&Figure) -> bool| figures.iter().position(wanted);
    find(|figure| matches!(figure.measure, Measure::Response(_)))
        .or_else(|| find(|figure| figure.measure == Measure::Durable))
        .or_else(|| find(|figure| figure.measure == Measure::Iops))
        .unwrap_or(0)
}

/// The values of a figure that all results have.
fn measured(figure: Figure, sides: &[CompareSide; 2]) -> JudgedFigure {
    let values = [0, 1].map(|side: usize| {
        let runs = sides[side].runs.iter();
        runs.filter_map(|run| figure.value(run.report())).collect::<Vec<f64>>()
    });
    let merged = [0, 1].map(|side: usize| merged(&figure, &sides[side]));
    let is_percentile = figure.latencies(sides[0].runs[0].report()).is_some();
    let is_median = is_percentile && merged.contains(&None);
    let shown = [0, 1].map(|side: usize| match (is_percentile, merged[side]) {
        (true, Some(value)) if !is_median => value,
        (true, _) => median(&values[side]),
        (false, _) => geometric_mean(&values[side]),
    });
    let ratio = shown[1] / shown[0];
    let mut judged = JudgedFigure {
        figure,
        a: shown[0],
        b: shown[1],
        is_median,
        ratio,
        b_is_better: false,
        values,
        judged: None,
        detectable: None,
        scatter: None,
        pairs_needed: None,
        between_modes: modes(&figure, sides),
    };
    judged.b_is_better = is_better(&figure, ratio.ln());
    judged
}

fn is_better(figure: &Figure, difference: f64) -> bool {
    match figure.better() {
        BetterWhen::Higher => difference > 0.0,
        BetterWhen::Lower => difference < 0.0,
    }
}

/// A percentile over the I/Os of all runs of a side.
fn merged(figure: &Figure, side: &CompareSide) -> Option<f64> {
    let mut all = Vec::new();
    let mut percent = 0.0;
    for run in &side.runs {
        let (latencies, of) = figure.latencies(run.report())?;
        all.extend(latencies);
        percent = of;
    }
    percentile(&all, percent)
}

/// The modes on both sides of a percentile that lies between them.
fn modes(figure: &Figure, sides: &[CompareSide; 2]) -> Option<(f64, f64)> {
    sides.iter().flat_map(|side| &side.runs).find_map(|run| {
        let (latencies, percent) = figure.latencies(run.report())?;
        let count = latencies.iter().map(|latency| latency.n).sum();
        let at = |quantile: f64| {
            let value = iosonde_report::percentile_of_all(&latencies, quantile * 100.0);
            value.map_or(0.0, |ns| ns as f64)
        };
        cliff(at, percent / 100.0, count)
    })
}

fn logarithms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

/// ln(B / A) of each pair.
fn differences(figure: &JudgedFigure) -> Vec<f64> {
    let [a, b] = &figure.values;
    a.iter().zip(b).map(|(a, b)| (b / a).ln()).collect()
}

fn estimate(figures: &mut [JudgedFigure], design: &RunDesign, margin: Margin) {
    let estimates: Vec<Option<Estimate>> =
        figures.iter().map(|figure| one_estimate(figure, design)).collect();
    let alpha = match design {
        RunDesign::Pairs { alpha, .. } => *alpha,
        _ => ALPHA,
    };
    let known: Vec<Estimate> = estimates.iter().filter_map(|estimate| *estimate).collect();
    let primary = estimates[0].is_some().then_some(0);
    let mut judged = judge_metrics(&known, primary, margin, alpha).into_iter();
    for (figure, estimate) in figures.iter_mut().zip(&estimates) {
        let Some(estimate) = estimate else { continue };
        let metric = judged.next();
        figure.judged = metric;
        figure.detectable = Some(estimate.detectable(alpha).exp() - 1.0);
        figure.b_is_better = is_better(&figure.figure, estimate.mean);
        figure.ratio = estimate.mean.exp();
        if matches!(design, RunDesign::Pairs { .. }) {
            let scatter = standard_deviation(&differences(figure));
            figure.scatter = Some((scatter / std::f64::consts::SQRT_2).exp() - 1.0);
            figure.pairs_needed = pairs_needed(scatter, margin.ln());
        }
    }
}

fn one_estimate(figure: &JudgedFigure, design: &RunDesign) -> Option<Estimate> {
    let [a, b] = &figure.values;
    match design {
        RunDesign::Pairs { robust, .. } => {
            let differences = differences(figure);
            let trimmed = robust.then(|| Estimate::paired_trimmed(&differences)).flatten();
            trimmed.or_else(|| Estimate::paired(&differences))
        }
        RunDesign::Unordered => Estimate::unpaired(&logarithms(a), &logarithms(b)),
        RunDesign::Sessions(runs) => {
            let mut rest = &a[..];
            let mut sessions = Vec::new();
            for &count in runs {
                let (session, after) = rest.split_at(count.min(rest.len()));
                sessions.push(geometric_mean(session).ln());
                rest = after;
            }
            Estimate::against_sessions(&sessions, geometric_mean(b).ln())
        }
        RunDesign::Single(noise) => {
            noise.map(|noise| Estimate::single((b[0] / a[0]).ln(), noise.ln_1p()))
        }
    }
}

/// The runs that are no good samples, in words.
fn marks(sides: &[CompareSide; 2]) -> Vec<String> {
    let runs = sides.iter().flat_map(|side| &side.runs);
    runs.filter_map(|run| Some(format!("{}: {}, kept", run.file, run.mark()?))).collect()
}

/// Pairs that lie far outside the others in the deciding figure.
fn far_pairs(figures: &[JudgedFigure], design: &RunDesign) -> Vec<String> {
    let RunDesign::Pairs { .. } = design else { return Vec::new() };
    let Some(primary) = figures.first() else { return Vec::new() };
    let far = outliers(&differences(primary));
    far.into_iter().map(|pair| format!("pair {}: far outside the others, kept", pair + 1)).collect()
}

#[cfg(test)]
pub mod tests {
    use super::super::side::tests::side;
    use super::*;
    use crate::trials::figures::tests::result;

    /// Ten pairs, each scattering by `scatter` in turn up and down.
    pub fn compared(ratio: f64, scatter: f64) -> SideComparison {
        let up_and_down = |at: usize| if at.is_multiple_of(2) { scatter } else { -scatter };
        let a: Vec<f64> = (0..10).map(|at| 10_000.0 * (1.0 + up_and_down(at))).collect();
        let b: Vec<f64> = (0..10).map(|at| 10_000.0 * ratio * (1.0 - up_and_down(at))).collect();
        let design = RunDesign::Pairs { orders: Vec::new(), alpha: ALPHA, robust: false };
        judged([side("A", &a), side("B", &b)], design, &[]).unwrap()
    }

    pub fn judged(
        sides: [CompareSide; 2],
        design: RunDesign,
        named: &[&str],
    ) -> Result<SideComparison, String> {
        let named = named.iter().map(|name| Figure::parse(name).unwrap()).collect();
        let request = JudgeRequest { named, margin: Margin::of_ratio(0.05) };
        SideComparison::judge(sides, design, Likeness::default(), &request)
    }

    #[test]
    fn iops_decide_and_equal_block_sizes_need_no_bandwidth() {
        let comparison = compared(1.2, 0.01);
        let keys: Vec<String> = comparison.figures.iter().map(|one| one.figure.key()).collect();
        assert_eq!(keys, ["read.iops", "read.p50", "read.p99", "read.p99.9"]);
        assert_eq!(comparison.primary().decision(), Decision::Differs);
        assert!(comparison.primary().b_is_better);
        assert_eq!(comparison.figures[1].decision(), Decision::Same);
    }

    #[test]
    fn one_run_each_never_differs() {
        let sides = [side("A", &[10_000.0]), side("B", &[20_000.0])];
        let single = judged(sides.clone(), RunDesign::Single(None), &[]).unwrap();
        assert_eq!(single.primary().decision(), Decision::CannotTell);
        assert!(single.primary().judged.is_none());
        let noise = judged(sides, RunDesign::Single(Some(0.04)), &[]).unwrap();
        assert_eq!(noise.primary().decision(), Decision::Differs);
    }

    #[test]
    fn a_merged_percentile_is_that_of_all_ios() {
        // 1000 I/Os of 100 us and 100 000 of 1 ms: 1 ms, not the mean of both.
        let runs = vec![
            SideRun { file: "1".into(), result: result(100.0, 100_000) },
            SideRun { file: "2".into(), result: result(10_000.0, 1_000_000) },
        ];
        let a = CompareSide { name: "A".into(), runs };
        let comparison = judged([a.clone(), a], RunDesign::Unordered, &["p99"]).unwrap();
        assert_eq!(comparison.primary().a, 1_000_000.0);
    }

    #[test]
    fn a_figure_that_is_not_there_is_refused_with_those_that_are() {
        let sides = [side("A", &[1.0, 1.0]), side("B", &[1.0, 1.0])];
        let refused = judged(sides, RunDesign::Unordered, &["durable"]).unwrap_err();
        assert!(refused.contains("use read.iops"), "{refused}");
    }

    #[test]
    fn sessions_are_compared_by_their_means() {
        let stored = side("A", &[10_000.0, 10_200.0, 9_900.0, 10_100.0, 10_000.0, 9_800.0]);
        let slow = side("B", &[5_000.0, 5_100.0]);
        let six = RunDesign::Sessions(vec![1; 6]);
        let comparison = judged([stored.clone(), slow.clone()], six, &[]).unwrap();
        assert_eq!(comparison.primary().decision(), Decision::Differs);
        let three = RunDesign::Sessions(vec![2; 3]);
        let comparison = judged([stored, slow], three, &[]).unwrap();
        assert!(comparison.primary().judged.is_none(), "three sessions show too little");
    }
}
