//! Operations that are done beside each other (`--mix`): which, and how often.

use iosonde_engine::tree::TreeOperation;

/// Operations that leave the tree as it was, so that they can be repeated beside each other.
const MIXABLE: [TreeOperation; 9] = [
    TreeOperation::Stat,
    TreeOperation::StatDir,
    TreeOperation::ReadDir,
    TreeOperation::Find,
    TreeOperation::Open,
    TreeOperation::Read,
    TreeOperation::Chmod,
    TreeOperation::Utimens,
    TreeOperation::Churn,
];

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixPart {
    /// What is done.
    pub operation: TreeOperation,
    /// How often.
    pub rate: MixRate,
}

/// How often an operation of a mix is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MixRate {
    /// In this proportion to the others.
    Share(u64),
    /// So many times a second, over all threads.
    PerSecond(u64),
}

/// All of a mix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix(pub Vec<MixPart>);

/// `stat/70:read/20:churn@50`.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str) -> Result<Mix, String> {
    const FORM: &str =
        "write operations with shares (stat/70:read/30) or rates a second (stat@500)";
    let mut parts: Vec<MixPart> = Vec::new();
    for part in text.split(':') {
        let wrong = || format!("{part:?}: {FORM}");
        let at = part.find(['/', '@']).ok_or_else(wrong)?;
        let (word, number) = (&part[..at], &part[at + 1..]);
        let operation = TreeOperation::from_word(word).filter(|word| MIXABLE.contains(word));
        let operation = operation.ok_or_else(|| {
            let words = MIXABLE.map(TreeOperation::word).join(", ");
            format!("{word:?} cannot be mixed: use {words}; churn creates files and removes them")
        })?;
        let number: u64 = number.parse().ok().filter(|&number| number > 0).ok_or_else(wrong)?;
        let rate = match &part[at..=at] {
            "/" if number > 1000 => return Err(format!("{part:?}: a share is 1 to 1000")),
            "/" => MixRate::Share(number),
            _ => MixRate::PerSecond(number),
        };
        if parts.iter().any(|other| other.operation == operation) {
            return Err(format!("{word:?} is there twice"));
        }
        parts.push(MixPart { operation, rate });
    }
    Ok(Mix(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_has_shares_and_rates() {
        let mix = parse("stat/70:churn@50").unwrap().0;
        assert_eq!(mix[0], MixPart { operation: TreeOperation::Stat, rate: MixRate::Share(70) });
        assert_eq!(mix[1].rate, MixRate::PerSecond(50));
        for (text, why) in [
            ("stat", "with shares"),
            ("stat/0", "with shares"),
            ("unlink/5", "cannot be mixed"),
            ("stat/2000", "1 to 1000"),
            ("stat/1:stat/2", "twice"),
            ("", "with shares"),
        ] {
            assert!(parse(text).unwrap_err().contains(why), "{text}");
        }
    }
}
