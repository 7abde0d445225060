//! Writing small spreadsheets, honest ones and others.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// What a cell holds and how it is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    /// A formatted cell without content, as templates are full of.
    Empty,
    /// Text in the shared table.
    Shared(&'a str),
    /// Text in the cell.
    Inline(&'a str),
    /// A formula's text.
    Text(&'a str),
    /// A number, as the file has it.
    Number(&'a str),
    Bool(bool),
    /// A day number with a date format.
    Date(&'a str),
    Error(&'a str),
}

/// A workbook in the shape of the Kahoot template.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Book<'a> {
    pub(crate) rows: &'a [[Cell<'a>; 7]],
    pub(crate) sheet_name: &'a str,
    pub(crate) sheet_target: &'a str,
    /// Row of the header, from 1; 0 for none. Rows follow it at once.
    pub(crate) header_row: u32,
    /// Namespace prefix of all elements, with its colon.
    pub(crate) prefix: &'a str,
    /// Whether rows and cells say where they are.
    pub(crate) references: bool,
}

pub(crate) const HEADER: [&str; 7] = [
    "Question - max 120 characters",
    "Answer 1 - max 75 characters",
    "Answer 2 - max 75 characters",
    "Answer 3 - max 75 characters",
    "Answer 4 - max 75 characters",
    "Time limit (sec) – 5, 10, 20, 30, 60, 90, 120, or 240 secs",
    "Correct answer(s) - choose at least one",
];

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\r', "_x000D_")
}

impl<'a> Book<'a> {
    /// The template: a title, instructions, the header in row 8, and columns from B on.
    pub(crate) fn template(rows: &'a [[Cell<'a>; 7]]) -> Self {
        Self {
            rows,
            sheet_name: "Sheet1",
            sheet_target: "worksheets/sheet1.xml",
            header_row: 8,
            prefix: "",
            references: true,
        }
    }

    /// The file.
    pub(crate) fn zip(&self) -> Vec<u8> {
        let parts = self.parts();
        let parts: Vec<(&str, &[u8])> = parts
            .iter()
            .map(|(path, part)| (*path, part.as_bytes()))
            .collect();
        zip(&parts)
    }

    /// The parts that matter, by path.
    pub(crate) fn parts(&self) -> Vec<(&'static str, String)> {
        let mut shared = Vec::new();
        let sheet = self.sheet(&mut shared);
        let p = self.prefix;
        let items: String = shared
            .iter()
            .map(|text| {
                format!(
                    "<{p}si><{p}t xml:space=\"preserve\">{}</{p}t></{p}si>",
                    escape(text)
                )
            })
            .collect();
        let target = self.sheet_target;
        let rels = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        vec![
            (
                "xl/workbook.xml",
                format!(
                    "<?xml version=\"1.0\"?><{p}workbook xmlns:r=\"{rels}\"><{p}sheets><{p}sheet name=\"{}\" \
                     sheetId=\"1\" r:id=\"rId7\"/></{p}sheets></{p}workbook>",
                    escape(self.sheet_name)
                ),
            ),
            (
                "xl/_rels/workbook.xml.rels",
                format!(
                    "<Relationships><Relationship Id=\"rId7\" Type=\"{rels}/worksheet\" Target=\"{target}\"/>\
                     <Relationship Id=\"rId8\" Type=\"{rels}/sharedStrings\" Target=\"sharedStrings.xml\"/>\
                     <Relationship Id=\"rId9\" Type=\"{rels}/styles\" Target=\"styles.xml\"/></Relationships>"
                ),
            ),
            ("xl/sharedStrings.xml", format!("<{p}sst>{items}</{p}sst>")),
            (
                "xl/styles.xml",
                format!(
                    "<{p}styleSheet><{p}cellXfs><{p}xf numFmtId=\"0\"/><{p}xf numFmtId=\"14\"/></{p}cellXfs></{p}styleSheet>"
                ),
            ),
            ("xl/worksheets/sheet1.xml", sheet),
        ]
    }

    fn sheet(&self, shared: &mut Vec<String>) -> String {
        let p = self.prefix;
        let empty = [Cell::Empty; 7];
        let header = HEADER.map(Cell::Shared);
        let mut title = empty;
        title[0] = Cell::Shared("Quiz template");
        let mut rows = vec![title];
        rows.extend((1..self.header_row.saturating_sub(1)).map(|_| empty));
        if self.header_row > 0 {
            rows.push(header);
        }
        rows.extend(self.rows.iter().copied());
        let mut xml = format!("<{p}worksheet><{p}dimension ref=\"A1:H9\"/><{p}sheetData>");
        for (number, row) in (1_u32..).zip(&rows) {
            xml += &if self.references {
                format!("<{p}row r=\"{number}\">")
            } else {
                format!("<{p}row>")
            };
            // The first column holds the template's own numbering.
            let numbering = Cell::Number("1");
            for (letter, cell) in ('A'..).zip(std::iter::once(&numbering).chain(row)) {
                let reference = if self.references {
                    format!(" r=\"{letter}{number}\"")
                } else {
                    String::new()
                };
                xml += &self.cell(&reference, *cell, shared);
            }
            xml += &format!("</{p}row>");
        }
        xml + &format!("</{p}sheetData></{p}worksheet>")
    }

    fn cell(&self, r: &str, cell: Cell<'_>, shared: &mut Vec<String>) -> String {
        let p = self.prefix;
        let value = |attributes: &str, text: &str| format!("<{p}c{r}{attributes}><{p}v>{text}</{p}v></{p}c>");
        match cell {
            Cell::Empty => format!("<{p}c{r} s=\"0\"/>"),
            Cell::Shared(text) => {
                shared.push(text.to_owned());
                value(" t=\"s\"", &(shared.len() - 1).to_string())
            }
            Cell::Inline(text) => {
                format!(
                    "<{p}c{r} t=\"inlineStr\"><{p}is><{p}t>{}</{p}t></{p}is></{p}c>",
                    escape(text)
                )
            }
            Cell::Text(text) => format!(
                "<{p}c{r} t=\"str\"><{p}f>A1&amp;\"x\"</{p}f><{p}v>{}</{p}v></{p}c>",
                escape(text)
            ),
            Cell::Number(text) => value("", text),
            Cell::Bool(truth) => value(" t=\"b\"", if truth { "1" } else { "0" }),
            Cell::Date(text) => value(" s=\"1\"", text),
            Cell::Error(text) => value(" t=\"e\"", text),
        }
    }
}

