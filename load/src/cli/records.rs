//! `load merge` and `load report`: what is done with records afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::Failure;
use crate::merge;
use crate::report::{Console, Judgement, ReadError, Record, Report, Table};

/// Name of the report's file.
const REPORT_NAME: &str = "report.md";

#[derive(Debug, Args)]
pub(super) struct MergeArgs {
    /// Directories with the results.json of segments, in any order.
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Directory for the merged results.json.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Directories with a results.json each.
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Directory with a results.json to compare with; may be repeated.
    #[arg(long, value_name = "DIR")]
    baseline: Vec<PathBuf>,
    /// Where the report is written, too. [default: report.md in the first DIR]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Merges segments and judges them; whether they passed.
pub(super) fn merge(args: &MergeArgs, console: &mut Console) -> Result<bool, Failure> {
    if let Some(dir) = args
        .out
        .as_ref()
        .filter(|out| args.dirs.iter().any(|dir| is_same(dir, out)))
    {
        let why = format!(
            "--out {} is one of the segments, which it would replace",
            dir.display()
        );
        return Err(Failure::configuration(anyhow::anyhow!(why)));
    }
    let record = merge::all(read(&args.dirs)?).map_err(Failure::configuration)?;
    let judgement = Judgement::of(&record);
    judgement.print(&record, &times(&record), console);
    if let Some(dir) = &args.out {
        let written = record
            .write(dir)
            .with_context(|| format!("--out {}", dir.display()));
        let path = written.map_err(Failure::unavailable)?;
        console.line(&format!("written to {}", path.display()));
    }
    let missing: Vec<String> = record.missing().map(|number| number.to_string()).collect();
    if !missing.is_empty() {
        // Whoever goes on only after 0 has to know that nothing was judged yet.
        console.complain(&format!(
            "not judged: segments {} of {} are missing",
            missing.join(", "),
            record.segments_of
        ));
        return Ok(false);
    }
    Ok(judgement.is_good())
}

fn is_same(one: &Path, other: &Path) -> bool {
    let (one, other) = (one.canonicalize(), other.canonicalize());
    one.is_ok_and(|one| other.is_ok_and(|other| one == other))
}

/// Prints and writes a report. Reporting a failed run is no failure.
pub(super) fn report(args: &ReportArgs, console: &mut Console) -> Result<bool, Failure> {
    let (records, baselines) = (read(&args.dirs)?, read(&args.baseline)?);
    let report = Report {
        records: &records,
        baselines: &baselines,
    };
    let text = report.to_string();
    console.line(text.trim_end());
    let beside = || {
        args.dirs
            .first()
            .filter(|dir| dir.is_dir())
            .map(|dir| dir.join(REPORT_NAME))
    };
    if let Some(path) = args.out.clone().or_else(beside) {
        fs::write(&path, &text).map_err(Failure::unavailable)?;
        console.progress(&format!("written to {}", path.display()));
    }
    Ok(true)
}

fn read(dirs: &[PathBuf]) -> Result<Vec<Record>, Failure> {
    let records = dirs.iter().map(|dir| Record::read(dir));
    records
        .collect::<Result<_, ReadError>>()
        .map_err(Failure::configuration)
}

/// The times of a record as a table for a terminal.
fn times(record: &Record) -> Table {
    let mut table = Table::new(&["times", "phase", "count", "p50 ms", "p95 ms", "p99 ms", "max ms"]);
    for (name, phases) in &record.measured.times {
        for (phase, times) in phases {
            let q = times.quantiles();
            let mut row = vec![name.clone(), phase.clone(), q.count.to_string()];
            row.extend([q.p50_ms, q.p95_ms, q.p99_ms, q.max_ms].map(|ms| format!("{ms:.2}")));
            table.row(row);
        }
    }
    table
}
