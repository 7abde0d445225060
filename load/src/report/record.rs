//! The record of a run: `results.json`, with everything that is needed to merge it, to judge it and to compare it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::judgement::Judgement;
use super::measured::Measured;
use super::outcome::Outcome;
use super::resources::Resources;
use crate::measure::FaultKind;
use crate::plan::Plan;
use crate::sys::clock;
use crate::sys::hardware::Hardware;
use crate::verdict::{Machine, Readings};

/// Version of the layout of `results.json`; grows when a reader of the old one would misread the new one.
pub const SCHEMA_VERSION: u32 = 2;
/// Name of a record's file in its directory.
pub const FILE_NAME: &str = "results.json";

/// The record of a run, or of the segments of it that have been merged so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA_VERSION`] of whoever wrote it.
    pub schema_version: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// Version of the harness.
    pub harness_version: String,
    /// Begin of the first segment, Unix milliseconds.
    pub begun_unix_ms: u64,
    /// End of the last segment, Unix milliseconds.
    pub ended_unix_ms: u64,
    /// What it was measured on.
    pub hardware: Hardware,
    /// What was carried out.
    pub plan: PlanRecord,
    /// Segments that the whole run has.
    pub segments_of: u32,
    /// The segments that are in here, by number from 1.
    pub segments: BTreeMap<u32, SegmentRecord>,
    /// What they measured together.
    pub measured: Measured,
}

/// The plan as far as readers need it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// Its seed.
    pub seed: u64,
    /// Hash of everything it decides.
    pub hash: String,
    /// Name of its pace.
    pub pace: String,
    /// Questions played.
    pub questions: u16,
    /// Students of each class, those of other segments included.
    pub sizes: Vec<u32>,
}

/// What one segment alone knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentRecord {
    /// What the verdict is drawn from.
    pub readings: Readings,
    /// The scenario's own figures.
    pub figures: serde_json::Value,
}

/// Why a record cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// No file.
    #[error("{path} cannot be read")]
    File {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another layout.
    #[error("{path} has schema version {found}; this program reads {SCHEMA_VERSION}")]
    Schema {
        /// Where.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// No record at all.
    #[error("{path} is no record of a run")]
    Shape {
        /// Where.
        path: PathBuf,
        /// Where it differs.
        #[source]
        source: serde_json::Error,
    },
}

/// A record as it lies in its file: with its judgement, which whoever reads it draws anew.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    record: &'a Record,
    #[serde(flatten)]
    judgement: &'a Judgement,
}

#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

impl From<&Plan> for PlanRecord {
    fn from(plan: &Plan) -> Self {
        Self {
            seed: plan.seed,
            hash: format!("{:016x}", plan.hash()),
            pace: plan.pace.name.to_owned(),
            questions: plan.questions,
            sizes: plan.sizes.clone(),
        }
    }
}

impl Record {
    /// The record of what this process played, as a segment of its plan.
    #[must_use]
    pub fn of_run(
        outcome: Outcome,
        plan: &Plan,
        begun_unix_ms: u64,
        machine: Machine,
        resources: Resources,
        unexpected_restarts: u64,
    ) -> Self {
        let Outcome {
            scenario,
            table: _,
            mut measured,
            figures,
            mut own,
        } = outcome;
        measured.resources.merge(resources);
        let faults = |kind: FaultKind| measured.faults.get(kind.name()).copied().unwrap_or(0);
        own.no_port += faults(FaultKind::NoPort);
        own.no_descriptor += faults(FaultKind::NoDescriptor);
        let readings = Readings {
            own,
            machine,
            unexpected_restarts,
        };
        Self {
            schema_version: SCHEMA_VERSION,
            scenario: scenario.to_owned(),
            harness_version: env!("CARGO_PKG_VERSION").to_owned(),
            begun_unix_ms,
            ended_unix_ms: clock::unix_ms(),
            hardware: Hardware::read(),
            plan: PlanRecord::from(plan),
            segments_of: plan.segment.count(),
            segments: BTreeMap::from([(plan.segment.index(), SegmentRecord { readings, figures })]),
            measured,
        }
    }

    /// The whole record as JSON, judgement included.
    ///
    /// # Errors
    /// None that plain data can have.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let judgement = Judgement::of(self);
        serde_json::to_string_pretty(&Document {
            record: self,
            judgement: &judgement,
        })
    }

    /// Writes `results.json` into `dir`, which is made when it does not exist; where it is.
    ///
    /// # Errors
    /// The directory or file cannot be written.
    pub fn write(&self, dir: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(dir)?;
        let path = dir.join(FILE_NAME);
        fs::write(&path, self.to_json()? + "\n")?;
        Ok(path)
    }

    /// Reads the record in `dir`, or the file `dir` itself.
    ///
    /// # Errors
    /// No file, another schema version, or no record.
    pub fn read(dir: &Path) -> Result<Self, ReadError> {
        let path = if dir.is_dir() {
            dir.join(FILE_NAME)
        } else {
            dir.to_owned()
        };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => return Err(ReadError::File { path, source }),
        };
        // The version first: another layout would be refused for some field of no interest.
        match serde_json::from_str::<Version>(&text) {
            Ok(version) if version.schema_version != SCHEMA_VERSION => Err(ReadError::Schema {
                path,
                found: version.schema_version,
            }),
            Ok(_) => serde_json::from_str(&text).map_err(|source| ReadError::Shape { path, source }),
            Err(source) => Err(ReadError::Shape { path, source }),
        }
    }

    /// Whether all segments are in here.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        (1..=self.segments_of).all(|number| self.segments.contains_key(&number))
    }
}
