//! Dates and times in the form of ISO 8601, and the integers that store them. The crate chrono, which Arrow also uses,
//! knows the calendar.

use arrow_schema::TimeUnit;
use chrono::{DateTime, Datelike, NaiveDate};

const DAY: i128 = 86_400 * NANOSECONDS;
const NANOSECONDS: i128 = 1_000_000_000;
/// 1970-01-01, counted as chrono counts days.
const EPOCH: i64 = 719_163;

/// A point in time, in nanoseconds from 1970-01-01T00:00, in UTC if its text had a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instant {
    pub nanoseconds: i128,
    pub has_zone: bool,
}

/// The number of units in a second.
pub(super) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Nanoseconds in a unit; none if there would be a fraction, or if they do not fit into 64 bits.
pub(super) fn in_unit(nanoseconds: i128, unit: TimeUnit) -> Option<i64> {
    let size = NANOSECONDS / i128::from(per_second(unit));
    (nanoseconds % size == 0)
        .then(|| i64::try_from(nanoseconds / size).ok())
        .flatten()
}

/// Reads `YYYY-MM-DD`: days from 1970-01-01. Years beyond 9999 have a sign.
pub(super) fn parse_date(text: &str) -> Option<i64> {
    let (rest, day) = text.rsplit_once('-')?;
    let (year, month) = rest.rsplit_once('-')?;
    let signed = year.starts_with(['+', '-']);
    let digits = year.trim_start_matches(['+', '-']);
    if year.len() - digits.len() > 1 || digits.len() < 4 || (!signed && digits.len() > 4) || !is_digits(digits) {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(year.parse().ok()?, two(month)?, two(day)?)?;
    Some(i64::from(date.num_days_from_ce()) - EPOCH)
}

/// Reads `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fraction`: nanoseconds from midnight.
pub(super) fn parse_time(text: &str) -> Option<i128> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let mut parts = clock.split(':');
    let (hour, minute) = (two(parts.next()?)?, two(parts.next()?)?);
    let second = parts.next().map_or(Some(0), two)?;
    let whole = clock.len() == 8;
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 || (fraction.is_some() && !whole) {
        return None;
    }
    let fraction = fraction.map_or(Some(0), nanoseconds)?;
    Some(i128::from(hour * 3600 + minute * 60 + second) * NANOSECONDS + fraction)
}

/// Reads a date, or a date and a time with a `T` or a space between them, and perhaps `Z` or an offset such as
/// `+02:00`.
pub(super) fn parse_instant(text: &str) -> Option<Instant> {
    let Some((date, time)) = text.split_once(['T', ' ']) else {
        let nanoseconds = i128::from(parse_date(text)?) * DAY;
        return Some(Instant {
            nanoseconds,
            has_zone: false,
        });
    };
    let (time, offset) = match (time.strip_suffix('Z'), time.rfind(['+', '-'])) {
        (Some(time), _) => (time, Some(0)),
        (None, Some(at)) => (&time[..at], Some(parse_offset(&time[at..])?)),
        (None, None) => (time, None),
    };
    let local = i128::from(parse_date(date)?) * DAY + parse_time(time)?;
    Some(Instant {
        nanoseconds: local - offset.unwrap_or(0),
        has_zone: offset.is_some(),
    })
}

/// `+HH:MM`, `+HHMM` or `+HH` in nanoseconds.
fn parse_offset(text: &str) -> Option<i128> {
    let (sign, clock) = text.split_at(1);
    let clock = match clock.len() {
        2 => format!("{clock}:00"),
        4 if clock.is_ascii() => format!("{}:{}", &clock[..2], &clock[2..]),
        _ => clock.to_owned(),
    };
    let offset = (clock.len() == 5).then(|| parse_time(&clock)).flatten()?;
    Some(if sign == "-" { -offset } else { offset })
}

