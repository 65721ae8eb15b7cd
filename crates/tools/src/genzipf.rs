//! `iosonde genzipf`: how often a skewed distribution hits its blocks, with the output of
//! fio's `fio-genzipf`; described in docs/tools.md.

use clap::{Args, ValueEnum};
use iosonde_command::CommandAnswer;
use iosonde_command::definition::{CommandEntry, arguments};
use iosonde_workload::{Distribution, Law};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// What `--help` says below the summary.
const DETAILS: &str = "\
Draws as many I/Os as the data set has blocks by random_distribution, and shows
which share of them goes to the hottest blocks: how much cache a workload
needs. The same command as fio-genzipf, and the same figures.";

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "genzipf",
    summary: "show how many I/Os of a skewed distribution hit the hottest blocks",
    details: DETAILS,
    usage: None,
    arguments: GenzipfArgs::augment_args,
    takes_jobs: false,
    run: |words| answer(words).print(),
};

/// The command line of `iosonde genzipf`.
#[derive(Args, Clone, Debug)]
struct GenzipfArgs {
    /// The distribution
    #[arg(short = 't', long = "type", value_name = "TYPE", value_enum, default_value = "zipf")]
    kind: SkewName,
    /// Its input: theta of zipf (1.2 unless given), power of pareto (0.3), deviation of normal in
    /// percent (0)
    #[arg(short = 'i', long, value_name = "NUMBER", allow_negative_numbers = true)]
    input: Option<f64>,
    /// Size of the data set in GiB
    #[arg(short = 'g', long, value_name = "GIB", default_value_t = 500, value_parser = whole_number)]
    gib: u64,
    /// Size of a block in bytes
    #[arg(short = 'b', long, value_name = "BYTES", default_value_t = 4096, value_parser = whole_number)]
    block_size: u64,
    /// Rows of the table
    #[arg(short = 'o', long, value_name = "ROWS", default_value_t = 20, value_parser = whole_number)]
    rows: u64,
    /// Also show how much cache satisfies this percentage of the I/Os
    #[arg(short = 'p', long, value_name = "PERCENT", default_value_t = 0.0)]
    percentage: f64,
    /// Print the number of I/Os of each block instead, hottest first, as CSV
    #[arg(short = 'c', long)]
    csv: bool,
}

/// A number as fio's tools take it, without a suffix.
pub(crate) fn whole_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("invalid number {text:?}: use digits only"))
}

/// A distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SkewName {
    /// Zipf's law
    Zipf,
    /// Pareto's
    Pareto,
    /// A bell
    Normal,
}

impl SkewName {
    fn title(self) -> &'static str {
        match self {
            SkewName::Zipf => "Zipf",
            SkewName::Pareto => "Pareto",
            SkewName::Normal => "Normal",
        }
    }

    /// The input unless one is given, and which are taken.
    fn input(self) -> (f64, &'static str) {
        match self {
            SkewName::Zipf => (1.2, "above 0 and not 1"),
            SkewName::Pareto => (0.3, "above 0 and below 1"),
            SkewName::Normal => (0.0, "from 0 to 100"),
        }
    }

    fn distribution(self, input: f64) -> Distribution {
        match self {
            SkewName::Zipf => Distribution::Zipf { theta: input, center: None },
            SkewName::Pareto => Distribution::Pareto { h: input, center: None },
            SkewName::Normal => Distribution::Normal { deviation: input, center: None },
        }
    }
}

/// What the words after `genzipf` ask for.
pub fn answer(words: &[String]) -> CommandAnswer {
    let arguments: GenzipfArgs = match arguments(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(answer) => return answer,
    };
    match draw(&arguments) {
        Ok(hits) if arguments.csv => CommandAnswer::of(hits.csv()),
        Ok(hits) => CommandAnswer::of(table(&arguments, &hits)),
        Err(why) => CommandAnswer::refused(COMMAND.name, &why),
    }
}

/// The seed that fio-genzipf has.
const SEED: u32 = 1;

