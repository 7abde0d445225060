//! Scenarios: which classes play, how they are driven, and what is judged afterwards. What a class does comes from
//! [`crate::plan`], doing it is [`crate::client`]'s.

use thiserror::Error;

use crate::client::{EngineError, HttpError};

mod batch;
pub mod bigroom;
pub mod dashboard;
mod demand;
pub mod e2e;
mod ending;
pub mod idle;
pub mod kill;
mod mixture;
pub mod nine;
pub mod overload;
mod own;
mod place;
pub mod ramp;
pub mod reconnect;
pub mod scale;
mod school;
mod setup;
mod staff;
pub mod storage;
mod timetable;

pub use ending::Ending;
pub use place::Place;
pub use setup::{Lobby, Teacher};

/// Why a scenario could not be carried out. Faults of the servers during it are figures, not errors.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// A call of the set-up failed.
    #[error("set-up failed")]
    Http(#[from] HttpError),
    /// The engine failed.
    #[error("engine failed")]
    Engine(#[from] EngineError),
    /// A game may hold fewer players than the plan has.
    #[error("the game may hold {players_max} players, the plan has {size}")]
    RoomTooSmall {
        /// What the server allows.
        players_max: u32,
        /// What the plan needs.
        size: u32,
    },
    /// All codes drawn are in use.
    #[error("{0} game codes in a row are in use")]
    NoCode(u32),
    /// The servers of the run are not what it needs.
    #[error("{0}")]
    Place(String),
    /// A process did not come back after it was killed.
    #[error("{0}")]
    Victim(String),
    /// The process to be measured cannot be read.
    #[error("process {pid} cannot be read")]
    Process {
        /// Its id.
        pid: u32,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}
