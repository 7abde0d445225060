//! Where the APIs of a run are, for scenarios that ask them without a class: what clients see of them, and what game servers do.

use super::ScenarioError;
use super::staff::Site;
use crate::client::calls::{Way, way_to};
use crate::client::{STORE_PREFIX, Target, Targets};
use crate::sys::small;
use crate::wire::ServiceSigner;

/// Servers that a run has started.
#[derive(Debug, Clone)]
pub struct Place {
    /// The APIs, for clients.
    pub apis: Vec<Target>,
    /// The same, for game servers.
    pub internal: Vec<Target>,
    /// Where their probes are answered.
    pub admins: Vec<Target>,
    /// Where classes go.
    pub targets: Targets,
    /// The secret that game servers sign with.
    pub secret: Vec<u8>,
}

impl Place {
    /// API `number`, and the ways to it, which are added to `ways`.
    ///
    /// # Errors
    /// There is no such API, or nothing can be signed for it.
    pub(super) fn site(&self, number: usize, ways: &mut Vec<Way>) -> Result<Site, ScenarioError> {
        let missing = || ScenarioError::Place(format!("there is no API {number} in this run"));
        let public = self.apis.get(number).ok_or_else(missing)?;
        let internal = self.internal.get(number).ok_or_else(missing)?;
        let signer = ServiceSigner::new(&self.secret).ok_or_else(|| {
            ScenarioError::Place("the secret of the game servers cannot be signed with".to_owned())
        })?;
        let first = small(ways.len());
        ways.extend([way_to(public.clone()), way_to(internal.clone())]);
        Ok(Site {
            public: first,
            internal: first + 1,
            host: public.host.clone(),
            internal_host: internal.host.clone(),
            prefix: STORE_PREFIX.to_owned(),
            signer,
        })
    }
}
