//! Numbers, dates and times as they read.

use super::*;

fn shown(raw: &str, format: Format) -> String {
    let formats = Formats {
        styles: vec![format],
        date_1904: false,
    };
    formats.value(raw.to_owned(), 0).as_text().to_owned()
}

#[test]
fn plain_numbers() {
    for (raw, text) in [
        ("10", "10"),
        ("10.0", "10"),
        ("1.1000000000000001", "1.1"),
        ("1E3", "1000"),
        ("-0", "0"),
        ("0.5", "0.5"),
        ("abc", "abc"),
        ("NaN", "NaN"),
        ("1e999", "1e999"),
    ] {
        assert_eq!(shown(raw, Format::Plain), text);
    }
}

#[test]
fn percentages() {
    assert_eq!(shown("0.07", Format::Percent), "7%");
    assert_eq!(shown("0.125", Format::Percent), "12.5%");
    assert_eq!(shown("1", Format::Percent), "100%");
}

#[test]
fn dates_and_times() {
    for (raw, text) in [
        ("45943", "2025-10-13"),
        ("45943.541", "2025-10-13 12:59:02"),
        ("45943.5", "2025-10-13 12:00"),
        ("0.5", "12:00"),
        ("1", "1900-01-01"),
        ("59", "1900-02-28"),
        ("60", "1900-02-29"),
        ("61", "1900-03-01"),
        ("36585", "2000-02-29"),
        ("2958465", "9999-12-31"),
        ("2958466", "2958466"),
        ("-1", "-1"),
    ] {
        assert_eq!(shown(raw, Format::DateOrTime), text);
    }
    assert_eq!(shown("1.5", Format::Duration), "36:00:00");
    assert_eq!(shown("-0.25", Format::Duration), "-6:00:00");
    assert_eq!(shown("1e300", Format::Duration), "2500000000000:00:00");
    let formats = Formats {
        styles: vec![Format::DateOrTime],
        date_1904: true,
    };
    assert_eq!(formats.value("0".to_owned(), 0).as_text(), "1904-01-01");
}

#[test]
fn format_codes() {
    for (code, format) in [
        ("General", Format::Plain),
        ("0.00", Format::Plain),
        ("#,##0 \"days\"", Format::Plain),
        ("0\\d", Format::Plain),
        ("[Red]0;[Blue]d", Format::Plain),
        ("0.0%", Format::Percent),
        ("yyyy-mm-dd", Format::DateOrTime),
        ("[$-409]d/m/yy h:mm AM/PM;@", Format::DateOrTime),
        ("[h]:mm:ss", Format::Duration),
        ("[", Format::Plain),
        ("\"", Format::Plain),
    ] {
        assert_eq!(custom_format(code), format, "{code}");
    }
}
