//! The recorded sequences of fio 3.42, replayed I/O by I/O.

mod common;

use common::{lines, spec};

#[test]
fn every_recorded_sequence_is_ours() {
    let vectors: serde_json::Value =
        serde_json::from_str(include_str!("../vectors/fio-3.42.json")).unwrap();
    let mut wrong = Vec::new();
    let jobs = vectors.as_object().unwrap();
    assert_eq!(jobs.len(), 33);
    for (job, recorded) in jobs {
        let strings = |key: &str| -> Vec<String> {
            recorded[key]
                .as_array()
                .unwrap()
                .iter()
                .map(|value| value.as_str().unwrap().to_owned())
                .collect()
        };
        let (arguments, expected) = (strings("arguments"), strings("ios"));
        let Ok(ours) = std::panic::catch_unwind(|| lines(spec(&arguments))) else {
            wrong.push(format!("{job}: panicked"));
            continue;
        };
        if ours != expected {
            let at = ours.iter().zip(&expected).take_while(|(ours, theirs)| ours == theirs).count();
            wrong.push(format!(
                "{job}: {} of {}, at {at} {:?} for {:?}; {arguments:?}",
                ours.len(),
                expected.len(),
                ours.get(at),
                expected.get(at)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
