//! Compound values: one per direction, ranges, lists.

use std::fmt::Write;

use iosonde_base::{Dir, PerDir};

use crate::{Bytes, Choice, OptionValue, ParseContext, ValueError, ValueKind};

/// One value for each direction: read, write, trim, separated by commas.
///
/// One value holds for all; two are read and the rest; an empty one leaves that direction as
/// it was. So `bs=,8k` leaves reads alone and sets writes and trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Triple<T>(pub [T; 3]);

impl<T> Triple<T> {
    /// The value of one direction.
    pub fn of(&self, dir: Dir) -> &T {
        &self.0[dir as usize]
    }

    /// The values as a [`PerDir`].
    pub fn per_dir(self) -> PerDir<T> {
        PerDir(self.0)
    }

    /// The values in the order read, write, trim.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }
}

impl<T: Clone> Triple<T> {
    /// The same value for all directions.
    pub fn all(value: T) -> Triple<T> {
        Triple([value.clone(), value.clone(), value])
    }
}

impl<T: OptionValue> OptionValue for Triple<T> {
    const KIND: ValueKind = T::KIND;
    const CHOICES: &'static [Choice] = T::CHOICES;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let default = context.row.default;
        if text == default || !text.split(',').any(str::is_empty) {
            let [read, write, trim] = pieces(text, Self::KIND, context);
            return Ok(Triple([
                T::parse(read, context)?,
                T::parse(write, context)?,
                T::parse(trim, context)?,
            ]));
        }
        let old = Self::parse(default, context)?;
        Self::parse_over(&old, text, context)
    }
    fn parse_over(old: &Self, text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let mut new = old.clone();
        for (slot, piece) in new.0.iter_mut().zip(pieces(text, Self::KIND, context)) {
            if !piece.is_empty() {
                *slot = T::parse(piece, context)?;
            }
        }
        Ok(new)
    }
    fn show(&self) -> String {
        if self.0[0] == self.0[1] && self.0[1] == self.0[2] {
            self.0[0].show()
        } else {
            self.0.each_ref().map(T::show).join(",")
        }
    }
}

/// The text of each direction. Commas separate them; in sizes and numbers `-` and
/// `:` do too, as in fio, which is rarely intended.
fn pieces<'a>(text: &'a str, kind: ValueKind, context: &mut ParseContext) -> [&'a str; 3] {
    let is_number = matches!(kind, ValueKind::Size | ValueKind::Int);
    let odd = is_number && text.get(1..).is_some_and(|rest| rest.contains(['-', ':']));
    let parts: Vec<&str> = if odd {
        context.doubt(format!(
            "{text:?} sets read, write and trim separately, as in fio; use bsrange for a range of sizes"
        ));
        text.split([',', '-', ':']).map(str::trim).collect()
    } else {
        text.split(',').map(str::trim).collect()
    };
    if parts.len() > 3 {
        context.doubt("only the first three values are used: read, write, trim".into());
    }
    let last = |i: usize| parts[i.min(parts.len() - 1)];
    [last(0), last(1), last(2)]
}

/// The smallest and the largest of a range of sizes, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SizeRange {
    /// The smallest.
    pub min: Bytes,
    /// The largest.
    pub max: Bytes,
}

impl OptionValue for SizeRange {
    const KIND: ValueKind = ValueKind::Range;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let want = || ValueError::new("a range of sizes such as 1k-4k", text);
        let (low, high) = text.split_once(['-', ':']).ok_or_else(want)?;
        if high.contains(['-', ':']) {
            return Err(want());
        }
        let (low, high) = (Bytes::parse(low, context)?, Bytes::parse(high, context)?);
        Ok(SizeRange { min: low.min(high), max: low.max(high) })
    }
    fn show(&self) -> String {
        format!("{}-{}", self.min.show(), self.max.show())
    }
}

/// Numbers with fractions, separated by colons: `50:99:99.9`. Twenty at most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FloatList(pub Vec<f64>);

impl FloatList {
    /// As many as fio takes; more are dropped, with a warning.
    pub const MOST: usize = 20;
}

/// fio's line about a list with an ignored end.
pub(crate) fn too_long(most: usize) -> String {
    format!("the list exceeding max length {most}")
}

