//! Records as Markdown: verdict before any number, then the hardware, then the figures; a baseline beside them.

use std::fmt;

use super::check::{Check, CheckKind};
use super::judgement::Judgement;
use super::record::Record;
use super::store;
use super::table::Table;
use crate::measure::Quantiles;
use crate::sys::real;
use crate::verdict::Word;

/// A report of several records.
#[derive(Debug)]
pub struct Report<'a> {
    /// What is reported, one section each.
    pub records: &'a [Record],
    /// What it is compared with; a record finds the one of its scenario.
    pub baselines: &'a [Record],
}

impl Report<'_> {
    /// The record that `record` is compared with: the first that may be used, else why the first of its scenario may not.
    fn baseline(&self, record: &Record) -> Option<Result<&Record, String>> {
        let mut why = None;
        for base in self.baselines.iter().filter(|b| b.scenario == record.scenario) {
            match objection(base, record) {
                None => return Some(Ok(base)),
                Some(found) => why = why.or(Some(found)),
            }
        }
        let nothing = || format!("there is none of {}", record.scenario);
        (!self.baselines.is_empty()).then(|| Err(why.unwrap_or_else(nothing)))
    }
}

/// Why `record` may not be compared with `base`.
fn objection(base: &Record, record: &Record) -> Option<String> {
    if Judgement::of(base).verdict.word == Word::Invalid {
        return Some("it is INVALID".to_owned());
    }
    if !base.is_whole() {
        return Some("it is a part of a run".to_owned());
    }
    if !record.is_whole() {
        return Some("this is a part of a run".to_owned());
    }
    if base.hardware != record.hardware {
        return Some(format!("it was measured on {}", base.hardware));
    }
    if base.plan.hash != record.plan.hash {
        return Some(format!("it had the plan {}", base.plan.hash));
    }
    None
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, record) in self.records.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            let judgement = Judgement::of(record);
            write_head(f, record, &judgement)?;
            let base = match self.baseline(record) {
                None => None,
                Some(Ok(base)) => Some(base),
                Some(Err(why)) => {
                    writeln!(f, "Not compared with the baseline: {why}.\n")?;
                    None
                }
            };
            write_checks(f, record, &judgement)?;
            write_times(f, record, base)?;
            write_counts(f, record, base)?;
            write_resources(f, record, base)?;
            write_store(f, record)?;
            write_generators(f, record)?;
        }
        Ok(())
    }
}

fn write_head(f: &mut fmt::Formatter<'_>, record: &Record, judgement: &Judgement) -> fmt::Result {
    let plan = &record.plan;
    writeln!(f, "## {}: {}\n", record.scenario, judgement.verdict.word)?;
    for reason in &judgement.verdict.reasons {
        writeln!(f, "* {reason}")?;
    }
    if !judgement.verdict.reasons.is_empty() {
        writeln!(f)?;
    }
    writeln!(f, "{}.\n", judgement.conclusion())?;
    writeln!(f, "Hardware: {}.", record.hardware)?;
    let students: u64 = plan.sizes.iter().map(|&size| u64::from(size)).sum();
    writeln!(
        f,
        "Plan {}: seed {}, pace {}, {} classes with {students} players, {} questions; {} of {} segments, {} s.\n",
        plan.hash,
        plan.seed,
        plan.pace,
        plan.sizes.len(),
        plan.questions,
        record.segments.len(),
        record.segments_of,
        record.ended_unix_ms.saturating_sub(record.begun_unix_ms) / 1_000
    )
}

/// A section with a table, if the table has rows.
fn section(f: &mut fmt::Formatter<'_>, title: &str, table: &Table) -> fmt::Result {
    if table.is_empty() {
        return Ok(());
    }
    writeln!(f, "### {title}\n\n{table}")
}

