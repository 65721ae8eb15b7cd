//! How a run is shown while it runs.

use iosonde_report::live::screen::{COLUMNS_LEAST, ROWS_LEAST};
use iosonde_spec::cli::flags::{LiveFlag, LiveFlags, ShowWhen};

/// A run of one job that is shorter is shown in a line.
pub const LONG_S: u64 = 30;

/// How a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveMode {
    /// Not at all.
    None,
    /// In a line that is drawn over.
    Line,
    /// On the rows below what is on the terminal.
    Screen,
    /// In a line now and then, each below the one before.
    Plain,
    /// As an object of JSON each second.
    Json,
}

/// Where output goes, and what runs.
#[derive(Clone, Copy, Debug)]
pub struct LiveConditions {
    /// Standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// It is a file, so that what is printed there does not come to the terminal.
    pub stdout_is_file: bool,
    /// Standard error is a terminal that takes escapes, of this many columns and
    /// rows.
    pub screen: Option<(u16, u16)>,
    /// A document goes to standard output.
    pub has_document: bool,
    /// How many jobs there are.
    pub jobs: usize,
    /// How long they run, where that is set.
    pub planned_s: Option<u64>,
}

/// How to show a run.
///
/// # Errors
/// What was asked for cannot be had here: a sentence.
pub fn mode(flags: &LiveFlags, facts: &LiveConditions) -> Result<LiveMode, String> {
    let beside = "--live: standard output carries a document: write it to a file with --output";
    let asked = match flags.show {
        LiveFlag::Auto => return Ok(automatic(flags, facts)),
        LiveFlag::No => return Ok(LiveMode::None),
        LiveFlag::Json => return Ok(LiveMode::Json),
        LiveFlag::Line => LiveMode::Line,
        LiveFlag::Plain => LiveMode::Plain,
        LiveFlag::Screen => match facts.screen {
            Some((columns, rows)) if columns < COLUMNS_LEAST || rows < ROWS_LEAST => LiveMode::Line,
            Some(_) => LiveMode::Screen,
            None => return Err("--live=screen: standard error is no terminal".to_owned()),
        },
    };
    if facts.has_document { Err(beside.to_owned()) } else { Ok(asked) }
}

fn automatic(flags: &LiveFlags, facts: &LiveConditions) -> LiveMode {
    let is_long = facts.planned_s.is_some_and(|s| s > LONG_S);
    let fits = |(columns, rows)| columns >= COLUMNS_LEAST && rows >= ROWS_LEAST;
    let alone = facts.stdout_is_terminal || facts.stdout_is_file;
    match flags.eta {
        _ if facts.has_document => LiveMode::None,
        ShowWhen::Never => LiveMode::None,
        ShowWhen::Always => LiveMode::Line,
        ShowWhen::Auto
            if (facts.jobs > 1 || is_long) && alone && facts.screen.is_some_and(fits) =>
        {
            LiveMode::Screen
        }
        ShowWhen::Auto if facts.stdout_is_terminal => LiveMode::Line,
        ShowWhen::Auto if facts.screen.is_none() => LiveMode::Plain,
        ShowWhen::Auto => LiveMode::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: LiveConditions = LiveConditions {
        stdout_is_terminal: true,
        stdout_is_file: false,
        screen: Some((80, 24)),
        has_document: false,
        jobs: 4,
        planned_s: Some(5),
    };

    fn shown(live: LiveFlag, facts: LiveConditions) -> Result<LiveMode, String> {
        mode(&LiveFlags { show: live, ..LiveFlags::default() }, &facts)
    }

    #[test]
    fn a_terminal_shows_the_screen_of_several_jobs_or_a_long_one() {
        let auto = |facts| shown(LiveFlag::Auto, facts).unwrap();
        assert_eq!(auto(TERMINAL), LiveMode::Screen);
        assert_eq!(auto(LiveConditions { jobs: 1, ..TERMINAL }), LiveMode::Line);
        let long = LiveConditions { jobs: 1, planned_s: Some(31), ..TERMINAL };
        assert_eq!(auto(long), LiveMode::Screen);
        assert_eq!(auto(LiveConditions { screen: Some((59, 24)), ..long }), LiveMode::Line);
        assert_eq!(auto(LiveConditions { screen: Some((60, 16)), ..long }), LiveMode::Screen);
        assert_eq!(auto(LiveConditions { screen: Some((60, 15)), ..long }), LiveMode::Line);
        // TERM=dumb, and a terminal of unknown size.
        assert_eq!(auto(LiveConditions { screen: None, ..long }), LiveMode::Line);
    }

    #[test]
    fn what_is_no_terminal_gets_lines_and_what_others_print_to_is_left_alone() {
        let auto = |facts| shown(LiveFlag::Auto, facts).unwrap();
        let piped = LiveConditions { stdout_is_terminal: false, ..TERMINAL };
        assert_eq!(auto(piped), LiveMode::None, "tee(1) may print to the same terminal");
        assert_eq!(auto(LiveConditions { stdout_is_file: true, ..piped }), LiveMode::Screen);
        assert_eq!(auto(LiveConditions { screen: None, ..piped }), LiveMode::Plain);
        assert_eq!(auto(LiveConditions { has_document: true, ..TERMINAL }), LiveMode::None);
    }

    #[test]
    fn nothing_is_shown_beside_a_document_also_if_asked_for() {
        let document = LiveConditions { has_document: true, ..TERMINAL };
        for live in [LiveFlag::Screen, LiveFlag::Line, LiveFlag::Plain] {
            assert!(shown(live, document).unwrap_err().contains("--output"));
        }
        assert_eq!(shown(LiveFlag::Json, document), Ok(LiveMode::Json));
        assert_eq!(shown(LiveFlag::No, TERMINAL), Ok(LiveMode::None));
        let none = LiveConditions { screen: None, ..TERMINAL };
        assert!(shown(LiveFlag::Screen, none).unwrap_err().contains("no terminal"));
        let small = LiveConditions { screen: Some((40, 10)), ..TERMINAL };
        assert_eq!(shown(LiveFlag::Screen, small), Ok(LiveMode::Line));
    }

    #[test]
    fn eta_is_obeyed_where_live_does_not_say_otherwise() {
        let with = |eta| mode(&LiveFlags { eta, ..LiveFlags::default() }, &TERMINAL).unwrap();
        assert_eq!(with(ShowWhen::Never), LiveMode::None);
        assert_eq!(with(ShowWhen::Always), LiveMode::Line);
    }
}
