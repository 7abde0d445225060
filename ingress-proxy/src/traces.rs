//! Trace context (W3C, `traceparent`): every request that a server sees carries a trace's id, and so does its line in the
//! access log. The proxy exports no spans, so a good id goes on as it came and its parent stays the client's.
//!
//! An id harms nobody, so it is taken from everybody. That a trace be recorded costs something, so only a trusted proxy in
//! front may ask for it (the flag `sampled`, and `tracestate`).

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue};

pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
/// Bytes of `00-TRACE-PARENT-FLAGS`: 2, 32, 16 and 2 hex digits and three hyphens.
const LENGTH: usize = 55;
/// Bytes of all `tracestate` lines that are passed on: what everybody must be able to (W3C, 3.3.1.5).
const STATE_BYTES_MAX: usize = 512;
/// The flag that asks for recording.
const SAMPLED: u8 = 1;

/// Makes ids for requests that come without one. The standard library draws its keys from the system's randomness, and keyed
/// SipHash of a counter is as good as chance to whoever does not know them.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    keys: RandomState,
    made: AtomicU64,
}

impl Traces {
    /// Leaves exactly one good `traceparent`: the client's, or a new one.
    pub(crate) fn adopt(&self, headers: &mut HeaderMap, is_trusted: bool) {
        let mut all = headers.get_all(TRACEPARENT).iter();
        let given = match (all.next(), all.next()) {
            (Some(one), None) => Parent::read(one.as_bytes()),
            (None, _) | (Some(_), Some(_)) => None,
        };
        let kept = if is_trusted { SAMPLED } else { 0 };
        let given = given.map(|parent| parent.text(kept));
        let state_bytes: usize = headers.get_all(TRACESTATE).iter().map(HeaderValue::len).sum();
        // The state belongs to the trace, and goes with it.
        if given.is_none() || !is_trusted || state_bytes > STATE_BYTES_MAX {
            headers.remove(TRACESTATE);
        }
        if let Ok(value) = HeaderValue::try_from(given.unwrap_or_else(|| self.create())) {
            headers.insert(TRACEPARENT, value);
        }
    }

    fn create(&self) -> String {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let [high, low, parent] = [0_u8, 1, 2].map(|part| {
            let id = self.keys.hash_one((number, part));
            // All zeros would be no id.
            if id == 0 { 1 } else { id }
        });
        format!("00-{high:016x}{low:016x}-{parent:016x}-00")
    }
}

/// The trace's id, for the log.
pub(crate) fn id(headers: &HeaderMap) -> String {
    let parent = headers.get(TRACEPARENT).and_then(|value| value.to_str().ok());
    parent
        .and_then(|parent| parent.get(3..35))
        .unwrap_or_default()
        .to_owned()
}

/// A good `traceparent`.
#[derive(Debug, PartialEq, Eq)]
struct Parent<'a> {
    trace: &'a str,
    parent: &'a str,
    flags: u8,
}

impl<'a> Parent<'a> {
    /// Version 0, and as much of a later one as it shares with that (W3C, 3.2.4).
    fn read(value: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(value).ok()?;
        let known = text.get(..LENGTH)?;
        let mut fields = known.split('-');
        let mut field = |digits: usize| {
            let field = fields.next()?;
            let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
            (field.len() == digits && field.bytes().all(is_hex)).then_some(field)
        };
        let (version, trace, parent, flags) = (field(2)?, field(32)?, field(16)?, field(2)?);
        let rest = text.get(LENGTH..).unwrap_or_default();
        let fits = match version {
            "ff" => false,
            "00" => rest.is_empty(),
            _ => rest.is_empty() || rest.starts_with('-'),
        };
        let is_id = |id: &str| id.bytes().any(|b| b != b'0');
        (fits && is_id(trace) && is_id(parent)).then_some(Self {
            trace,
            parent,
            flags: u8::from_str_radix(flags, 16).ok()?,
        })
    }

    /// In version 0, with those of its flags that are in `kept`.
    fn text(&self, kept: u8) -> String {
        format!("00-{}-{}-{:02x}", self.trace, self.parent, self.flags & kept)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    fn adopted(parents: &[&str], states: &[&str], is_trusted: bool) -> (String, Vec<String>) {
        let mut headers = HeaderMap::new();
        for (name, values) in [(TRACEPARENT, parents), (TRACESTATE, states)] {
            for value in values {
                headers.append(name.clone(), value.parse().unwrap());
            }
        }
        Traces::default().adopt(&mut headers, is_trusted);
        let texts = |name| {
            headers
                .get_all(name)
                .iter()
                .map(|v| v.to_str().unwrap().to_owned())
        };
        let parents: Vec<String> = texts(TRACEPARENT).collect();
        assert_eq!(parents.len(), 1);
        assert!(Parent::read(parents[0].as_bytes()).is_some(), "{parents:?}");
        assert_eq!(id(&headers), parents[0][3..35]);
        (parents[0].clone(), texts(TRACESTATE).collect())
    }

    #[test]
    fn a_good_id_goes_on_and_only_trusted_ones_ask_for_recording() {
        for (given, trusted, anybodys) in [
            (format!("00-{TRACE}-{PARENT}-01"), "01", "00"),
            (format!("00-{TRACE}-{PARENT}-00"), "00", "00"),
            (format!("00-{TRACE}-{PARENT}-ff"), "01", "00"),
            // Later versions, of which nothing is known but these fields.
            (format!("01-{TRACE}-{PARENT}-01"), "01", "00"),
            (format!("fe-{TRACE}-{PARENT}-01-more"), "01", "00"),
        ] {
            for (is_trusted, flags) in [(true, trusted), (false, anybodys)] {
                let (parent, states) = adopted(&[&given], &["a=1", "b=2"], is_trusted);
                assert_eq!(parent, format!("00-{TRACE}-{PARENT}-{flags}"), "{given}");
                assert_eq!(states.is_empty(), !is_trusted);
            }
        }
        let long = "a=1,".repeat(STATE_BYTES_MAX / 4 + 1);
        let given = format!("00-{TRACE}-{PARENT}-01");
        assert!(adopted(&[&given], &[&long], true).1.is_empty());
    }

    #[test]
    fn whatever_is_no_id_is_replaced_with_its_state() {
        let good = format!("00-{TRACE}-{PARENT}-01");
        for given in [
            vec![],
            vec![good.as_str(), good.as_str()],
            vec![""],
            vec!["00"],
            vec![&good[..54]],
            vec![&format!("{good}-")],
            vec![&format!("{good} ")[..55], "x"],
            vec![&good.to_uppercase()],
            vec![&good.replacen("00-", "ff-", 1)],
            vec![&good.replacen("00-", "0g-", 1)],
            vec![&good.replacen('-', "_", 1)],
            vec![&format!("01-{TRACE}-{PARENT}-01x")],
            vec![&format!("00-{}-{PARENT}-01", "0".repeat(32))],
            vec![&format!("00-{TRACE}-{}-01", "0".repeat(16))],
            vec![&format!("00-{TRACE}{PARENT}-----01")],
        ] {
            let (parent, states) = adopted(&given, &["a=1"], true);
            assert!(!parent.contains(TRACE), "{given:?}: {parent}");
            assert!(states.is_empty(), "{given:?}");
        }
    }

    #[test]
    fn no_two_are_alike() {
        let (traces, others) = (Traces::default(), Traces::default());
        let made: BTreeSet<String> = (0..1_000)
            .flat_map(|_| [traces.create(), others.create()])
            .collect();
        assert_eq!(made.len(), 2_000);
    }
}
