//! A start at a moment of the clock of the day, which several hosts have in common
//! without talking to each other.

use iosonde_base::text::duration;
use iosonde_base::time::since_1970;
use iosonde_run::conductor::{MeetingPoint, Peers};
use std::time::Duration;

/// Waiting is asked for a signal so often.
const LISTEN_EVERY: Duration = Duration::from_millis(20);
/// The last of the wait is spent awake: a sleep ends some 50 us late.
const AWAKE: Duration = Duration::from_micros(200);

/// The first jobs of this host start at a moment.
#[derive(Clone, Copy, Debug)]
pub struct StartAt {
    /// The moment, in nanoseconds of Unix time.
    pub unix_ns: u64,
}

impl StartAt {
    /// A moment as it is typed: seconds since 1970, with or without a fraction.
    ///
    /// # Errors
    /// The text is no such number.
    pub fn parse(text: &str) -> Result<StartAt, String> {
        let wrong = || {
            format!(
                "invalid --start-at={text}: use seconds since 1970, as `date -d '+1 min' +%s` prints them"
            )
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.chars().all(|letter| letter.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
            return Err(wrong());
        }
        let seconds: u64 = whole.parse().map_err(|_| wrong())?;
        let nanos: u64 = format!("{fraction:0<9}").parse().map_err(|_| wrong())?;
        let unix_ns = seconds.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(nanos));
        Ok(StartAt { unix_ns: unix_ns.ok_or_else(wrong)? })
    }

    /// Time until then; none once it has passed.
    fn left(self) -> Option<Duration> {
        Duration::from_nanos(self.unix_ns).checked_sub(since_1970())
    }
}

impl Peers for StartAt {
    fn meet(
        &mut self,
        at: MeetingPoint,
        own: Result<(), String>,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        own?;
        if at != MeetingPoint::Wave(0) {
            return Ok(());
        }
        if self.left().is_none() {
            let late = since_1970().saturating_sub(Duration::from_nanos(self.unix_ns));
            return Err(format!(
                "the time of --start-at passed {} before the jobs were ready: choose a later one",
                duration(late.as_nanos() as u64)
            ));
        }
        while let Some(left) = self.left() {
            if let Some(why) = stopped() {
                return Err(why);
            }
            match left.checked_sub(AWAKE) {
                Some(sleep) => std::thread::sleep(sleep.min(LISTEN_EVERY)),
                None => std::hint::spin_loop(),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_seconds_with_a_fraction() {
        let ns = |text: &str| StartAt::parse(text).map(|at| at.unix_ns);
        assert_eq!(ns("1770000000"), Ok(1_770_000_000_000_000_000));
        assert_eq!(ns("1770000000.25"), Ok(1_770_000_000_250_000_000));
        for bad in ["", "x", "-1", "1.x", "+5", "99999999999999999999", "1.0123456789"] {
            let why = ns(bad).unwrap_err();
            assert!(why.contains("seconds since 1970"), "{bad}: {why}");
        }
    }

    #[test]
    fn a_moment_that_has_passed_is_refused_and_a_signal_ends_the_wait() {
        let mut past = StartAt { unix_ns: 1 };
        let why = past.meet(MeetingPoint::Wave(0), Ok(()), &mut || None).unwrap_err();
        assert!(why.contains("before the jobs were ready"), "{why}");
        let mut far = StartAt { unix_ns: u64::MAX };
        let stop = &mut || Some("stopped by signal 2".to_owned());
        let why = far.meet(MeetingPoint::Wave(0), Ok(()), stop).unwrap_err();
        assert_eq!(why, "stopped by signal 2");
        assert_eq!(far.meet(MeetingPoint::Wave(1), Ok(()), stop), Ok(()));
    }
}