/// Draw as many I/Os as there are blocks.
fn draw(arguments: &GenzipfArgs) -> Result<Hits, String> {
    let GenzipfArgs { kind, gib, block_size, .. } = *arguments;
    if arguments.rows == 0 {
        return Err("-o 0: a table needs at least one row".to_owned());
    }
    let bytes = gib.checked_mul(1 << 30).ok_or_else(|| format!("-g {gib}: too many GiB"))?;
    let blocks = bytes.checked_div(block_size).unwrap_or(0);
    if blocks == 0 {
        return Err(format!("{gib} GiB have no block of {block_size} bytes: change -g or -b"));
    }
    let input = arguments.input.unwrap_or(kind.input().0);
    let law = Law::of_blocks(&kind.distribution(input), blocks, SEED).ok().flatten();
    let accepted = kind.input().1;
    let name = kind.title().to_lowercase();
    let mut law = law.ok_or_else(|| format!("-i {input}: the input of {name} is {accepted}"))?;
    let mut tally = Tally::new(blocks)?;
    for _ in 0..blocks {
        tally.count(law.draw());
    }
    Ok(tally.finish())
}

/// I/Os of each block: a byte for each, and a map for the few that have more.
struct Tally {
    few: Vec<u8>,
    many: HashMap<usize, u64>,
}

impl Tally {
    fn new(blocks: u64) -> Result<Tally, String> {
        let mut few = Vec::new();
        usize::try_from(blocks)
            .ok()
            .filter(|&blocks| few.try_reserve_exact(blocks).is_ok())
            .map(|blocks| few.resize(blocks, 0))
            .ok_or_else(|| {
                format!(
                    "{blocks} blocks need as many bytes of memory: use less of -g, or larger -b"
                )
            })?;
        Ok(Tally { few, many: HashMap::new() })
    }

    fn count(&mut self, block: u64) {
        // Below the number of blocks, which is a `usize`.
        let block = block as usize;
        match self.few[block].checked_add(1) {
            Some(sum) => self.few[block] = sum,
            None => *self.many.entry(block).or_default() += 1,
        }
    }

    fn finish(self) -> Hits {
        let mut blocks_by_hits = BTreeMap::new();
        for (block, &few) in self.few.iter().enumerate().filter(|(_, few)| **few > 0) {
            let many = if few == u8::MAX { self.many.get(&block).copied() } else { None };
            *blocks_by_hits.entry(u64::from(few) + many.unwrap_or(0)).or_default() += 1;
        }
        Hits { blocks_by_hits, total: self.few.len() as u64 }
    }
}

/// How many blocks were hit how often.
struct Hits {
    blocks_by_hits: BTreeMap<u64, u64>,
    /// All I/Os.
    total: u64,
}

impl Hits {
    /// Hits of the blocks that were hit, hottest first.
    fn each(&self) -> impl Iterator<Item = u64> {
        let of = |(&hits, &blocks): (&u64, &u64)| std::iter::repeat_n(hits, blocks as usize);
        self.blocks_by_hits.iter().rev().flat_map(of)
    }

    fn csv(&self) -> String {
        let mut out = String::from("rank, count\n");
        for (rank, hits) in self.each().enumerate() {
            _ = writeln!(out, "{rank}, {hits}");
        }
        out
    }

    /// The fewest blocks that have this percentage of the I/Os.
    fn blocks_of(&self, percentage: f64) -> u64 {
        let wanted = percentage / 100.0 * self.total as f64;
        let mut sum = 0;
        let before = self.each().take_while(|hits| {
            let is_missing = (sum as f64) < wanted;
            sum += hits;
            is_missing
        });
        before.count() as u64
    }
}

const LINE: &str = "-----------------------------------------------------------------------\n";