/// A zip archive of these parts.
pub(crate) fn zip(parts: &[(&str, &[u8])]) -> Vec<u8> {
    // Deflate without optimisation is slow, so only what is small is compressed.
    const COMPRESSED_BYTES_MAX: usize = 64 * 1024;
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, part) in parts {
        let small = part.len() <= COMPRESSED_BYTES_MAX;
        let method = if small {
            CompressionMethod::Deflated
        } else {
            CompressionMethod::Stored
        };
        let options = SimpleFileOptions::default().compression_method(method);
        writer.start_file(*path, options).unwrap();
        writer.write_all(part).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// An archive with one entry of `head`, then `unit` for at least `bytes` bytes, that says it inflates to
/// `declared_bytes`. Made by hand: compressing that much takes a test longer than refusing it. The checksum is wrong,
/// so it must not be read to its end.
pub(crate) fn bomb(path: &str, head: &str, unit: &str, bytes: usize, declared_bytes: u32) -> Vec<u8> {
    let data = deflated(head, unit, bytes);
    let size = u32::try_from(data.len()).unwrap();
    // Version, flags, method, time, date, checksum, sizes: what both headers of an entry share.
    let mut common = vec![20, 0, 0, 0, 8, 0, 0, 0, 0x21, 0, 1, 2, 3, 4];
    common.extend(size.to_le_bytes());
    common.extend(declared_bytes.to_le_bytes());
    common.extend(u16::try_from(path.len()).unwrap().to_le_bytes());
    common.extend([0, 0]);
    let local = [b"PK\x03\x04", common.as_slice(), path.as_bytes(), &data].concat();
    let entry = [b"PK\x01\x02\x14\0", common.as_slice(), &[0; 14], path.as_bytes()].concat();
    let mut end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    end.extend(u32::try_from(entry.len()).unwrap().to_le_bytes());
    end.extend(u32::try_from(local.len()).unwrap().to_le_bytes());
    end.extend([0, 0]);
    [local, entry, end].concat()
}

/// One deflate block (RFC 1951) with fixed codes: literals, then matches of the longest length.
fn deflated(head: &str, unit: &str, bytes: usize) -> Vec<u8> {
    const MATCH_BYTES: usize = 258;
    let mut bits = Bits::default();
    bits.push(0b011, 3);
    for byte in head.bytes().chain(unit.bytes()) {
        let byte = u32::from(byte);
        bits.push_code(
            if byte < 144 {
                0x30 + byte
            } else {
                0x190 + byte - 144
            },
            if byte < 144 { 8 } else { 9 },
        );
    }
    let distance = u32::try_from(unit.len()).unwrap();
    // Distances of 1 to 4 have a code of their own, 5 to 8 share two with an extra bit.
    let (code, extra_bits, extra) = match distance {
        1..=4 => (distance - 1, 0, 0),
        5..=6 => (4, 1, distance - 5),
        7..=8 => (5, 1, distance - 7),
        _ => panic!("a unit of {distance} bytes"),
    };
    for _ in 0..bytes / MATCH_BYTES + 1 {
        bits.push_code(0xC0 + 285 - 280, 8);
        bits.push_code(code, 5);
        bits.push(extra, extra_bits);
    }
    bits.push_code(0, 7);
    bits.bytes
}

/// Bits, the first one lowest in its byte.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn push(&mut self, value: u32, len: u32) {
        for bit in 0..len {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if value >> bit & 1 == 1 {
                *self.bytes.last_mut().unwrap() |= 1 << (self.used % 8);
            }
            self.used += 1;
        }
    }

    /// A Huffman code, whose highest bit comes first.
    fn push_code(&mut self, code: u32, len: u32) {
        self.push(code.reverse_bits() >> (32 - len), len);
    }
}

/// Joins archives of one entry each: the entries of all, in one directory.
pub(crate) fn join(archives: &[Vec<u8>]) -> Vec<u8> {
    let (mut locals, mut directory, mut count) = (Vec::new(), Vec::new(), 0_u16);
    for archive in archives {
        let end = archive
            .windows(4)
            .rposition(|window| window == b"PK\x05\x06")
            .unwrap();
        let number = |at: usize| u32::from_le_bytes(archive[end + at..end + at + 4].try_into().unwrap());
        let start = usize::try_from(number(16)).unwrap();
        let mut entry = archive[start..end].to_vec();
        // Where the entry's data begins in the joined archive.
        entry[42..46].copy_from_slice(&u32::try_from(locals.len()).unwrap().to_le_bytes());
        locals.extend(&archive[..start]);
        directory.extend(entry);
        count += 1;
    }
    let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
    end.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    end.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    end.extend(u32::try_from(locals.len()).unwrap().to_le_bytes());
    end.extend([0, 0]);
    [locals, directory, end].concat()
}
