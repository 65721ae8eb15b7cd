//! Shares of I/Os with a priority, by block size: `4k/20:64k/0`, `4k/20/1/0:4k/10/2/7`.

use iosonde_options::{Bytes, OptionValue, ParseContext, ValueError, ValueKind};

/// A share of the I/Os of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrioPortion {
    /// Bytes of an I/O.
    pub size: Bytes,
    /// I/Os of a hundred.
    pub percent: u32,
    /// Its class, level and hint; `None` for those of `cmdprio_class` and the like.
    pub priority: Option<[u16; 3]>,
}

/// The shares of reads, and of writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CmdPrioSplit(pub [Vec<PrioPortion>; 2]);

impl OptionValue for CmdPrioSplit {
    const KIND: ValueKind = ValueKind::Form;

    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let mut lists: Vec<Vec<PrioPortion>> = Vec::new();
        // A third list, of trims, says nothing, as in fio.
        for part in text.split(',') {
            lists.push(portions(part, text, context)?);
        }
        if lists.len() > 3 {
            return Err(ValueError::new("lists for reads and writes", text));
        }
        Ok(CmdPrioSplit([lists[0].clone(), lists[1.min(lists.len() - 1)].clone()]))
    }

    fn show(&self) -> String {
        let lists = self.0.each_ref().map(|list| list.iter().map(show).collect::<Vec<_>>());
        let [reads, writes] = lists.map(|list| list.join(":"));
        if reads == writes { reads } else { format!("{reads},{writes}") }
    }
}

fn show(portion: &PrioPortion) -> String {
    let share = format!("{}/{}", portion.size.show(), portion.percent);
    match portion.priority {
        None => share,
        Some([class, level, 0]) => format!("{share}/{class}/{level}"),
        Some([class, level, hint]) => format!("{share}/{class}/{level}/{hint}"),
    }
}

/// One direction's list.
fn portions(
    part: &str,
    all: &str,
    context: &mut ParseContext,
) -> Result<Vec<PrioPortion>, ValueError> {
    let mut list: Vec<PrioPortion> = Vec::new();
    for entry in part.split(':').filter(|entry| !entry.is_empty()) {
        let portion = portion(entry, context).ok_or_else(|| {
            ValueError::new("sizes with shares such as 4k/20 or 4k/20/CLASS/LEVEL[/HINT]", all)
                .as_fio("fio: invalid cmdprio_bssplit format")
        })?;
        let same = list.iter().filter(|other| other.size == portion.size);
        if same.map(|other| other.percent).sum::<u32>() + portion.percent > 100 {
            let size = portion.size.0;
            return Err(ValueError::new("shares of a size that add up to 100 at most", all)
                .as_fio(format!(
                    "fio: cmdprio_bssplit total percentage for bs: {size} exceeds 100"
                )));
        }
        list.push(portion);
    }
    Ok(list)
}

fn portion(entry: &str, context: &mut ParseContext) -> Option<PrioPortion> {
    let fields: Vec<&str> = entry.split('/').map(str::trim).collect();
    let size = Bytes::parse(fields[0], context).ok().filter(|size| size.0 > 0)?;
    let percent = match fields.get(1) {
        // Nothing of a size without a share, as in fio.
        None | Some(&"") => 0,
        Some(share) => share.parse().ok().filter(|&percent| percent <= 100)?,
    };
    let number = |at: usize, least: u16, most: u16| {
        fields[at].parse().ok().filter(|number| (least..=most).contains(number))
    };
    let priority = match fields.len() {
        ..=2 => None,
        4 => Some([number(2, 1, 3)?, number(3, 0, 7)?, 0]),
        5 => Some([number(2, 1, 3)?, number(3, 0, 7)?, number(4, 0, 1023)?]),
        _ => return None,
    };
    Some(PrioPortion { size, percent, priority })
}
