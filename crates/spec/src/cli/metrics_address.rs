//! The address of `--metrics-listen`: loopback unless another is written out.

use super::flags::FlagError;

const HOST: &str = "127.0.0.1";
const PORT: &str = "9719";

/// `HOST:PORT` of a text of which either may be left out.
///
/// # Errors
/// A port that is not one, or a host without a port.
pub(super) fn parse(text: &str) -> Result<String, FlagError> {
    let (host, port) = match text.rsplit_once(':') {
        _ if text.is_empty() => (HOST, PORT),
        None => (HOST, text),
        Some(("", port)) => (HOST, port),
        Some(parts) => parts,
    };
    // Without brackets, the last colon of an IPv6 address is not that of a port.
    let is_ambiguous = host.contains(':') && !(host.starts_with('[') && host.ends_with(']'));
    let is_port = port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok();
    if is_ambiguous || !is_port || host.contains(['/', ' ']) {
        return Err(FlagError::fatal(format!(
            "invalid --metrics-listen={text}: use a port or ADDRESS:PORT, such as {PORT}, \
             0.0.0.0:{PORT} or [::]:{PORT}"
        )));
    }
    Ok(format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn another_address_than_loopback_has_to_be_written_out() {
        for (text, address) in [
            ("", "127.0.0.1:9719"),
            ("9000", "127.0.0.1:9000"),
            (":0", "127.0.0.1:0"),
            ("0.0.0.0:9719", "0.0.0.0:9719"),
            ("[::1]:80", "[::1]:80"),
            ("localhost:65535", "localhost:65535"),
        ] {
            assert_eq!(parse(text).unwrap(), address);
        }
    }

    #[test]
    fn what_has_no_port_is_refused() {
        for text in ["x", ":", "65536", "host:", "::1", "::1:80", "1.2.3.4", "+1", "http://a:1"] {
            let words = parse(text).unwrap_err().to_string();
            assert!(words.contains("use a port or ADDRESS:PORT"), "{text}: {words}");
        }
    }
}
