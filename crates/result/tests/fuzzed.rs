//! The fuzz targets' bodies over changed results: the same each time.

#[path = "../../../fuzz/src/results.rs"]
mod results;

use iosonde_testing::Mutations;

/// Results as text, and as changes of members.
fn seeds() -> Vec<Vec<u8>> {
    let texts = results::RESULTS.iter().map(|text| [b"\0", text.as_bytes()].concat());
    let changes = (1..=results::RESULTS.len() as u8).map(|choice| {
        let bytes = (0..24u8).map(|n| n.wrapping_mul(choice).wrapping_mul(37));
        std::iter::once(choice).chain(bytes).collect()
    });
    texts.take(2).chain(changes).collect()
}

/// What a figure may be that it should not.
const PIECES: [&str; 12] =
    ["-", "e308", "18446744073709551615", "null", "[]", "{}", "\"x\"", ",", "}", "0.", "true", "9"];

#[test]
fn any_bytes_are_a_result_or_are_refused() {
    Mutations { seeds: &seeds(), pieces: &PIECES, count: 200 }.run(results::result);
}

#[test]
fn what_is_written_of_any_result_is_as_the_schema_says() {
    Mutations { seeds: &seeds(), pieces: &PIECES, count: 200 }.run(results::schema);
}
