//! A stream of XML events, reduced to what spreadsheet parts need and counted against the package's budget.

use std::borrow::Cow;
use std::io::{BufReader, Read};

use quick_xml::escape::{resolve_xml_entity, unescape};
use quick_xml::events::{self, BytesRef, BytesStart};

use super::package::Budget;
use crate::import::ImportError;

/// The elements that matter, by local name: prefixes differ between writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Cell,
    CellFormats,
    Format,
    NumberFormat,
    PhoneticRun,
    Relationship,
    Row,
    Sheet,
    SheetData,
    SharedItem,
    Text,
    Value,
    WorkbookProperties,
    Other,
}

impl Name {
    fn of(local: &str) -> Self {
        match local {
            "c" => Self::Cell,
            "cellXfs" => Self::CellFormats,
            "xf" => Self::Format,
            "numFmt" => Self::NumberFormat,
            "rPh" => Self::PhoneticRun,
            "Relationship" => Self::Relationship,
            "row" => Self::Row,
            "sheet" => Self::Sheet,
            "sheetData" => Self::SheetData,
            "si" => Self::SharedItem,
            "t" => Self::Text,
            "v" => Self::Value,
            "workbookPr" => Self::WorkbookProperties,
            _ => Self::Other,
        }
    }
}

/// An event. An empty element comes as start and end.
pub(super) enum Event<'x> {
    Start(Name, Element<'x>),
    End(Name),
    Text(Cow<'x, str>),
    Eof,
}

/// An element's attributes.
pub(super) struct Element<'x>(BytesStart<'x>);

impl Element<'_> {
    /// The attribute of that local name, its references resolved. None when it is missing or malformed.
    pub(super) fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        // The check for duplicates takes quadratic time.
        let mut attributes = self.0.attributes();
        let found = attributes
            .with_checks(false)
            .flatten()
            .find(|a| a.key.local_name().as_ref() == name)?;
        match found.value {
            Cow::Borrowed(raw) => unescape(raw).ok(),
            Cow::Owned(raw) => unescape(&raw).ok().map(|value| Cow::Owned(value.into_owned())),
        }
    }
}

/// Reads one part.
pub(super) struct Xml<'p> {
    reader: quick_xml::Reader<BufReader<Box<dyn Read + 'p>>>,
    budget: &'p Budget,
    buffer: Vec<u8>,
    depth: usize,
}

impl<'p> Xml<'p> {
    pub(super) fn new(part: Box<dyn Read + 'p>, budget: &'p Budget) -> Self {
        let mut reader = quick_xml::Reader::from_reader(BufReader::new(part));
        reader.config_mut().expand_empty_elements = true;
        Self {
            reader,
            budget,
            buffer: Vec::new(),
            depth: 0,
        }
    }

    /// What may still be read and handed out.
    pub(super) fn budget(&self) -> &'p Budget {
        self.budget
    }

    /// The next event.
    ///
    /// # Errors
    /// When the part is damaged, cut off, or the budget is spent.
    pub(super) fn next(&mut self) -> Result<Event<'_>, ImportError> {
        // A loop would be natural, but the borrow of the buffer would outlive its turn: a skipped event comes as
        // an empty text instead.
        self.budget.spend_event()?;
        self.buffer.clear();
        let event = match self.reader.read_event_into(&mut self.buffer) {
            Ok(event) => event,
            Err(_) if self.budget.exceeded() => return Err(ImportError::TooLargeInside),
            Err(error) => return Err(ImportError::corrupt(error)),
        };
        Ok(match event {
            events::Event::Start(start) | events::Event::Empty(start) => {
                self.depth += 1;
                Event::Start(Name::of(start.local_name().as_ref()), Element(start))
            }
            events::Event::End(end) => {
                self.depth = self.depth.saturating_sub(1);
                Event::End(Name::of(end.local_name().as_ref()))
            }
            events::Event::Text(text) => Event::Text(text.xml10_content()),
            events::Event::CData(data) => Event::Text(data.xml10_content()),
            events::Event::GeneralRef(reference) => Event::Text(resolve(&reference)),
            events::Event::Eof if self.depth > 0 => return Err(ImportError::corrupt("a part is cut off")),
            events::Event::Eof => Event::Eof,
            events::Event::Comment(_)
            | events::Event::Decl(_)
            | events::Event::PI(_)
            | events::Event::DocType(_) => Event::Text(Cow::Borrowed("")),
        })
    }
}

/// A reference in a text. Entities that a document defines itself are never expanded: they stay as written.
fn resolve(reference: &BytesRef<'_>) -> Cow<'static, str> {
    let name = reference.xml10_content();
    match (reference.resolve_char_ref(), resolve_xml_entity(&name)) {
        (Ok(Some(c)), _) => Cow::Owned(c.to_string()),
        (_, Some(text)) => Cow::Borrowed(text),
        _ => Cow::Owned(format!("&{name};")),
    }
}

/// A link from the workbook to another part.
pub(super) struct Relationship {
    /// What the workbook calls it.
    pub(super) id: String,
    /// Last part of its type's address: `worksheet`, `styles`.
    pub(super) kind: String,
    /// Path in the package.
    pub(super) path: String,
}

/// Reads the workbook's links.
///
/// # Errors
/// As [`Xml::next`].
pub(super) fn relationships(part: &mut Xml<'_>) -> Result<Vec<Relationship>, ImportError> {
    /// A workbook links to its sheets and some ten other parts.
    const RELATIONSHIPS_MAX: usize = 2_000;
    let mut links = Vec::new();
    loop {
        match part.next()? {
            Event::Start(Name::Relationship, element) if links.len() < RELATIONSHIPS_MAX => {
                let attribute = |name| element.attribute(name).unwrap_or_default();
                let kind = attribute("Type");
                let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                let target = attribute("Target");
                let path = target
                    .strip_prefix('/')
                    .map_or_else(|| relative(&target), str::to_owned);
                links.push(Relationship {
                    id: attribute("Id").into_owned(),
                    kind,
                    path,
                });
            }
            Event::Start(..) | Event::End(_) | Event::Text(_) => {}
            Event::Eof => return Ok(links),
        }
    }
}

/// A target relative to the workbook's folder.
fn relative(target: &str) -> String {
    let target = target.strip_prefix("./").unwrap_or(target);
    target
        .strip_prefix("../")
        .map_or_else(|| format!("xl/{target}"), str::to_owned)
}