fn write_checks(f: &mut fmt::Formatter<'_>, record: &Record, judgement: &Judgement) -> fmt::Result {
    let mut table = Table::new(&["threshold", "measured", "at most", "unit", "result"]);
    let is_plain = |check: &&Check| check.kind == CheckKind::Correctness && check.met;
    let zeros = judgement.checks.iter().filter(is_plain).count();
    for check in judgement.checks.iter().filter(|check| !is_plain(check)) {
        table.row(vec![
            check.name.clone(),
            check.measured.map_or_else(|| "not measured".to_owned(), number),
            check.limit.to_string(),
            check.unit.clone(),
            check.word().to_owned(),
        ]);
    }
    section(f, "Thresholds", &table)?;
    if record.is_whole() {
        writeln!(f, "{zeros} figures that must be 0 are 0.\n")?;
    }
    for example in &record.measured.fault_examples {
        writeln!(f, "* seen: {example}")?;
    }
    if !record.measured.fault_examples.is_empty() {
        writeln!(f)?;
    }
    Ok(())
}

fn write_times(f: &mut fmt::Formatter<'_>, record: &Record, base: Option<&Record>) -> fmt::Result {
    let mut columns = vec!["times", "phase", "count", "p50 ms", "p95 ms", "p99 ms", "max ms"];
    if base.is_some() {
        columns.extend(["base p50 ms", "base p95 ms", "base p99 ms"]);
    }
    let mut table = Table::new(&columns);
    for (name, phases) in &record.measured.times {
        for (phase, times) in phases {
            let Quantiles {
                count,
                p50_ms,
                p95_ms,
                p99_ms,
                max_ms,
            } = times.quantiles();
            let mut row = vec![name.clone(), phase.clone(), count.to_string()];
            row.extend([p50_ms, p95_ms, p99_ms, max_ms].map(number));
            if let Some(base) = base {
                let theirs = base.measured.times.get(name).and_then(|phases| phases.get(phase));
                let cells = theirs.map(|t| t.quantiles());
                row.extend(cells.map_or_else(
                    || ["–"; 3].map(str::to_owned),
                    |q| [q.p50_ms, q.p95_ms, q.p99_ms].map(number),
                ));
            }
            table.row(row);
        }
    }
    section(f, "Times", &table)
}

fn write_counts(f: &mut fmt::Formatter<'_>, record: &Record, base: Option<&Record>) -> fmt::Result {
    let mut columns = vec!["count", "value"];
    columns.extend(base.map(|_| "base"));
    let mut table = Table::new(&columns);
    let of = |record: &Record| -> Vec<(String, String)> {
        let m = &record.measured;
        let named =
            |prefix: &str, counts: &std::collections::BTreeMap<String, u64>| -> Vec<(String, String)> {
                counts
                    .iter()
                    .map(|(name, n)| (format!("{prefix}{name}"), n.to_string()))
                    .collect()
            };
        let mut all = named("", &m.counts);
        all.extend(named("answers: ", &m.ledger));
        all.extend(named("faults: ", &m.faults));
        all.extend(m.peaks.iter().map(|(name, &value)| (name.clone(), number(value))));
        all
    };
    let base = base.map(of);
    for (name, value) in of(record) {
        let theirs = base.as_ref().map(|base| {
            let found = base.iter().find(|(other, _)| *other == name);
            found.map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
        });
        let mut row = vec![name, value];
        row.extend(theirs);
        table.row(row);
    }
    section(f, "Counts", &table)
}

fn write_resources(f: &mut fmt::Formatter<'_>, record: &Record, base: Option<&Record>) -> fmt::Result {
    let mut columns = vec!["process", "seconds", "cores", "RSS max KiB", "descriptors max"];
    if base.is_some() {
        columns.extend(["base cores", "base RSS max KiB"]);
    }
    let mut table = Table::new(&columns);
    for (name, summary) in record.measured.resources.summaries() {
        let mut row = vec![
            name.to_owned(),
            summary.seconds.to_string(),
            number(summary.cores),
            summary.rss_kib_max.to_string(),
            summary.descriptors_max.to_string(),
        ];
        if let Some(base) = base {
            let theirs = base
                .measured
                .resources
                .summaries()
                .find(|(other, _)| *other == name);
            row.extend(theirs.map_or_else(
                || ["–"; 2].map(str::to_owned),
                |(_, s)| [number(s.cores), s.rss_kib_max.to_string()],
            ));
        }
        table.row(row);
    }
    section(f, "Resources", &table)
}

