//! The text format of Prometheus (0.0.4), from that of OpenMetrics.
//!
//! They differ in the comments: here a counter's family has the name of its
//! samples (`_total`), there is no unit, no end, and no type for facts.

/// The same metrics.
pub(super) fn of(openmetrics: &str) -> String {
    let mut classic = String::with_capacity(openmetrics.len());
    let mut help = "";
    for line in openmetrics.lines() {
        if line.starts_with("# HELP ") {
            // The type, which decides on the name, comes after it.
            help = line;
        } else if let Some(typed) = line.strip_prefix("# TYPE ") {
            let (name, kind) = typed.split_once(' ').unwrap_or((typed, "untyped"));
            let (suffix, kind) = match kind {
                "counter" => ("_total", kind),
                "info" => ("_info", "gauge"),
                kind => ("", kind),
            };
            let words = help.splitn(4, ' ').nth(3).unwrap_or_default();
            classic.push_str(&format!("# HELP {name}{suffix} {words}\n"));
            classic.push_str(&format!("# TYPE {name}{suffix} {kind}\n"));
        } else if !line.starts_with("# ") {
            classic.push_str(line);
            classic.push('\n');
        }
    }
    classic
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn counters_have_the_name_of_their_samples() {
        let openmetrics = "# HELP a_bytes All of it.\n# TYPE a_bytes counter\n# UNIT a_bytes bytes\n\
                           a_bytes_total{x=\"# EOF\"} 1\n# HELP b Facts.\n# TYPE b info\n\
                           b_info{} 1\n# HELP c C.\n# TYPE c gauge\nc 2\n# EOF\n";
        let classic = "# HELP a_bytes_total All of it.\n# TYPE a_bytes_total counter\n\
                       a_bytes_total{x=\"# EOF\"} 1\n# HELP b_info Facts.\n# TYPE b_info gauge\n\
                       b_info{} 1\n# HELP c C.\n# TYPE c gauge\nc 2\n";
        assert_eq!(of(openmetrics), classic);
    }
}