impl OptionValue for FloatList {
    const KIND: ValueKind = ValueKind::Float;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        if text.is_empty() {
            return Ok(FloatList::default());
        }
        let text = text.strip_suffix(':').unwrap_or(text);
        let parsed: Result<Vec<f64>, _> =
            text.split(':').map(|part| f64::parse(part, context)).collect();
        let mut numbers = parsed?;
        if numbers.len() > FloatList::MOST {
            context.doubt(too_long(FloatList::MOST));
            numbers.truncate(FloatList::MOST);
        }
        Ok(FloatList(numbers))
    }
    fn show(&self) -> String {
        let shown: Vec<String> = self.0.iter().map(f64::to_string).collect();
        shown.join(":")
    }
}

/// Paths separated by colons; a colon in a path is written `\:`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PathList(pub Vec<String>);

impl OptionValue for PathList {
    const KIND: ValueKind = ValueKind::List;
    const BAD: &'static [&'static str] = &[];
    fn parse(text: &str, _: &mut ParseContext) -> Result<Self, ValueError> {
        let mut paths = vec![String::new()];
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let path = paths.last_mut().expect("there is always one");
            match letter {
                '\\' if letters.peek() == Some(&':') => path.push(letters.next().expect("peeked")),
                ':' => paths.push(String::new()),
                _ => path.push(letter),
            }
        }
        paths.retain(|path| !path.is_empty());
        Ok(PathList(paths))
    }
    fn show(&self) -> String {
        let shown: Vec<String> = self.0.iter().map(|path| path.replace(':', "\\:")).collect();
        shown.join(":")
    }
}

/// Paths as in [`PathList`]; giving the option again adds to them, as for fio's `filename`.
/// That is rarely intended where the first are in `[global]`: a warning reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AddedPaths(pub Vec<String>);

impl OptionValue for AddedPaths {
    const KIND: ValueKind = ValueKind::List;
    const BAD: &'static [&'static str] = &[];
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        PathList::parse(text, context).map(|list| AddedPaths(list.0))
    }
    fn parse_over(old: &Self, text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let mut all = old.clone();
        let added = Self::parse(text, context)?.0.into_iter().filter(|path| !old.0.contains(path));
        all.0.extend(added);
        if all != *old {
            let names = all.0.join(", ");
            context.doubt(format!("adds to the earlier file names, as in fio: {names}"));
        }
        Ok(all)
    }
    fn show(&self) -> String {
        PathList(self.0.clone()).show()
    }
}

/// Processors by number: `0,2-5`. Sorted, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpuSet(pub Vec<u32>);

impl CpuSet {
    /// One past the largest processor number that is taken.
    pub(crate) const LIMIT: u32 = 65_536;
}

impl OptionValue for CpuSet {
    const KIND: ValueKind = ValueKind::List;
    // fio takes what it cannot read of it.
    const BAD: &'static [&'static str] = &[];
    fn parse(text: &str, _: &mut ParseContext) -> Result<Self, ValueError> {
        let want = || ValueError::new("CPU numbers such as 0,2-5", text);
        let number = |text: &str| -> Result<u32, ValueError> {
            let number: u32 = text.trim().parse().map_err(|_| want())?;
            if number < CpuSet::LIMIT { Ok(number) } else { Err(want()) }
        };
        let mut cpus = Vec::new();
        for part in text.split([',', ':']).filter(|part| !part.trim().is_empty()) {
            match part.split_once('-') {
                Some((low, high)) => {
                    let (low, high) = (number(low)?, number(high)?);
                    cpus.extend(low.min(high)..=low.max(high));
                }
                None => cpus.push(number(part)?),
            }
        }
        iosonde_base::sort(&mut cpus);
        cpus.dedup();
        Ok(CpuSet(cpus))
    }
    fn show(&self) -> String {
        let mut shown = String::new();
        for run in self.0.chunk_by(|a, b| a + 1 == *b) {
            let comma = if shown.is_empty() { "" } else { "," };
            let (first, last) = (run[0], run[run.len() - 1]);
            // Writing to a String cannot fail.
            let _ = match run.len() {
                1 => write!(shown, "{comma}{first}"),
                _ => write!(shown, "{comma}{first}-{last}"),
            };
        }
        shown
    }
}

/// Words out of a closed set, parted by commas.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedList<T>(pub Vec<T>);

