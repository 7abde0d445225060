//! `load merge` and `load report`: what is done with records afterwards.

use std::fs;
use std::path::PathBuf;

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
    let record = merge::all(read(&args.dirs)?).map_err(Failure::configuration)?;
    let judgement = Judgement::of(&record);
    judgement.print(&record, &times(&record), console);
    if let Some(dir) = &args.out {
        let path = record.write(dir).map_err(Failure::unavailable)?;
        console.line(&format!("written to {}", path.display()));
    }
    Ok(judgement.is_good())
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
