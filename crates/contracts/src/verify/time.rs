//! A signed time, in the one way its contract writes it.

use super::Refused;
use crate::contract::format::TimeUnit;

/// More digits than any second or millisecond that matters, fewer than an `i64` can take.
const DIGITS_MAX: usize = 15;

/// Unix seconds of `text`.
pub(super) fn seconds(text: &str, unit: TimeUnit) -> Result<i64, Refused> {
    match unit {
        TimeUnit::S => digits(text),
        TimeUnit::Ms => digits(text).map(|ms| ms.div_euclid(1_000)),
        TimeUnit::Rfc3339 => rfc3339(text).ok_or(Refused::MalformedTimestamp),
    }
}

/// Plain digits, written in the one way that a number has.
fn digits(text: &str) -> Result<i64, Refused> {
    let canonical = text == "0" || !text.starts_with('0');
    if text.len() > DIGITS_MAX || !canonical || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refused::MalformedTimestamp);
    }
    text.parse().map_err(|_| Refused::MalformedTimestamp)
}

/// `2024-03-22T17:05:25[.054](Z|+01:00)`. The fraction does not count; a leap second is the one before it.
fn rfc3339(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let shaped = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if !shaped.iter().all(|(at, byte)| bytes.get(*at) == Some(byte)) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let in_range = (1..=days_in(year, month)?).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    let rest = text.get(19..)?;
    let zone = match rest.strip_prefix('.') {
        None => rest,
        Some(fraction) => {
            let zone = fraction.trim_start_matches(|char: char| char.is_ascii_digit());
            if !(1..=9).contains(&(fraction.len() - zone.len())) {
                return None;
            }
            zone
        }
    };
    let offset_s = offset_s(zone)?;
    let local = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second.min(59);
    in_range.then(|| local - offset_s)
}

fn offset_s(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let two = |text: &str| (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(());
    two(hours).and(two(minutes))?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)
}

fn days_in(year: i64, month: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => Some(28 + i64::from(leap)),
        4 | 6 | 9 | 11 => Some(30),
        1..=12 => Some(31),
        _ => None,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar. (Years are counted from March, so that February ends one.)
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month_from_march + 2) / 5 + day - 719_469
}

/// The inverse of [`rfc3339`], in UTC and whole seconds.
pub(crate) fn rfc3339_text(unix_s: i64) -> String {
    let (mut day, second) = (unix_s.div_euclid(86_400), unix_s.rem_euclid(86_400));
    let mut year = 1970 + day.div_euclid(366);
    while days(year + 1, 1, 1) <= day {
        year += 1;
    }
    day -= days(year, 1, 1);
    let mut month = 1;
    while let Some(length) = days_in(year, month).filter(|length| *length <= day) {
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_digits_in_their_one_form() {
        assert_eq!(seconds("1614265330", TimeUnit::S), Ok(1_614_265_330));
        assert_eq!(seconds("1614265330999", TimeUnit::Ms), Ok(1_614_265_330));
        assert_eq!(seconds("0", TimeUnit::S), Ok(0));
        for text in ["-5", "+5", "1.0", "1e9", " 1", "01", "٣", "99999999999999999999", "0x1", "1_000", ""] {
            assert_eq!(seconds(text, TimeUnit::S), Err(Refused::MalformedTimestamp), "{text}");
        }
    }

    #[test]
    fn rfc_3339_with_every_zone() {
        let at = |text| seconds(text, TimeUnit::Rfc3339);
        assert_eq!(at("1970-01-01T00:00:00Z"), Ok(0));
        assert_eq!(at("2000-02-29T12:00:00Z"), Ok(951_825_600));
        assert_eq!(at("2024-03-22T17:05:25.054Z"), Ok(1_711_127_125));
        assert_eq!(at("2024-03-22T18:05:25+01:00"), Ok(1_711_127_125));
        assert_eq!(at("2024-03-22T13:35:25-03:30"), Ok(1_711_127_125));
        assert_eq!(at("2016-12-31T23:59:60Z"), Ok(1_483_228_799));
        let broken = [
            "",
            "2024-03-22",
            "2024-03-22 17:05:25Z",
            "2024-02-30T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-03-22T24:00:00Z",
            "2024-03-22T17:05:25",
            "2024-03-22T17:05:25.Z",
            "2024-03-22T17:05:25+1:00",
            "2024-03-22T17:05:25z",
            "1711127125",
            "2024-03-22T17:05:25Z ",
        ];
        for text in broken {
            assert_eq!(at(text), Err(Refused::MalformedTimestamp), "{text}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for unix_s in
            [0, 951_782_399, 951_868_799, 1_709_164_800, 1_711_127_125, 1_735_689_599, 4_102_444_800]
        {
            let text = rfc3339_text(unix_s);
            assert_eq!(seconds(&text, TimeUnit::Rfc3339), Ok(unix_s), "{text}");
        }
        assert_eq!(rfc3339_text(951_825_600), "2000-02-29T12:00:00Z");
    }
}
