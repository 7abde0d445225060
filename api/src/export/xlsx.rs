//! Tables as a workbook. Every text is written as a text, so that none is a formula, whatever it begins with.

use rust_xlsxwriter::{Format, Workbook, XlsxError};

use super::results::{Cell, Table};

/// Writes the workbook, one sheet a table.
///
/// # Errors
/// When a bound of the format is broken, which a result's bounds do not allow.
pub(super) fn write(tables: &[Table]) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    let bold = Format::new().set_bold();
    for table in tables {
        let sheet = workbook.add_worksheet();
        sheet.set_name(table.name)?;
        sheet.set_freeze_panes(1, 0)?;
        for (name, column) in table.header.iter().zip(0..) {
            sheet.write_string_with_format(0, column, name, &bold)?;
        }
        for (row, number) in table.rows.iter().zip(1..) {
            for (cell, column) in row.iter().zip(0..) {
                match cell {
                    Cell::Text(text) => sheet.write_string(number, column, text)?,
                    Cell::Number(value) => sheet.write_number(number, column, *value)?,
                    Cell::Empty => continue,
                };
            }
        }
    }
    workbook.save_to_buffer()
}
