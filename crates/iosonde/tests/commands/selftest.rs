//! `iosonde selftest` on real and on failing storage.

use crate::support::{Who, words};
use iosonde_testing::Folder;
use serde_json::Value;

fn verdicts(document: &Value, of: &str) -> Vec<(String, String)> {
    let checks = document["checks"].as_array().unwrap();
    let of = checks.iter().filter(|check| check["of"] == of);
    let text = |check: &Value, key: &str| check[key].as_str().unwrap().to_owned();
    of.map(|check| (text(check, "id"), text(check, "holds"))).collect()
}

#[test]
fn iosonde_holds_all_its_promises_here_and_nothing_stays_behind() {
    let folder = Folder::new("selftest");
    let ran = Who::Native.run(&folder, &words("selftest --json ."));
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    let own = verdicts(&ran.json(), "iosonde");
    assert!(own.len() >= 10, "{ran:?}");
    // What an engine cannot do here is unknown.
    assert!(own.iter().all(|(_, holds)| holds != "no"), "{ran:?}");
    assert!(own.contains(&("flip_psync".into(), "yes".into())), "{ran:?}");
    let storage = verdicts(&ran.json(), "storage");
    assert_eq!(ran.code == Some(3), storage.iter().any(|(_, holds)| holds == "no"), "{ran:?}");
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn the_page_names_what_is_honoured_and_what_cannot_be_checked() {
    let folder = Folder::new("selftest-page");
    let ran = Who::Native.run(&folder, &words("selftest"));
    for part in ["storage\n", "iosonde\n", "not checked\n", "direct reads", "Ctrl-C", " hold, "] {
        assert!(ran.stdout.contains(part), "{part}: {ran:?}");
    }
}

#[test]
fn a_path_that_is_no_directory_is_refused() {
    let folder = Folder::new("selftest-file");
    folder.write("file", "text");
    for (path, why) in [("file", "not a directory"), ("none", "No such file")] {
        let ran = Who::Native.run(&folder, &words(&format!("selftest {path}")));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn storage_that_loses_writes_is_named_and_iosonde_is_not_blamed_for_it() {
    use iosonde_faults::{
        Caching, Fault, FaultMount, Rule, Script, Store, Target, with_own_mounts,
    };
    use iosonde_testing::or_skip;
    let folder = Folder::new("selftest-faults");
    let on = folder.join("on");
    std::fs::create_dir(&on).unwrap();
    let rule = Rule { target: Target::Write, fault: Fault::LostWrite, per_mille: 200 };
    let ran = with_own_mounts(|| {
        let store = Store::new(Script::new(1, vec![rule]), "data");
        let mount = FaultMount::mount(store, Caching::None, &on)?;
        let ran = Who::Native.run(&folder, &words("selftest --json on"));
        drop(mount);
        Ok::<_, String>(ran)
    });
    let Some(ran) = or_skip(ran.and_then(|ran| ran)) else { return };
    // The storage is at fault, and nothing is said of iosonde.
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let storage = verdicts(&ran.json(), "storage");
    assert!(storage.contains(&("plain_data".into(), "no".into())), "{ran:?}");
    assert_eq!(verdicts(&ran.json(), "iosonde"), [("data".into(), "unknown".into())], "{ran:?}");
}
