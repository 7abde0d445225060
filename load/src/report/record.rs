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
use crate::plan::{self, Plan};
use crate::sys::clock;
use crate::sys::hardware::Hardware;
use crate::verdict::{Machine, Readings};

/// Version of the layout of `results.json`; grows when a reader of the old one would misread the new one.
pub const SCHEMA_VERSION: u32 = 3;
/// Name of a record's file in its directory.
pub const FILE_NAME: &str = "results.json";
/// What an earlier run left in the directory of a run that begins: a run that is broken off must not seem to have come to it.
const PREVIOUS_NAME: &str = "results.previous.json";
/// A record while it is written: half of one must not look like one.
const PART_NAME: &str = "results.json.part";

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
    /// Its begin, Unix milliseconds.
    pub begun_unix_ms: u64,
    /// Its end, Unix milliseconds.
    pub ended_unix_ms: u64,
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
    /// A record that no run has written as it is.
    #[error("{path} is not as it was written: {what}")]
    Changed {
        /// Where.
        path: PathBuf,
        /// What gives it away.
        what: &'static str,
    },
}

/// A record as it lies in its file: with its judgement, which whoever reads it draws anew.
#[derive(Serialize)]
struct Document<'a> {
    /// [`Record::digest`], against changes by hand and half-done copies.
    digest: String,
    #[serde(flatten)]
    record: &'a Record,
    #[serde(flatten)]
    judgement: &'a Judgement,
}

#[derive(Deserialize)]
struct Version {
    schema_version: u32,
    #[serde(default)]
    digest: String,
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
        let segment = SegmentRecord {
            begun_unix_ms,
            ended_unix_ms: clock::unix_ms(),
            readings,
            figures,
        };
        Self {
            schema_version: SCHEMA_VERSION,
            scenario: scenario.to_owned(),
            harness_version: env!("CARGO_PKG_VERSION").to_owned(),
            begun_unix_ms,
            ended_unix_ms: segment.ended_unix_ms,
            hardware: Hardware::read(),
            plan: PlanRecord::from(plan),
            segments_of: plan.segment.count(),
            segments: BTreeMap::from([(plan.segment.index(), segment)]),
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
            digest: self.digest()?,
            record: self,
            judgement: &judgement,
        })
    }

    /// What everything that was measured comes to in 16 digits; not a secret, so it tells of a change and not who made it.
    fn digest(&self) -> serde_json::Result<String> {
        let text = serde_json::to_vec(self)?;
        let parts = text.chunks(size_of::<u64>()).map(|chunk| {
            let mut bytes = [0; size_of::<u64>()];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(bytes)
        });
        let length = crate::sys::count(text.len());
        Ok(format!(
            "{:016x}",
            plan::digest(std::iter::once(length).chain(parts))
        ))
    }

    /// Sees to it that `dir` can take the record of a run that begins, and puts away what an earlier one left there.
    ///
    /// # Errors
    /// The directory or a file in it cannot be written.
    pub fn make_way(dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)?;
        let part = dir.join(PART_NAME);
        fs::write(&part, [])?;
        fs::remove_file(part)?;
        match fs::rename(dir.join(FILE_NAME), dir.join(PREVIOUS_NAME)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Writes `results.json` into `dir`, which is made when it does not exist; where it is.
    ///
    /// # Errors
    /// The directory or file cannot be written.
    pub fn write(&self, dir: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(dir)?;
        let (part, path) = (dir.join(PART_NAME), dir.join(FILE_NAME));
        let written = fs::write(&part, self.to_json()? + "\n").and_then(|()| fs::rename(&part, &path));
        if let Err(error) = written {
            // What is there of it is of no use, and a full disk needs the room.
            let _removed = fs::remove_file(&part);
            return Err(error);
        }
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
            Ok(version) => match serde_json::from_str::<Self>(&text) {
                Ok(record) => match record.objection(&version.digest) {
                    None => Ok(record),
                    Some(what) => Err(ReadError::Changed { path, what }),
                },
                Err(source) => Err(ReadError::Shape { path, source }),
            },
            Err(source) => Err(ReadError::Shape { path, source }),
        }
    }

    /// Why this cannot be what a run has written.
    fn objection(&self, digest: &str) -> Option<&'static str> {
        let numbers = 1..=self.segments_of;
        if self.segments.is_empty() || !self.segments.keys().all(|number| numbers.contains(number)) {
            return Some("its segments cannot be");
        }
        if self.digest().is_ok_and(|own| own != digest) {
            return Some("its digest is of something else");
        }
        None
    }

    /// The numbers of the segments that are not in here.
    pub fn missing(&self) -> impl Iterator<Item = u32> + '_ {
        (1..=self.segments_of).filter(|number| !self.segments.contains_key(number))
    }

    /// Whether all segments are in here.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.missing().next().is_none()
    }
}
