//! The fuzz target's body over changed messages of another host: the same each time.

#[path = "../../../fuzz/src/host_messages.rs"]
mod host_messages;

use iosonde_testing::Mutations;

/// All that a rank 0 and another say in a run.
const TO_LEADER: &str = r#"{"Hello":{"name":"h1","build":"b"}}
{"Pong":1700000000000000000}
"Beat"
{"Ready":{"point":0,"agree":"job","failed":null}}
{"Ready":{"point":1,"agree":"","failed":null}}
{"Ready":{"point":2,"agree":"","failed":null}}
"Done"
{"Result":"{}"}"#;
const FROM_LEADER: &str = r#""Ping"
{"Setup":"job"}
{"Go":{"point":0}}
{"Go":{"point":1}}
{"Go":{"point":2}}
"Beat"
"Take"
"Bye""#;

#[test]
fn any_messages_of_another_host_end_in_a_result_or_an_error() {
    let pong = "{\"Pong\":18446744073709551615}\n".repeat(12);
    let long = TO_LEADER.replace("{\"Pong\":1700000000000000000}\n", &pong);
    let seeds = [TO_LEADER, &long, FROM_LEADER].map(|text| text.as_bytes().to_vec());
    let pieces = ["\n", "{\"Stop\":\"why\"}\n", "\"Done\"\n", "\"Bye\"\n", "4294967295", "null"];
    Mutations { seeds: &seeds, pieces: &pieces, count: 150 }.run(host_messages::host_messages);
    seeds.iter().for_each(|seed| host_messages::host_messages(seed));
}
