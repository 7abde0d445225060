//! Numbers as a person sees them in the spreadsheet: whole ones without `.0`, percentages, dates and times.

use std::collections::HashMap;

use super::Value;
use super::xml::{Event, Name, Xml};
use crate::import::ImportError;

/// How a number is shown, as far as it matters for reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Plain,
    Percent,
    DateOrTime,
    Duration,
}

/// The number formats of a workbook's styles.
#[derive(Debug, Default)]
pub(super) struct Formats {
    styles: Vec<Format>,
    date_1904: bool,
}

/// Days between the first days of the two date systems.
const DAYS_1900_TO_1904: f64 = 1_462.0;
/// Day after the last one that has a date, 9999-12-31.
const DAYS_END: f64 = 2_958_466.0;
const SECONDS_PER_DAY: f64 = 86_400.0;

impl Formats {
    /// Reads the styles part.
    ///
    /// # Errors
    /// As [`Xml::next`].
    pub(super) fn read(part: &mut Xml<'_>, date_1904: bool) -> Result<Self, ImportError> {
        let mut custom: HashMap<u32, Format> = HashMap::new();
        let mut formats = Self {
            styles: Vec::new(),
            date_1904,
        };
        let mut in_cell_formats = false;
        loop {
            match part.next()? {
                Event::Start(Name::CellFormats, _) => in_cell_formats = true,
                Event::End(Name::CellFormats) => in_cell_formats = false,
                Event::Start(name @ (Name::NumberFormat | Name::Format), element) => {
                    let id = element
                        .attribute("numFmtId")
                        .and_then(|id| id.parse().ok())
                        .unwrap_or(0);
                    if name == Name::NumberFormat {
                        let code = element.attribute("formatCode").unwrap_or_default();
                        custom.insert(id, custom_format(&code));
                    } else if in_cell_formats {
                        let format = custom.get(&id).copied().unwrap_or_else(|| built_in_format(id));
                        formats.styles.push(format);
                    }
                }
                Event::Start(..) | Event::End(_) | Event::Text(_) => {}
                Event::Eof => return Ok(formats),
            }
        }
    }

    /// A numeric cell's value. What is no number stays text.
    pub(super) fn value(&self, raw: String, style: usize) -> Value {
        let Some(number) = raw.trim().parse::<f64>().ok().filter(|number| number.is_finite()) else {
            return Value::Text(raw);
        };
        match self.styles.get(style).copied().unwrap_or(Format::Plain) {
            Format::Plain => Value::Number(plain(number)),
            // Hundredths do not multiply exactly: 0.07 * 100 is 7.000000000000001.
            Format::Percent => Value::Number(format!("{}%", plain((number * 1e9).round() / 1e7))),
            Format::Duration => Value::Date(duration(number)),
            Format::DateOrTime => {
                let days = if self.date_1904 {
                    number + DAYS_1900_TO_1904
                } else {
                    number
                };
                date(days).map_or_else(|| Value::Number(plain(number)), Value::Date)
            }
        }
    }
}

/// The shortest decimal that is this number; negative zero is zero.
fn plain(number: f64) -> String {
    if number == 0.0 {
        "0".to_owned()
    } else {
        number.to_string()
    }
}

/// Formats that every workbook has without saying so (ECMA-376 part 1, 18.8.30).
fn built_in_format(id: u32) -> Format {
    match id {
        9 | 10 => Format::Percent,
        46 => Format::Duration,
        14..=22 | 27..=36 | 45 | 47 | 50..=58 => Format::DateOrTime,
        _ => Format::Plain,
    }
}

/// A format by its code's first section: date and time letters outside of quotes, escapes and brackets.
fn custom_format(code: &str) -> Format {
    let mut found = Format::Plain;
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match c.to_ascii_lowercase() {
            ';' => break,
            '"' => {
                chars.by_ref().find(|c| *c == '"');
            }
            // A literal, a width or a filler follows.
            '\\' | '_' | '*' => {
                chars.next();
            }
            '[' => {
                let inside: String = chars.by_ref().take_while(|c| *c != ']').collect();
                let unit = inside.to_ascii_lowercase();
                if !unit.is_empty() && (unit.bytes().all(|b| matches!(b, b'h' | b'm' | b's'))) {
                    return Format::Duration;
                }
            }
            'd' | 'm' | 'y' | 'h' | 's' => return Format::DateOrTime,
            // "General" has no letter above but stands for itself.
            'g' => break,
            '%' => found = Format::Percent,
            _ => {}
        }
    }
    found
}

/// Hours, minutes and seconds.
fn duration(days: f64) -> String {
    let sign = if days < 0.0 { "-" } else { "" };
    let seconds = whole((days.abs() * SECONDS_PER_DAY).round());
    format!(
        "{sign}{}:{:02}:{:02}",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// Date and time of a day number counted from 1900, as 2025-10-13, 2025-10-13 12:59 or 12:59. None outside of the
/// range that has dates.
fn date(days: f64) -> Option<String> {
    if !(0.0..DAYS_END).contains(&days) {
        return None;
    }
    let seconds = whole((days * SECONDS_PER_DAY).round());
    let (day, seconds) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let time = if second == 0 {
        format!("{hour:02}:{minute:02}")
    } else {
        format!("{hour:02}:{minute:02}:{second:02}")
    };
    if day == 0 {
        return Some(time);
    }
    // Day 60 is a 29 February 1900 that never was; the days before it are one too high.
    let since_1900 = if day < 60 { day + 1 } else { day };
    let date = if day == 60 {
        "1900-02-29".to_owned()
    } else {
        civil(since_1900)
    };
    Some(if seconds == 0 {
        date
    } else {
        format!("{date} {time}")
    })
}

/// A non-negative whole number below 2^53 as an integer; what is larger saturates.
fn whole(number: f64) -> u64 {
    // The text of a whole float below the bound has no exponent and no fraction.
    if (0.0..9e15).contains(&number) {
        format!("{number:.0}").parse().unwrap_or(0)
    } else {
        9_000_000_000_000_000
    }
}

/// The Gregorian date of a day counted from 1899-12-30.
fn civil(day: u64) -> String {
    /// Days from 0000-03-01 to 1899-12-30.
    const OFFSET: u64 = 693_899;
    /// Days of 400 years.
    const ERA: u64 = 146_097;
    let day = day + OFFSET;
    let (era, of_era) = (day / ERA, day % ERA);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests;
