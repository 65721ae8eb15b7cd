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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Directions, Distribution, SourceFile, SourceSpec, Zone};
    use iosonde_base::{PerDir, Ring};

    /// A file from `offset` on, of which `size` bytes are used; it ends at `end`.
    fn file(name: &str, offset: u64, size: u64, end: u64) -> SourceFile {
        SourceFile { name: name.to_owned(), offset, size, end, later_offset: None }
    }

    fn reads(files: Vec<SourceFile>) -> SourceSpec {
        let total_bytes = files.iter().map(|file| file.size).sum();
        SourceSpec { files, total_bytes, ..SourceSpec::default() }
    }

    /// Why a job is idle that has planned all that it will.
    fn why(spec: SourceSpec) -> Option<String> {
        let (mut source, mut ring) = (Source::new(spec).unwrap(), Ring::default());
        for _ in 0..100 {
            source.refill(&mut ring);
            while ring.pop().is_some() {}
        }
        source.why_idle()
    }

    #[test]
    fn a_job_that_issues_io_is_not_idle() {
        assert_eq!(why(reads(vec![file("f", 0, 4096, 4096)])), None, "one is enough");
        assert_eq!(why(reads(vec![file("f", 4096, 8192, 12_288)])), None);
    }

    #[test]
    fn a_job_of_no_bytes_says_so() {
        let spec = SourceSpec { total_bytes: 0, ..reads(vec![file("f", 0, 4096, 4096)]) };
        let expected = "there are no bytes to move: size or io_size is 0";
        assert_eq!(why(spec).as_deref(), Some(expected));
    }

    #[test]
    fn files_too_small_for_an_io_are_named_with_both_sizes() {
        let expected = "f has 4095 bytes to use, and one I/O takes 4096";
        assert_eq!(why(reads(vec![file("f", 0, 4095, 4095)])).as_deref(), Some(expected));
        let two = reads(vec![file("f", 0, 4095, 4095), file("g", 0, 10, 10)]);
        let expected = format!("in none of 2 files; the first: {expected}");
        assert_eq!(why(two), Some(expected));
    }

    #[test]
    fn a_file_that_ends_before_the_job_begins_says_where() {
        let expected = "f ends at 8191, and the job begins at 4096";
        assert_eq!(why(reads(vec![file("f", 4096, 8192, 8191)])).as_deref(), Some(expected));
        assert_eq!(why(reads(vec![file("f", 4096, 8192, 8192)])), None, "it just fits");
    }

    #[test]
    fn zones_past_the_end_of_a_file_are_named() {
        let zones = |size| Distribution::ZonedAbs(PerDir::all(vec![Zone { percent: 100, size }]));
        let spec = |size| SourceSpec {
            directions: Directions { read: true, random: true, ..Directions::default() },
            distribution: zones(size),
            ..reads(vec![file("f", 0, 8192, 8192)])
        };
        let found = why(spec(12_288)).unwrap();
        assert!(found.contains("zoned_abs end at 12288, past the 8192 bytes of f"), "{found}");
        assert_eq!(why(spec(8192)), None);
    }
}
