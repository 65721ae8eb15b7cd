//! The fuzz targets' bodies over changed messages of another host: the same each time.

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

/// Frames as they go over a connection: length, kind, bytes.
fn frames(messages: &[(u8, &str)]) -> Vec<u8> {
    let frame = |(kind, text): &(u8, &str)| {
        [&(text.len() as u32).to_le_bytes()[..], &[*kind], text.as_bytes()].concat()
    };
    messages.iter().flat_map(frame).collect()
}

#[test]
fn what_comes_over_a_connection_ends_and_is_no_more_than_it_is() {
    let hello = "{\"Hello\":{\"name\":\"h\",\"build\":\"b\"}}";
    let ready = "{\"Ready\":{\"point\":0,\"agree\":\"x\",\"failed\":null}}";
    let mut server = vec![(7, "hostname=h, be=0"), (0, hello)];
    server.extend([(0, "{\"Pong\":1700000000000000000}"); 12]);
    server.extend([(0, ready), (1, ""), (2, "line"), (3, "error"), (4, "a_bw.log"), (5, "1, 2")]);
    server.extend([(6, ""), (0, "\"Done\"")]);
    server.extend([(0, "{\"Pong\":1700000000000000000}"); 12]);
    server.push((0, "{\"Result\":\"{}\"}"));
    let client = [(0, "\"Ping\""), (0, "{\"Setup\":\"{}\"}"), (1, ""), (0, "{\"Stop\":\"w\"}")];
    let seeds = [frames(&server), frames(&client), b"GET / HTTP/1.1\r\n\r\n".to_vec()];
    let pieces = ["\0\0\0\0\0", "\u{7f}\u{7f}\u{7f}\u{7f}", "\"Done\"", "null"];
    Mutations { seeds: &seeds, pieces: &pieces, count: 150 }.run(host_messages::server_messages);
    seeds.iter().for_each(|seed| host_messages::server_messages(seed));
}
