//! A table in plain text, legible in a terminal and as Markdown.

use std::fmt;

/// Rows of text under a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    #[must_use]
    pub fn new(columns: &[&str]) -> Self {
        Self {
            rows: vec![columns.iter().map(|&c| c.to_owned()).collect()],
        }
    }

    /// Whether it has no rows under its head.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.len() <= 1
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |i: usize| {
            self.rows
                .iter()
                .filter_map(|r| r.get(i))
                .map(|c| c.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (number, row) in self.rows.iter().enumerate() {
            for (cell, width) in row.iter().zip(&widths) {
                write!(f, "| {cell:>width$} ")?;
            }
            writeln!(f, "|")?;
            if number == 0 {
                for width in &widths {
                    write!(f, "|{:-<1$}:", "", width + 1)?;
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["players", "µs"]);
        table.row(vec!["50".to_owned(), "1.25".to_owned()]);
        assert!(!table.is_empty() && Table::new(&["one"]).is_empty());
        assert_eq!(
            table.to_string(),
            "| players |   µs |\n|--------:|-----:|\n|      50 | 1.25 |\n"
        );
    }
}
