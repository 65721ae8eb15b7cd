//! What the fuzz target of logs does with its bytes. Shared with an ordinary test.

use iosonde_base::DIRS;
use iosonde_logs::{
    DotSample, LogContent, LogReadError, LogStart, LogSum, LogText, LogType, ReadPlan, TimeWindows,
    read,
};
use std::io::Cursor;

/// Any bytes are a log of each type: they are read or refused, and what is read
/// adds up.
pub fn log(data: &[u8]) {
    for log_type in LogType::ALL {
        let mut sum = LogSum { windows: TimeWindows::new(0, 1, 64), dots: DotSample::default() };
        let Ok(Some(content)) = read_log(data, log_type, &mut sum) else { continue };
        let counted: u64 = DIRS.iter().map(|&dir| content.dirs[dir].moments.n).sum();
        let in_windows: u64 = sum
            .windows
            .series()
            .windows
            .iter()
            .flat_map(|window| window.dirs.0.iter().map(|dir| dir.latency.total()))
            .sum();
        for dir in DIRS.map(|dir| &content.dirs[dir]) {
            let Some(latency) = &dir.latency else { continue };
            assert_eq!(latency.bins.iter().map(|bin| bin.1).sum::<u64>(), latency.n);
            assert!(latency.min_ns <= latency.max_ns);
        }
        if content.dirs.0.iter().any(|dir| dir.latency.is_some()) {
            assert_eq!(in_windows, counted, "{log_type:?}");
        }
        if content.windows.is_none() && log_type != LogType::Histogram {
            assert_eq!(counted, content.rows, "{log_type:?}");
        }
    }
}

/// A log from memory; `None` if it is empty.
pub fn read_log(
    data: &[u8],
    log_type: LogType,
    sum: &mut LogSum,
) -> Result<Option<LogContent>, LogReadError> {
    let mut text = LogText::new(Cursor::new(data.to_vec()))?;
    let Some(start) = LogStart::of(&text, log_type)? else { return Ok(None) };
    let plan =
        ReadPlan { log_type, origin_ms: 0, latency_unit_ns: 1000, window_ms: 1, windows_most: 600 };
    read(&mut text, &start, &plan, sum).map(Some)
}
