//! Whatever is typed, the answer is a run or a reason.

use iosonde_records::bench::Benchmark;
use iosonde_records::options::OPTIONS;
use iosonde_records::words::OptionValues;
use proptest::prelude::*;

fn value() -> BoxedStrategy<String> {
    let value = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        (0u32..200).prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| n.to_string()),
        prop::sample::select(vec![
            "file",
            "FileStream",
            "asyncfile",
            "csv",
            "null",
            "ms",
            "mcs",
            "ns",
            "true",
            "false",
            "",
            "-",
            "-1",
            "1k",
            "9g",
            "1-",
            "-1-1",
            "100-4096",
            "no",
            "9718/metrics",
            ":/",
            "a:b/c",
            "0.77",
            "10",
            "JSON",
            "CSVLogger",
            "PrometheusLogger",
            "psync",
            "libaio",
            "ü",
            "\u{0}",
        ])
        .prop_map(str::to_owned),
        ".{0,8}",
    ];
    value.boxed()
}

fn word() -> impl Strategy<Value = Vec<String>> {
    // `-f` would read whatever file the value names.
    let names: Vec<&str> =
        OPTIONS.iter().map(|option| option.name).filter(|&name| name != "f").collect();
    let named = (prop::sample::select(names), value());
    prop_oneof![
        8 => named.clone().prop_map(|(name, value)| vec![format!("-{name}"), value]),
        4 => named.prop_map(|(name, value)| vec![format!("--{name}={value}")]),
        1 => value().prop_filter("reads no file", |v| !v.starts_with("-f")).prop_map(|v| vec![v]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn any_arguments_are_a_run_or_a_reason(words in prop::collection::vec(word(), 0..8)) {
        let base = ["-class", "file", "-size", "100", "-writers", "1"].map(str::to_owned);
        let words: Vec<String> = base.into_iter().chain(words.into_iter().flatten()).collect();
        match OptionValues::read(&words).and_then(|words| Benchmark::of(&words)) {
            Ok(bench) => prop_assert!(bench.workers > 0 && bench.size.min > 0),
            Err(refused) => {
                prop_assert!(refused.code == 1 || refused.code == 2);
                prop_assert!(!refused.message.is_empty());
            }
        }
    }
}
