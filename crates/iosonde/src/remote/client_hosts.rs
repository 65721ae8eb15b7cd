//! The servers that `--client` names: one, or those that a file lists.

use iosonde_hosts::wire::HostAddress;
use std::fs;
use std::path::Path;

/// So many hosts may be listed.
const HOSTS_MOST: usize = 10_000;

/// The servers of a `--client`.
///
/// # Errors
/// It is no address, or the file lists none: a sentence.
pub fn of(text: &str) -> Result<Vec<HostAddress>, String> {
    let wrong = |why: String| format!("--client={text}: {why}");
    let path = Path::new(text);
    if !path.is_file() {
        let address = HostAddress::parse(text).map_err(wrong)?;
        if address.host().is_empty() {
            return Err(wrong("it names no host".to_owned()));
        }
        return Ok(vec![address]);
    }
    let listed = fs::read_to_string(path)
        .map_err(|error| format!("cannot read the list of hosts {text}: {error}"))?;
    let lines = listed.lines().enumerate().map(|(at, line)| {
        let line = line.split('#').next().unwrap_or_default();
        (at + 1, line.trim())
    });
    let mut hosts = Vec::new();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let address = HostAddress::parse(line).map_err(|why| format!("{text}:{at}: {why}"))?;
        hosts.push(address);
    }
    match hosts.len() {
        0 => Err(wrong("the file lists no host".to_owned())),
        more if more > HOSTS_MOST => {
            Err(wrong(format!("the file lists {more} hosts, of at most {HOSTS_MOST}")))
        }
        _ => Ok(hosts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_testing::Folder;

    #[test]
    fn a_client_is_a_host_or_a_file_of_hosts() {
        let folder = Folder::new("client-hosts");
        let path = folder.join("list");
        let list = |text: &str| {
            fs::write(&path, text).unwrap();
            of(path.to_str().unwrap())
        };
        let shown = |hosts: Result<Vec<HostAddress>, String>| -> Vec<String> {
            hosts.unwrap().iter().map(HostAddress::shown).collect()
        };
        assert_eq!(shown(of("h1,7")), ["h1,7"]);
        assert_eq!(
            shown(list("10.0.0.1\n\n# spare\nip:10.0.0.2,9 # second\nsock:/x\n")),
            ["10.0.0.1,8765", "10.0.0.2,9", "/x"]
        );
        assert!(list("# none\n").unwrap_err().contains("lists no host"));
        assert!(list("a\nb c\n").unwrap_err().contains(":2: "));
        assert!(of("").unwrap_err().contains("names no host"));
        assert!(of("nosuch/file").unwrap_err().contains("no address of a host"));
    }
}
