//! The jobs under examples/: each is parsed and planned.

use crate::support::{Who, words};
use iosonde_testing::Folder;
use std::path::{Path, PathBuf};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut jobs: Vec<PathBuf> =
        all.filter(|path| path.extension().is_some_and(|end| end == "fio")).collect();
    jobs.sort();
    jobs
}

#[test]
fn each_example_is_parsed_planned_and_explained() {
    let jobs = examples();
    assert_eq!(jobs.len(), 12);
    let page = include_str!("../../../../examples/README.md");
    for path in jobs {
        let folder = Folder::new("examples");
        let line = format!("explain {}", path.display());
        let ran = Who::Native.run(&folder, &words(&line)).well();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(ran.stdout.contains(" in all"), "{name}: {ran:?}");
        assert!(ran.stdout.matches("ends ").count() > 0, "{name}: {ran:?}");
        assert!(page.contains(&format!("[{name}]({name}.fio)")), "{name} is not on the page");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# "), "{name} does not say what it measures");
        // Planning creates nothing.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
    }
}
