//! The figures in words: a paragraph, each sentence with its figures.

use crate::cell::{Access, ReadPath, WritePath, WriteSync};
use crate::fastest::Fastest;
use crate::phrases::{advice, named, size};
use crate::sheet::{Best, Measured, NoFigure, ResultCell, Results, fastest as fastest_of};
use crate::witness::Flushes;
use iosonde_base::text;

/// The kinds that say what storage does with single synced writes, those
/// preferred that have the least in between.
fn synced() -> impl Iterator<Item = Access> {
    let modes = [WriteSync::Fdatasync, WriteSync::ODsync, WriteSync::Fsync, WriteSync::OSync];
    let ways = [WritePath::Direct, WritePath::Aligned, WritePath::Plain];
    modes.into_iter().flat_map(move |mode| ways.map(|way| Access::Write(mode, way)))
}

/// Cells that met an error, and the first one's.
pub fn failed(sheet: &Results) -> Option<String> {
    let cells = || sheet.rows.iter().flatten();
    let error = |cell| match cell {
        &ResultCell::Not(NoFigure::Failed(ref words)) => Some(words),
        _ => None,
    };
    let first = cells().find_map(error)?;
    let (some, all) = (cells().filter_map(error).count(), cells().count());
    Some(format!("FAILED: {some} of {}: {first}.", text::counted(all as u64, "cell")))
}

/// All there is to say, a sentence each, cells that failed first; none where nothing was
/// measured.
pub fn sentences(sheet: &Results) -> Vec<String> {
    let all = [
        failed(sheet),
        single_writes(sheet),
        group_commits(sheet),
        durable_writes(sheet),
        fsync_or_fdatasync(sheet),
        reads(sheet),
        memory(sheet),
        direct_alone(sheet),
    ];
    all.into_iter().flatten().collect()
}

/// Caveats, a sentence each.
pub fn notes(sheet: &Results) -> Vec<String> {
    let mut notes = Vec::new();
    let (unsettled, all) = sheet.unsettled();
    if unsettled > 0 {
        notes.push(format!(
            "{unsettled} of {all} figures did not settle within 5 % (~): their slices differed, or \
             there was no time for six; a longer --time-per-cell may help."
        ));
    }
    for (words, kinds, cells) in sheet.reasons() {
        let all = sheet.kinds.len() * sheet.sizes.len();
        let which = match kinds.len() {
            _ if cells == all => "nothing".to_owned(),
            1..=4 => kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", "),
            many => format!("{cells} cells of {many} rows"),
        };
        let verb = if which == "nothing" { "was measured" } else { "not measured (-)" };
        notes.push(format!("{which} {verb}: {words}."));
    }
    notes.extend(sheet.notes.iter().cloned());
    notes.extend(sheet.flushes.as_ref().and_then(Flushes::words));
    notes
}

/// `2.00 ms a write and 500 writes a second below 64 KiB`.
fn single_writes(sheet: &Results) -> Option<String> {
    let kind = synced().find(|&kind| sheet.row(kind).next().is_some())?;
    let row: Vec<Best> = sheet.row(kind).collect();
    let first = row.first()?;
    let cost = |found: &Best| f64::from(found.size) / found.rate;
    let name = kind.name();
    let one = format!(
        "A write of {} that must be durable before the next ({name}) takes {}: {:.0} a second, {}.",
        size(first.size),
        span(cost(first)),
        1.0 / cost(first),
        text::rate(first.rate)
    );
    let settled = |found: &Best| sheet.figure(found).is_some_and(|figure| figure.settled);
    if !row.iter().all(settled) {
        let unknown = "How its time grows with the block cannot be determined from this run";
        let longer = row.iter().filter_map(|found| sheet.figure(found)).map(Measured::to_settle);
        return Some(format!("{one} {unknown}; {}.", advice(sheet, longer.fold(2.0, f64::max))));
    }
    // Half as much again is where the bytes begin to cost as the flush does.
    let flat = row.iter().take_while(|found| cost(found) < 1.5 * cost(first)).last()?;
    let best = fastest_of(row.iter().copied())?;
    let enough = row.iter().find(|found| found.rate >= 0.9 * best.rate)?;
    // Without a volatile cache a sync costs no flush.
    let flushes = sheet.flushes.as_ref().is_some_and(|disk| disk.volatile_cache == Some(true));
    let cause = if flushes { "flush" } else { "sync" };
    let flat = if flat.size > first.size {
        format!(
            " Up to {} the {cause} is what costs, and a larger block takes hardly longer ({});",
            size(flat.size),
            span(cost(flat))
        )
    } else {
        " Larger blocks take longer from the start;".to_owned()
    };
    let reached = if enough.size > first.size {
        format!(
            " it takes blocks of {} to come within a tenth of this mode's best, {}.",
            size(enough.size),
            text::rate(best.rate)
        )
    } else {
        format!(" its best is {}.", text::rate(best.rate))
    };
    Some(format!("{one}{flat}{reached}"))
}