fn table(arguments: &GenzipfArgs, hits: &Hits) -> String {
    let GenzipfArgs { kind, gib, block_size, rows, percentage, .. } = *arguments;
    let input = arguments.input.unwrap_or(kind.input().0);
    let mut out = format!(
        "Generating {} distribution with {input:.6} input and {gib} GiB size and {block_size} block_size.\n",
        kind.title()
    );
    if percentage > 0.0 {
        let mib = hits.blocks_of(percentage) as f64 * block_size as f64 / 1_048_576.0;
        _ = writeln!(out, "{percentage:.2}% of hits satisfied in {mib:.3}MB of cache");
    }
    out.push_str("\n   Rows           Hits %         Sum %           # Hits          Size\n");
    out.push_str(LINE);
    let hit: u64 = hits.blocks_by_hits.values().sum();
    // Fewer than the blocks, which are in memory.
    let blocks_each = hit.div_ceil(rows) as usize;
    let mut each = hits.each();
    let share = |part: u64| 100.0 * part as f64 / hits.total as f64;
    let mut sum = 0;
    for row in 1..=rows {
        let part: u64 = each.by_ref().take(blocks_each).sum();
        sum += part;
        let lead = if row == 1 { "Top" } else { "|->" };
        let of_rows = 100.0 * row as f64 / rows as f64;
        let (size, unit) = size_of(part as f64 * block_size as f64);
        _ = writeln!(
            out,
            "{lead} {of_rows:6.2}%\t{:6.2}%\t\t{:6.2}%\t\t{part:8}\t{size:6.2}{unit}",
            share(part),
            share(sum)
        );
    }
    out.push_str(LINE);
    _ = writeln!(out, "Total\t\t\t\t\t\t{:8}", hits.total);
    out
}

/// A size with its unit, as fio-genzipf has them: 1024 of one are not yet one of the next.
fn size_of(bytes: f64) -> (f64, char) {
    let mut size = bytes / 1024.0;
    let mut unit = 'K';
    for larger in ['M', 'G'] {
        if size > 1024.0 {
            size /= 1024.0;
            unit = larger;
        }
    }
    (size, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> CommandAnswer {
        answer(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_table_is_that_of_the_installed_fio_genzipf() {
        let small = asked("-g 1 -b 134217728 -o 3");
        let wanted = "\
Generating Zipf distribution with 1.200000 input and 1 GiB size and 134217728 block_size.\n\n   \
Rows           Hits %         Sum %           # Hits          Size\n\
-----------------------------------------------------------------------\n\
Top  33.33%\t 50.00%\t\t 50.00%\t\t       4\t512.00M\n\
|->  66.67%\t 37.50%\t\t 87.50%\t\t       3\t384.00M\n\
|-> 100.00%\t 12.50%\t\t100.00%\t\t       1\t128.00M\n\
-----------------------------------------------------------------------\n\
Total\t\t\t\t\t\t       8\n";
        assert_eq!(small, CommandAnswer::of(wanted.to_owned()));
    }

    #[test]
    fn the_cache_is_that_of_the_fewest_blocks() {
        // 2, 2, 2, 1 and 1 hits of 8.
        let cache = |percent: &str| {
            let text = asked(&format!("-g 1 -b 134217728 -p {percent}")).text;
            text.lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(cache("25"), "25.00% of hits satisfied in 128.000MB of cache");
        assert_eq!(cache("26"), "26.00% of hits satisfied in 256.000MB of cache");
        assert_eq!(cache("100"), "100.00% of hits satisfied in 640.000MB of cache");
    }

    #[test]
    fn a_block_hit_more_than_255_times_is_counted() {
        let csv = asked("-t pareto -i 0.2 -g 1 -c").text;
        let hits = |row: &str| row.split_once(", ").unwrap().1.parse().unwrap();
        let rows: Vec<u64> = csv.lines().skip(1).map(hits).collect();
        // As fio-genzipf 3.33 counts.
        assert_eq!(rows[..4], [46219, 4695, 2969, 2206]);
        assert_eq!((rows.len(), rows[26455..26457].to_vec()), (81012, vec![2, 2]));
        assert_eq!(rows.iter().sum::<u64>(), 1 << 18);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused_with_the_option() {
        for (line, why) in [
            ("-i 1", "-i 1: the input of zipf is above 0 and not 1"),
            ("-t pareto -i 1", "-i 1: the input of pareto is above 0 and below 1"),
            ("-t normal -i 101", "-i 101: the input of normal is from 0 to 100"),
            ("-i nan", "-i NaN: the input of zipf"),
            ("-o 0", "-o 0: a table needs"),
            ("-b 0", "500 GiB have no block of 0 bytes"),
            ("-g 1 -b 1073741825", "1 GiB have no block"),
            ("-g 99999999999999", "too many GiB"),
            ("-t bogus", "unknown value \"bogus\": use zipf, pareto, normal"),
            ("-b 4k", "invalid number \"4k\": use digits only"),
        ] {
            let answer = asked(line);
            assert!(answer.code == 1 && answer.errors[0].contains(why), "{line}: {answer:?}");
        }
    }
}
