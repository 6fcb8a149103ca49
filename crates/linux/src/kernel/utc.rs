//! Times for people.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Seconds since 1970 as RFC 3339 has them: `2026-11-25T11:03:54Z`. Nothing for times after the year 9999.
pub fn rfc_3339(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let at = OffsetDateTime::from_unix_timestamp(seconds).ok();
    at.and_then(|at| at.format(&Rfc3339).ok())
        .unwrap_or_default()
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