fn two(text: &str) -> Option<u32> {
    (text.len() == 2 && is_digits(text))
        .then(|| text.parse().ok())
        .flatten()
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The nanoseconds of a fraction of a second. Zeros beyond nanoseconds are accepted.
fn nanoseconds(fraction: &str) -> Option<i128> {
    let digits = if fraction.len() > 9 {
        fraction.trim_end_matches('0')
    } else {
        fraction
    };
    if fraction.is_empty() || digits.len() > 9 || !is_digits(fraction) {
        return None;
    }
    format!("{digits:0<9}").parse().ok()
}

/// A date; none outside chrono's range of some 262,000 years before and after 1970.
pub(super) fn show_date(days: i64) -> Option<String> {
    let days = i32::try_from(days.checked_add(EPOCH)?).ok()?;
    NaiveDate::from_num_days_from_ce_opt(days).map(|date| date.format("%Y-%m-%d").to_string())
}

/// A time of day; none if it is not within a day.
pub(super) fn show_time(value: i64, unit: TimeUnit) -> Option<String> {
    let within = (0..86_400 * per_second(unit)).contains(&value);
    let instant = within.then(|| point(value, unit)).flatten()?;
    Some(instant.format("%H:%M:%S%.f").to_string())
}

/// A point in time, with `Z` if it has a time zone; none outside chrono's range of years.
pub(super) fn show_instant(value: i64, unit: TimeUnit, has_zone: bool) -> Option<String> {
    let zone = if has_zone { "Z" } else { "" };
    point(value, unit).map(|point| format!("{}{zone}", point.format("%Y-%m-%dT%H:%M:%S%.f")))
}

fn point(value: i64, unit: TimeUnit) -> Option<DateTime<chrono::Utc>> {
    let per_second = per_second(unit);
    let fraction = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
    // A remainder below one second.
    DateTime::from_timestamp(value.div_euclid(per_second), fraction as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_dates() {
        assert_eq!(parse_date("1970-01-01"), Some(0));
        assert_eq!(parse_date("2024-02-29"), Some(19_782));
        assert_eq!(
            parse_date("+12345-01-01").and_then(show_date).as_deref(),
            Some("+12345-01-01")
        );
        assert_eq!(
            parse_date("-0001-12-31").and_then(show_date).as_deref(),
            Some("-0001-12-31")
        );
        for wrong in [
            "2023-02-29",
            "2024-2-29",
            "24-02-29",
            "12345-01-01",
            "20240229",
            "",
            "--1-01-01",
            "2024-02-29 ",
        ] {
            assert_eq!(parse_date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn reads_times() {
        assert_eq!(parse_time("00:01"), Some(60 * NANOSECONDS));
        assert_eq!(parse_time("00:00:01.5"), Some(1_500_000_000));
        assert_eq!(parse_time("00:00:00.0000000010"), Some(1));
        for wrong in [
            "24:00",
            "0:00",
            "00:60",
            "00:00:60",
            "00:00.5",
            "00:00:00.",
            "00:00:00.0000000001",
            "00:00:00:00",
            "+1:00",
        ] {
            assert_eq!(parse_time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn reads_points_in_time() {
        let read = |text: &str| parse_instant(text).map(|instant| (instant.nanoseconds, instant.has_zone));
        assert_eq!(read("1970-01-02"), Some((DAY, false)));
        assert_eq!(read("1970-01-01 00:00:01"), Some((NANOSECONDS, false)));
        assert_eq!(read("1970-01-01T00:00:01Z"), Some((NANOSECONDS, true)));
        for offset in ["-01:30", "-0130"] {
            assert_eq!(
                read(&format!("1970-01-01T02:00{offset}")),
                Some((12_600 * NANOSECONDS, true))
            );
        }
        // The form of DuckDB and PostgreSQL.
        assert_eq!(read("1970-01-01 02:00:00+01"), Some((3_600 * NANOSECONDS, true)));
        for wrong in [
            "1970-01-01T",
            "1970-01-01Z",
            "1970-01-01T00:00:00+1:00",
            "1970-01-01T00:00:00UTC",
            "T00:00",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn shows_what_it_reads() {
        for text in [
            "1969-12-31T23:59:59.999",
            "2024-02-29T12:30:00",
            "-0044-03-15T00:00:00.500",
        ] {
            let nanoseconds = parse_instant(text).unwrap().nanoseconds;
            let value = in_unit(nanoseconds, TimeUnit::Millisecond).unwrap();
            assert_eq!(show_instant(value, TimeUnit::Millisecond, false).as_deref(), Some(text));
        }
        assert_eq!(
            show_time(1, TimeUnit::Nanosecond).as_deref(),
            Some("00:00:00.000000001")
        );
        assert_eq!(show_time(86_400, TimeUnit::Second), None);
        assert_eq!(show_instant(i64::MAX, TimeUnit::Second, false), None);
        assert_eq!(in_unit(1, TimeUnit::Microsecond), None);
        assert_eq!(in_unit(i128::from(i64::MAX) + 1, TimeUnit::Nanosecond), None);
    }
}
