//! Lines of an older fio, as fio 3.42 prints them.

/// A line of fio's text: zone resets are named only with `zonemode=zbd`, and the latency that
/// `latency_target` is to hold has its unit.
pub fn as_in_3_42(line: &str) -> String {
    let line = line.strip_suffix("; 0 zone resets").unwrap_or(line);
    if line.trim_start().starts_with("latency   : ") {
        line.replace("=0,", "=0.00ns,")
    } else {
        line.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::as_in_3_42;

    #[test]
    fn what_changed_is_changed_and_nothing_else() {
        let write = "  write: IOPS=1, BW=1B/s (1B/s)(1B/1msec)";
        assert_eq!(as_in_3_42(&format!("{write}; 0 zone resets")), write);
        assert_eq!(as_in_3_42(write), write);
        let target = "     latency   : target=0, window=0, percentile=100.00%, depth=1";
        assert_eq!(
            as_in_3_42(target),
            "     latency   : target=0.00ns, window=0.00ns, percentile=100.00%, depth=1"
        );
    }
}