/// The gain when many of the smallest writes share a sync.
fn group_commits(sheet: &Results) -> Option<String> {
    let smallest = sheet.sizes.first()?;
    let rate = |kind: Access| sheet.row(kind).find(|found| found.size == *smallest);
    let alone = synced().find_map(rate)?;
    let shares = |kind: Access| matches!(kind, Access::Write(mode, _) if mode.is_amortized());
    let kinds = sheet.kinds.iter().copied().filter(|&kind| shares(kind));
    let together = fastest_of(kinds.filter_map(rate))?;
    let (single, measured) = (sheet.figure(&alone)?, sheet.figure(&together)?);
    if measured.blocks < 2 {
        return None;
    }
    if let Some(longer) = single.slower_than(measured) {
        return Some(format!(
            "Whether groups of {} such writes that share one sync ({}) are faster cannot be determined \
             from this run; {}.",
            measured.blocks,
            sheet.kinds[together.row].name(),
            advice(sheet, longer)
        ));
    }
    let times = together.rate / alone.rate;
    let digits = usize::from(times < 10.0);
    Some(format!(
        "Groups of {} such writes that share one sync ({}) reach {}, {times:.digits$} times as much.",
        measured.blocks,
        sheet.kinds[together.row].name(),
        text::rate(together.rate),
    ))
}

fn durable_writes(sheet: &Results) -> Option<String> {
    let best = Fastest::of(sheet, Access::is_durable)?;
    let syncs_each = |kind| matches!(kind, Access::Write(mode, _) if mode.syncs_each());
    let each = Fastest::of(sheet, syncs_each).filter(|each| each.best.row != best.best.row);
    let words = match &best.rivals {
        None => format!("The fastest durable write is {}", named(sheet, &best.best)),
        Some(rivals) => {
            let words = "Which durable write is fastest cannot be determined from this run";
            return Some(format!("{words}: {}.", rivals.words(sheet, &best.best)));
        }
    };
    let of_each = "those that make each write durable";
    Some(match each {
        None => format!("{words}."),
        Some(Fastest { best, rivals: None }) => {
            format!("{words}; of {of_each} it is {}.", named(sheet, &best))
        }
        Some(Fastest { best, rivals: Some(rivals) }) => format!(
            "{words}. Which of {of_each} is fastest cannot be determined from this run: {}.",
            rivals.words(sheet, &best)
        ),
    })
}

/// Only where it matters, and only as far as this run can tell.
fn fsync_or_fdatasync(sheet: &Results) -> Option<String> {
    let way = [WritePath::Direct, WritePath::Aligned, WritePath::Plain].into_iter();
    let pair = |way| {
        let data = sheet.measured(Access::Write(WriteSync::Fdatasync, way))?;
        let all = sheet.measured(Access::Write(WriteSync::Fsync, way))?;
        (data.0 == all.0).then_some((data.0, data.1, all.1))
    };
    let (block, data, all) = way.into_iter().find_map(pair)?;
    let times = data.rate / all.rate;
    if times < 1.2 {
        return None;
    }
    let Some(longer) = all.slower_than(data) else {
        let cause = if sheet.about.is_device { "" } else { ", which writes the file's times too," };
        return Some(format!(
            "fsync(2){cause} costs {times:.1} times as much as fdatasync(2) at {}.",
            size(block)
        ));
    };
    Some(format!(
        "Whether fsync(2) costs more than fdatasync(2) at {} cannot be determined from this run, whose \
         figures differ by more than these two do; {}.",
        size(block),
        advice(sheet, longer)
    ))
}

