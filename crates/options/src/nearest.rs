//! "Did you mean": the known word closest to a mistyped one.

/// The candidate that takes the fewest edits to turn `word` into, or `None` when even that
/// one is too far off to be what was meant. Of equals the first one wins.
///
/// A swap of neighbours counts as one edit; so does a missing, an added and a wrong letter.
/// A third of the word's letters may be wrong, but at least one and at most three.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let limit = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (edits(&word, &candidate.to_ascii_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance.
fn edits(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let width = b.len() + 1;
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..width).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; width];
        for j in 1..width {
            let wrong = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + wrong);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[width - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_found() {
        let names = ["runtime", "rw", "iodepth", "bs"];
        assert_eq!(nearest("runtme", names), Some("runtime"));
        assert_eq!(nearest("iodpeth", names), Some("iodepth"));
        assert_eq!(nearest("IODEPTH", names), Some("iodepth"));
        assert_eq!(nearest("bz", names), Some("bs"));
    }

    #[test]
    fn what_is_far_off_is_not_guessed() {
        assert_eq!(nearest("temperature", ["runtime", "rw"]), None);
        assert_eq!(nearest("", ["runtime"]), None);
    }

    #[test]
    fn a_swap_of_neighbours_is_one_edit() {
        assert_eq!(edits("ab", "ba"), 1);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
    }
}
