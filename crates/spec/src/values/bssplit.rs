//! A mix of block sizes with shares: `4k/60:64k/40`, `4k/50:8k`, one list a direction.

use iosonde_base::Dir;
use iosonde_options::{Bytes, OptionValue, ParseContext, ValueError, ValueKind};

/// One size and its share of the I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Portion {
    /// Bytes of an I/O.
    pub size: Bytes,
    /// I/Os of a hundred; `None` shares what the others leave.
    pub percent: Option<u32>,
}

/// The mix of each direction; empty without one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BsSplit(pub [Vec<Portion>; 3]);

impl BsSplit {
    /// As many sizes as fio takes for a direction.
    pub const MOST: usize = 64;

    /// Whether no direction has a mix.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// Sizes and whole shares of a direction, in the order given, with blank shares filled in
    /// evenly. Their sum is at most 100.
    pub fn shares(&self, dir: Dir) -> Vec<(Bytes, u32)> {
        let portions = &self.0[dir as usize];
        let given: u32 = portions.iter().filter_map(|portion| portion.percent).sum();
        let blanks = portions.iter().filter(|portion| portion.percent.is_none()).count() as u32;
        let each = 100_u32.saturating_sub(given).checked_div(blanks).unwrap_or(0);
        portions.iter().map(|portion| (portion.size, portion.percent.unwrap_or(each))).collect()
    }
}

impl OptionValue for BsSplit {
    const KIND: ValueKind = ValueKind::Form;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let mut lists: Vec<Vec<Portion>> = Vec::new();
        for part in text.split(',') {
            lists.push(portions(part, text, context)?);
        }
        let last = |i: usize| lists[i.min(lists.len() - 1)].clone();
        if lists.len() > 3 {
            return Err(ValueError::new("at most three lists: read, write, trim", text));
        }
        Ok(BsSplit([last(0), last(1), last(2)]))
    }
    fn show(&self) -> String {
        let lists =
            self.0.each_ref().map(|list| list.iter().map(show).collect::<Vec<_>>().join(":"));
        if lists[0] == lists[1] && lists[1] == lists[2] {
            lists[0].clone()
        } else {
            lists.join(",")
        }
    }
}

fn show(portion: &Portion) -> String {
    let percent = portion.percent.map_or(String::new(), |percent| percent.to_string());
    format!("{}/{percent}", portion.size.show())
}

/// One direction's list.
fn portions(part: &str, all: &str, context: &mut ParseContext) -> Result<Vec<Portion>, ValueError> {
    let want = || {
        ValueError::new("sizes with shares such as 4k/60:64k/40", all)
            .as_fio("fio: split conversion failed")
    };
    let mut list = Vec::new();
    for entry in part.split(':').filter(|entry| !entry.is_empty()) {
        let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
        let size = Bytes::parse(size, context).map_err(|_| want())?;
        let percent = match share {
            "" => None,
            share => Some(share.trim().parse().map_err(|_| want())?),
        };
        if size.0 == 0 {
            return Err(want());
        }
        list.push(Portion { size, percent });
    }
    let sum: u64 = list.iter().filter_map(|portion| portion.percent).map(u64::from).sum();
    if sum > 100 {
        return Err(ValueError::new("shares that add up to 100 at most", all)
            .as_fio("fio: bssplit percentages add to more than 100%"));
    }
    if list.len() > BsSplit::MOST {
        return Err(ValueError::new(format!("at most {} sizes", BsSplit::MOST), all));
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_shares_split_what_is_left() {
        let row = crate::lookup("bssplit").expect("an option");
        let split = BsSplit::parse("4k/50:8k/:16k", &mut ParseContext::new(row)).expect("a split");
        let shares = split.shares(Dir::Write);
        assert_eq!(shares, [(Bytes(4096), 50), (Bytes(8192), 25), (Bytes(16384), 25)]);
    }

    #[test]
    fn a_direction_left_out_has_no_mix() {
        let row = crate::lookup("bssplit").expect("an option");
        let split =
            BsSplit::parse("1k/50:2k/50,,8k/100", &mut ParseContext::new(row)).expect("split");
        assert!(split.0[1].is_empty());
        assert_eq!(split.show(), "1024/50:2048/50,,8192/100");
    }
}