fn reads(sheet: &Results) -> Option<String> {
    let best = |reading| fastest_of(sheet.row(Access::Read(reading)));
    let shown =
        |found: Best| format!("{} (blocks of {})", text::rate(found.rate), size(found.size));
    let (cold, direct) = (best(ReadPath::Cold), best(ReadPath::Direct));
    match (cold, direct) {
        (Some(cold), Some(direct)) => Some(format!(
            "Storage is read at {} through the page cache, with the kernel reading ahead, and at \
             {} around it.",
            shown(cold),
            shown(direct)
        )),
        (Some(only), None) | (None, Some(only)) => {
            Some(format!("Storage is read at {}.", shown(only)))
        }
        (None, None) => None,
    }
}

fn memory(sheet: &Results) -> Option<String> {
    let write = sheet.best(|kind| kind.is_memory() && kind.writes());
    let read = sheet.best(|kind| kind.is_memory() && !kind.writes());
    let names = match (&write, &read) {
        (Some(write), Some(read)) => {
            format!(
                "BUFFERED (up to {}) and READ_WARM ({})",
                text::rate(write.rate),
                text::rate(read.rate)
            )
        }
        (Some(write), None) => format!("BUFFERED (up to {})", text::rate(write.rate)),
        (None, Some(read)) => format!("READ_WARM (up to {})", text::rate(read.rate)),
        (None, None) => return None,
    };
    let verb = if write.is_some() && read.is_some() { "are" } else { "is" };
    Some(format!("{names} {verb} the speed of memory, not of storage."))
}

fn direct_alone(sheet: &Results) -> Option<String> {
    let best = fastest_of(sheet.row(Access::Write(WriteSync::Buffered, WritePath::Direct)))?;
    Some(format!(
        "O_DIRECT alone (up to {}) leaves the data in the disk's own cache, if it has one.",
        text::rate(best.rate)
    ))
}

