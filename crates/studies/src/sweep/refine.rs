//! More points around the knee, once the first round shows where it is
//! (`--refine`).

use super::grid::{GridPoint, number};
use super::results::{KneeKind, SweepResults, load_axis};
use super::runs::{SweepPoint, SweepRuns};
use crate::trials::settings::OptionSetting;
use iosonde_session::RunEnd;
use iosonde_sys::standard_error::print_error;
use serde_json::{Value, json};

impl SweepRuns<'_> {
    /// Add the points that `--refine` asks for; whether there are any.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn refine(&mut self) -> Result<bool, RunEnd> {
        let (Some(wanted), false) = (self.arguments.refine, self.is_refined) else {
            return Ok(false);
        };
        self.is_refined = true;
        let results = SweepResults::of(&self.points, self.seed);
        let mut grids: Vec<GridPoint> = Vec::new();
        for found in &results.knees {
            match &found.kind {
                KneeKind::Load(Ok(knee)) => {
                    grids.extend(self.around(&found.at, knee.load, wanted as usize));
                }
                _ => print_error(&format!(
                    "iosonde: sweep: --refine: nothing to refine{}: the first round shows no knee",
                    if found.at.is_empty() { String::new() } else { format!(" at {}", found.at) }
                )),
            }
        }
        let texts: Vec<String> = grids.iter().map(GridPoint::text).collect();
        self.folder.log(&json!({ "refined": texts })).map_err(RunEnd::failed)?;
        for grid in grids {
            self.add(grid)?;
        }
        Ok(!texts.is_empty())
    }

    /// New points between the two neighbours of a knee.
    fn around(&self, at: &str, knee: f64, wanted: usize) -> Vec<GridPoint> {
        let Some(axis) = self.points.first().and_then(|point| load_axis(&point.grid)) else {
            return Vec::new();
        };
        let group: Vec<&SweepPoint> =
            self.points.iter().filter(|point| others(&point.grid, axis) == at).collect();
        let value = |point: &SweepPoint| number(point.grid.settings[axis].value.as_deref()?);
        let loads: Vec<(f64, f64)> =
            group.iter().filter_map(|point| Some((value(point)?, point.load))).collect();
        let values = between(&loads, knee, wanted);
        let with_value = |value: u64| {
            let mut grid = group[0].grid.clone();
            let setting = &mut grid.settings[axis];
            *setting = OptionSetting { value: Some(value.to_string()), ..setting.clone() };
            grid
        };
        let grids = values.into_iter().map(with_value);
        let condition = self.arguments.condition.as_ref();
        grids.filter(|grid| condition.is_none_or(|one| one.holds(grid).unwrap_or(false))).collect()
    }

    fn add(&mut self, grid: GridPoint) -> Result<(), RunEnd> {
        let point = SweepPoint::new(&self.base, grid, self.arguments);
        let mut point = point.map_err(RunEnd::Failed)?;
        point.measure_load()?;
        self.points.push(point);
        Ok(())
    }

    /// Points that earlier runs have added.
    ///
    /// # Errors
    /// A line of the journal names no point of these axes.
    pub fn take_back_refined(&mut self, line: &Value) -> Result<(), String> {
        let Some(texts) = line["refined"].as_array() else { return Ok(()) };
        self.is_refined = true;
        for text in texts.iter().filter_map(Value::as_str) {
            let settings = OptionSetting::parse_line(text)?;
            self.add(GridPoint { settings }).map_err(|end| end.to_string())?;
        }
        Ok(())
    }
}

/// The settings of a point besides one axis, in words.
fn others(grid: &GridPoint, axis: usize) -> String {
    let rest = grid.settings.iter().enumerate().filter(|(at, _)| *at != axis);
    rest.map(|(_, setting)| setting.text()).collect::<Vec<_>>().join(" ")
}

/// Whole values between the neighbours of a knee, at equal ratios; `loads` are
/// the values of the axis with their loads.
fn between(loads: &[(f64, f64)], knee: f64, wanted: usize) -> Vec<u64> {
    let below = loads.iter().filter(|one| one.1 <= knee).max_by(|a, b| a.0.total_cmp(&b.0));
    let above = loads.iter().filter(|one| one.1 > knee).min_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(&(low, _)), Some(&(high, _))) = (below, above) else { return Vec::new() };
    let step = |at: usize| low * (high / low).powf(at as f64 / (wanted + 1) as f64);
    let mut values: Vec<u64> = (1..=wanted).map(|at| step(at).round() as u64).collect();
    values.dedup();
    values.retain(|&value| (value as f64) > low && (value as f64) < high);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_values_lie_between_the_neighbours_of_the_knee() {
        let loads: Vec<(f64, f64)> =
            (0..9).map(|at| (2f64.powi(at), 4.0 * 2f64.powi(at))).collect();
        // The load is four times the depth.
        assert_eq!(between(&loads, 80.0, 2), [20, 25]);
        assert_eq!(between(&loads, 64.0, 1), [23]);
        assert_eq!(between(&loads, 5.0, 3), [0; 0], "no whole number lies between 1 and 2");
        assert_eq!(between(&loads, 9000.0, 3), [0; 0]);
    }
}
