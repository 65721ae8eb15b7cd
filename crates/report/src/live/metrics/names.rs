//! The label of each job: its name, made unique.

use std::collections::{HashMap, HashSet};

/// Jobs with series of their own at most; a run of more has its further jobs
/// added up in [`REST`].
pub const JOBS_MOST: usize = 64;

/// The label of the jobs past [`JOBS_MOST`].
pub const REST: &str = "_rest";

/// A label for each job, which no other has: its name, or, of several jobs of
/// one name, the name with a number after it.
pub fn labels(names: &[&str]) -> Vec<String> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    names.iter().for_each(|&name| *times.entry(name).or_default() += 1);
    let is_unique = |name: &str| times[name] == 1 && name != REST;
    let unique = names.iter().filter(|name| is_unique(name));
    let mut taken: HashSet<String> = unique.map(|&name| name.to_owned()).collect();
    let mut next: HashMap<&str, usize> = HashMap::new();
    let mut numbered = |name| loop {
        let number = next.entry(name).or_default();
        let label = format!("{name}.{number}");
        *number += 1;
        if taken.insert(label.clone()) {
            return label;
        }
    };
    names
        .iter()
        .map(|&name| if is_unique(name) { name.to_owned() } else { numbered(name) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_one_name_are_numbered_and_no_label_occurs_twice() {
        assert_eq!(labels(&["a", "b"]), ["a", "b"]);
        assert_eq!(labels(&["db", "db", "log"]), ["db.0", "db.1", "log"]);
        assert_eq!(labels(&["db", "db.0", "db"]), ["db.1", "db.0", "db.2"]);
        assert_eq!(labels(&["db.0", "db.0", "db", "db"]), ["db.0.0", "db.0.1", "db.0", "db.1"]);
        assert_eq!(labels(&[REST]), ["_rest.0"], "the sum of the others is not a job's");
    }
}