/// Seconds as `1.23 ms`.
fn span(seconds: f64) -> String {
    text::duration((seconds * 1e9).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TargetFacts;

    /// Figures of two ways to write in MB/s, each with its interval.
    fn results(modes: [WriteSync; 2], figures: [[f64; 3]; 2], is_device: bool) -> Results {
        let cell = |[low, rate, high]: [f64; 3]| {
            let settled = high - rate <= rate * 0.05 && rate - low <= rate * 0.05;
            vec![ResultCell::Measured(Measured { rate, low, high, settled, slices: 9, blocks: 9 })]
        };
        let kind = |mode| Access::Write(mode, WritePath::Direct);
        Results {
            about: TargetFacts { is_device, ..TargetFacts::default() },
            sizes: vec![4096],
            kinds: modes.map(kind).to_vec(),
            rows: figures.map(cell).to_vec(),
            span: 1 << 20,
            seconds_a_cell: 1.0,
            began_unix_ms: 0,
            command: String::new(),
            stopped: false,
            notes: Vec::new(),
            flushes: None,
        }
    }

    fn compared(data: [f64; 3], all: [f64; 3], is_device: bool) -> Option<String> {
        let modes = [WriteSync::Fdatasync, WriteSync::Fsync];
        fsync_or_fdatasync(&results(modes, [data, all], is_device))
    }

    #[test]
    fn cells_that_failed_are_the_first_sentence() {
        let modes = [WriteSync::Fdatasync, WriteSync::Fsync];
        let mut sheet = results(modes, [SURE, SURE], false);
        assert!(!sentences(&sheet)[0].starts_with("FAILED"));
        sheet.rows[1][0] = ResultCell::Not(NoFigure::Failed("fsync: I/O error".into()));
        assert_eq!(sentences(&sheet)[0], "FAILED: 1 of 2 cells: fsync: I/O error.");
    }

    const SURE: [f64; 3] = [98.0, 100.0, 102.0];

    #[test]
    fn groups_are_faster_only_where_this_run_can_tell() {
        let grouped = |figure| {
            let modes = [WriteSync::Fdatasync, WriteSync::AmortizedFdatasync];
            group_commits(&results(modes, [SURE, figure], true)).unwrap()
        };
        let apart = grouped([980.0, 1000.0, 1020.0]);
        assert!(apart.contains("10 times as much"), "{apart}");
        for noise in [[200.0, 300.0, 400.0], [101.0, 103.0, 105.0]] {
            let words = grouped(noise);
            assert!(words.contains("cannot be determined from this run"), "{words}");
            assert!(words.contains("--time-per-cell=") && !words.contains("times as"), "{words}");
        }
    }

    #[test]
    fn the_fastest_is_named_only_where_it_settled_apart_from_all_others() {
        let modes = [WriteSync::Fdatasync, WriteSync::Fsync];
        let words = |data, all| durable_writes(&results(modes, [data, all], true)).unwrap();
        let apart = words([98.0, 100.0, 102.0], [49.0, 50.0, 51.0]);
        assert!(apart.starts_with("The fastest durable write is FDATASYNC"), "{apart}");
        for (data, all) in [
            (SURE, [97.0, 99.0, 101.0]),
            (SURE, [60.0, 80.0, 97.0]),
            ([60.0, 100.0, 130.0], [49.0, 50.0, 51.0]),
        ] {
            let words = words(data, all);
            assert!(words.contains("cannot be determined from this run"), "{words}");
            assert!(!words.contains("The fastest") && words.contains(" may show it."), "{words}");
        }
    }

    #[test]
    fn one_mode_alone_is_the_fastest_once_it_has_settled() {
        let modes = [WriteSync::Fdatasync, WriteSync::Buffered];
        let words = |data| durable_writes(&results(modes, [data, SURE], true)).unwrap();
        assert!(words(SURE).starts_with("The fastest durable write is FDATASYNC"));
        let noise = words([80.0, 100.0, 120.0]);
        assert!(noise.contains("did not settle; --time-per-cell=16s may show it"), "{noise}");
    }

    #[test]
    fn the_flush_costs_only_where_there_is_one_and_the_cells_settled() {
        let modes = [WriteSync::Fdatasync, WriteSync::Fsync];
        let words = |larger: [f64; 3], volatile_cache| {
            let mut sheet = results(modes, [SURE, SURE], true);
            let [low, rate, high] = larger;
            let settled = high - low < rate * 0.05;
            sheet.sizes.push(8192);
            let cell = Measured { rate, low, high, settled, slices: 9, blocks: 9 };
            sheet.rows.iter_mut().for_each(|row| row.push(ResultCell::Measured(cell.clone())));
            let disk = "vda".to_owned();
            sheet.flushes = Some(Flushes { disk, volatile_cache, syncs: 9, flushes: 9 });
            single_writes(&sheet).unwrap()
        };
        let flat = [199.0, 200.0, 201.0];
        assert!(words(flat, Some(true)).contains("Up to 8 KiB the flush is what costs"));
        for none in [Some(false), None] {
            assert!(words(flat, none).contains("Up to 8 KiB the sync is what costs"));
        }
        let noise = words([90.0, 200.0, 400.0], Some(true));
        assert!(noise.contains("cannot be determined from this run; --time-per-cell="), "{noise}");
        assert!(!noise.contains("is what costs"), "{noise}");
    }

    #[test]
    fn a_difference_is_stated_where_both_settled_and_are_apart() {
        let file = compared([98.0, 100.0, 102.0], [49.0, 50.0, 51.0], false).unwrap();
        assert!(file.contains("file's times too, costs 2.0 times as much"), "{file}");
        let device = compared([98.0, 100.0, 102.0], [49.0, 50.0, 51.0], true).unwrap();
        assert!(device.starts_with("fsync(2) costs 2.0 times as much"), "no file: {device}");
        assert_eq!(compared([98.0, 100.0, 102.0], [95.0, 99.0, 101.0], false), None);
    }

    #[test]
    fn noise_is_not_a_difference() {
        for (data, all) in
            [([20.0, 100.0, 180.0], [10.0, 40.0, 90.0]), ([70.0, 100.0, 130.0], [40.0, 50.0, 60.0])]
        {
            let words = compared(data, all, true).unwrap();
            assert!(words.contains("cannot be determined from this run"), "{words}");
            assert!(words.contains("--time-per-cell=") && !words.contains("times as"), "{words}");
        }
        let hopeless = compared([1.0, 100.0, 900.0], [1.0, 80.0, 900.0], true).unwrap();
        assert!(hopeless.contains("a quieter machine may show it"), "{hopeless}");
    }
}
