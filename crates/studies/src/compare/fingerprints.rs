//! The fingerprint parts of two results, side by side: canonical texts of
//! `key=value; ...`, one after the other by ` | ` where there are several.

/// Names and values of a part's text; of several sections or devices with
/// their number.
pub fn facts(text: &str) -> Vec<(String, String)> {
    let places: Vec<&str> = text.split(" | ").collect();
    let mut facts = Vec::new();
    for (number, place) in places.iter().enumerate() {
        for pair in place.split("; ").filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = match places.len() {
                1 => name.to_owned(),
                _ => format!("{name} ({})", number + 1),
            };
            facts.push((name, value.to_owned()));
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_parted_into_names_and_values() {
        let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        assert_eq!(facts("bs=64k; rw=write"), own(&[("bs", "64k"), ("rw", "write")]));
        assert_eq!(
            facts("type=ext4 | type=xfs"),
            own(&[("type (1)", "ext4"), ("type (2)", "xfs")])
        );
        assert_eq!(facts("").len() + facts("; ;").len(), 1);
    }
}
