//! What to do about an error, in the names of sbk's own options: the core
//! writes those of the job language.

use std::fmt::Display;

/// Words of the core, and what they are here.
const NAMES: [(&str, &str); 7] = [
    ("warning: bs: ", "warning: -size: "),
    ("error: bs: ", "error: -size: "),
    ("set bs= and offset= so", "set -size so"),
    ("with direct=1", "with -direct"),
    (", or set openfiles= to have fewer open at a time", ", or start fewer workers"),
    (", or set allow_mounted_write=1 if what is on it may be lost", ""),
    (": set zonemode=zbd", ", which sbk does not write"),
];

/// A message of the core with the names of sbk's options.
pub fn own_names(message: &impl Display) -> String {
    let text = message.to_string();
    NAMES.iter().fold(text, |text, (core, own)| text.replace(core, own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_name_options_that_sbk_has() {
        let own = |text: &str| own_names(&text);
        assert_eq!(
            own("with direct=1 this takes sectors of 512 bytes: set bs= and offset= so"),
            "with -direct this takes sectors of 512 bytes: set -size so"
        );
        let mounted = "unmount it, or set allow_mounted_write=1 if what is on it may be lost";
        assert_eq!(own(mounted), "unmount it");
        assert_eq!(own("No space left on device"), "No space left on device");
    }
}