impl<T: OptionValue> OptionValue for NamedList<T> {
    const KIND: ValueKind = ValueKind::List;
    const CHOICES: &'static [Choice] = T::CHOICES;
    // fio takes what it cannot read of it.
    const BAD: &'static [&'static str] = &[];
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(|word| T::parse(word, context)).collect::<Result<_, _>>().map(NamedList)
    }
    fn show(&self) -> String {
        let shown: Vec<String> = self.0.iter().map(T::show).collect();
        shown.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OptionDef;

    static ROW: OptionDef = OptionDef { name: "bs", default: "4096", ..OptionDef::BLANK };

    fn triple(text: &str) -> [u64; 3] {
        Triple::<Bytes>::parse(text, &mut ParseContext::new(&ROW)).expect("sizes").0.map(|b| b.0)
    }

    #[test]
    fn a_second_filename_adds_to_the_first_and_is_doubted() {
        static ROW: crate::OptionDef =
            crate::OptionDef { name: "filename", ..crate::OptionDef::BLANK };
        let mut context = ParseContext::new(&ROW);
        let first = AddedPaths::parse("a:b", &mut context).unwrap();
        let same = AddedPaths::parse_over(&first, "b", &mut context).unwrap();
        assert_eq!((same, context.doubts.len()), (first.clone(), 0));
        let both = AddedPaths::parse_over(&first, "b:c", &mut context).unwrap();
        assert_eq!((both.0, context.doubts.len()), (vec!["a".into(), "b".into(), "c".into()], 1));
    }

    #[test]
    fn a_dash_parts_directions_as_in_fio_and_is_doubted() {
        const ROW: crate::OptionDef =
            crate::OptionDef { name: "bs", default: "4096", ..crate::OptionDef::BLANK };
        static STATIC: crate::OptionDef = ROW;
        let mut context = ParseContext::new(&STATIC);
        let sizes = Triple::<Bytes>::parse("4k-8k", &mut context).unwrap();
        assert_eq!(sizes.0.map(|bytes| bytes.0), [4096, 8192, 8192]);
        assert_eq!(context.doubts.len(), 1);
    }

    #[test]
    fn a_missing_direction_copies_the_last_and_an_empty_one_stays() {
        assert_eq!(triple("8k"), [8192, 8192, 8192]);
        assert_eq!(triple("8k,16k"), [8192, 16384, 16384]);
        assert_eq!(triple(",8k"), [4096, 8192, 8192]);
        assert_eq!(triple(",8k,"), [4096, 8192, 4096]);
        assert_eq!(triple("8k,"), [8192, 4096, 4096]);
        assert_eq!(triple("1k,2k,3k,4k"), [1024, 2048, 3072]);
    }

    #[test]
    fn an_empty_direction_keeps_what_was_set_before() {
        let old = Triple([Bytes(1), Bytes(2), Bytes(3)]);
        let new = Triple::parse_over(&old, ",8k,", &mut ParseContext::new(&ROW)).expect("sizes");
        assert_eq!(new.0.map(|b| b.0), [1, 8192, 3]);
    }

    #[test]
    fn a_range_is_put_in_order_and_needs_both_ends() {
        let parse =
            |text| SizeRange::parse(text, &mut ParseContext::new(&ROW)).ok().map(|r| r.show());
        assert_eq!(parse("8k-4k").as_deref(), Some("4096-8192"));
        assert_eq!(parse("4k:8k").as_deref(), Some("4096-8192"));
        for text in ["4k", "4k-", "-4k", "1-2-3"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_colon_in_a_path_is_escaped_both_ways() {
        let list = PathList::parse(r"/dev/a\:b:/c", &mut ParseContext::new(&ROW)).expect("paths");
        assert_eq!(list.0, ["/dev/a:b", "/c"]);
        assert_eq!(list.show(), r"/dev/a\:b:/c");
    }

    #[test]
    fn processors_are_sorted_and_shown_as_ranges() {
        let parse = |text| CpuSet::parse(text, &mut ParseContext::new(&ROW));
        assert_eq!(parse("5,0-2,1").expect("processors").show(), "0-2,5");
        assert_eq!(parse("3-1").expect("processors").show(), "1-3");
        for text in ["x", "0-x", "65536", "-1"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
