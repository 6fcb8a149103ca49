//! Times for people.

/// Seconds since 1970 as RFC 3339 has them: `2026-11-25T11:03:54Z`.
pub fn rfc_3339(seconds: u64) -> String {
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!(
        "{year}-{month:02}-{:02}T{hour:02}:{minute:02}:{:02}Z",
        days + 1,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::rfc_3339;

    #[test]
    fn times_are_those_of_date() {
        // As `date -u -d @N +%FT%TZ` writes them.
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_704_067_199, "2023-12-31T23:59:59Z"),
            (1_735_603_200, "2024-12-31T00:00:00Z"),
            (1_795_604_634, "2026-11-25T11:03:54Z"),
        ] {
            assert_eq!(rfc_3339(seconds), expected);
        }
    }
}