fn write_store(f: &mut fmt::Formatter<'_>, record: &Record) -> fmt::Result {
    let lines = store::lines(&record.measured);
    for line in &lines {
        writeln!(f, "* {line}")?;
    }
    if lines.is_empty() { Ok(()) } else { writeln!(f) }
}

fn write_generators(f: &mut fmt::Formatter<'_>, record: &Record) -> fmt::Result {
    let mut table = Table::new(&[
        "segment",
        "late p99 ms",
        "woken late p99 ms",
        "waited for a core %",
        "strangers on its cores %",
        "throttled",
        "stolen %",
        "kernel stamps %",
    ]);
    for (segment, part) in &record.segments {
        let (own, machine) = (&part.readings.own, &part.readings.machine);
        table.row(vec![
            segment.to_string(),
            number(own.lateness.percentile_ms(99.0)),
            number(machine.wake.percentile_ms(99.0)),
            number(machine.waiting_share() * 100.0),
            number(real(machine.stranger_ticks) / real(machine.core_ticks.max(1)) * 100.0),
            machine.throttled_periods.to_string(),
            number(real(machine.stolen_ticks) / real(machine.ticks.max(1)) * 100.0),
            own.stamped_share()
                .map_or_else(|| "–".to_owned(), |share| number(share * 100.0)),
        ]);
    }
    section(f, "Generators", &table)
}

/// A figure with as many decimals as it deserves.
fn number(value: f64) -> String {
    if value.abs() >= 1_000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::samples;
    use crate::report::Figure;

    fn report(records: &[Record], baselines: &[Record]) -> String {
        Report { records, baselines }.to_string()
    }

    fn measured() -> Record {
        let mut record = samples::record(1, 1);
        record
            .measured
            .times("fan_out", "hold", &samples::times(&[1_000, 2_000, 9_000]));
        record.measured.count("joined", 30);
        let figure = Figure::Count {
            name: "joined".to_owned(),
        };
        record.measured.bar("joined", figure, 29.0, "");
        record
    }

    #[test]
    fn the_verdict_stands_before_any_number() {
        let mut spoiled = measured();
        if let Some(segment) = spoiled.segments.get_mut(&1) {
            segment.readings.own.no_port = 4;
        }
        let text = report(&[spoiled], &[]);
        assert!(
            text.starts_with("## ramp: INVALID\n\n* INVALID: 4 connects failed"),
            "{text}"
        );
        for part in [
            "Hardware: ",
            "### Times",
            "| fan_out |",
            "### Thresholds",
            "FAILED",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn a_baseline_stands_beside_and_an_unlike_one_does_not() {
        let (now, mut base) = (measured(), measured());
        base.measured.count("joined", 7);
        assert!(report(std::slice::from_ref(&now), std::slice::from_ref(&base)).contains("base p95 ms"));
        let same = base.clone();
        base.hardware.cores += 1;
        let text = report(std::slice::from_ref(&now), &[base.clone(), same.clone()]);
        assert!(text.contains("base p95"), "the second one may be used: {text}");
        let text = report(std::slice::from_ref(&now), &[base]);
        assert!(
            text.contains("Not compared with the baseline: it was measured on") && !text.contains("base p95"),
            "{text}"
        );
        let mut half = same.clone();
        half.segments_of = 2;
        let text = report(std::slice::from_ref(&now), &[half]);
        assert!(
            text.contains("baseline: it is a part of a run") && !text.contains("base p95"),
            "{text}"
        );
        let idle = Record {
            scenario: "idle".to_owned(),
            ..same
        };
        assert!(report(&[now], &[idle]).contains("baseline: there is none of ramp"));
    }
}
