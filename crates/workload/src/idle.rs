//! Why a job does no I/O at all.

use crate::source::Source;

impl Source {
    /// Whether nothing has been planned so far; and if so, why, in words for
    /// the user. None for a job that issues I/O.
    pub fn why_idle(&self) -> Option<String> {
        if self.limits.bytes() > 0 || self.replaying.is_some() {
            return None;
        }
        Some(self.reason())
    }

    fn reason(&self) -> String {
        let spec = &self.spec;
        if spec.total_bytes == 0 {
            return "there are no bytes to move: size or io_size is 0".to_owned();
        }
        let reasons: Vec<String> = (0..self.files.len()).map(|file| self.reason_of(file)).collect();
        let first = reasons[0].clone();
        match reasons.len() {
            1 => first,
            _ => format!("in none of {} files; the first: {first}", reasons.len()),
        }
    }

    fn reason_of(&self, file: usize) -> String {
        let (spec, state) = (&self.spec, &self.files[file]);
        let name = &spec.files[file].name;
        let least = spec.least();
        if state.range < least {
            let range = state.range;
            return format!("{name} has {range} bytes to use, and one I/O takes {least}");
        }
        if state.start + least > state.end {
            let (start, end) = (state.start, state.end);
            return format!("{name} ends at {end}, and the job begins at {start}");
        }
        if spec.directions.random && spec.used().all(|dir| state.grids[dir as usize].places == 0) {
            let unit = spec.used().map(|dir| spec.unit(dir)).min().unwrap_or(0);
            return format!("{name} has no place for an I/O of {least} at multiples of {unit}");
        }
        if let Some(end) = self.zones.as_ref().and_then(|zones| zones.end())
            && end > state.range
        {
            return format!(
                "the zones of random_distribution=zoned_abs end at {end}, past the {} bytes of {name}",
                state.range
            );
        }
        if let Some(why) = self.idle_zones(file) {
            return why;
        }
        if spec.strided.is_some() {
            return format!("no I/O of {least} fits into the zones of {name}");
        }
        format!("no I/O of the sizes that are drawn fits into {name}")
    }
}
