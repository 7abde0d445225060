//! Where the servers of a run are: one address for everything, or game servers addressed one by one beside the API.
//! Separate processes take the same paths as a proxy does by default, as they strip no prefix that is not there.

use std::net::IpAddr;

use super::http::{Http, Target};
use crate::plan;
use crate::sys::{index, small};

/// Prefix of the game servers' paths as clients see them.
pub const GAME_PREFIX: &str = "/game";
/// Prefix of the API's paths as clients see them.
pub const STORE_PREFIX: &str = "/store";

/// The servers of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Targets {
    games: Vec<Target>,
    /// Whether any of them will do for any game: they are proxies, or game servers that pass on what is not theirs.
    any: bool,
    api: Target,
    game_prefix: String,
    store_prefix: String,
    /// Own addresses that classes come from, in turn; none leaves it to the system.
    sources: Vec<IpAddr>,
}

impl From<Target> for Targets {
    fn from(target: Target) -> Self {
        Self::direct(vec![target.clone()], target)
    }
}

impl Targets {
    /// Game servers addressed one by one, a class at the one that [`plan::place`] says, and the API at `api`.
    #[must_use]
    pub fn direct(games: Vec<Target>, api: Target) -> Self {
        Self {
            games,
            any: false,
            api,
            game_prefix: GAME_PREFIX.to_owned(),
            store_prefix: STORE_PREFIX.to_owned(),
            sources: Vec::new(),
        }
    }

    /// Addresses of which each will do for every game, and the API at `api`. The members of a class are spread over them, and whoever
    /// comes back takes the next one, as behind a balancer that goes round.
    #[must_use]
    pub fn any_of(games: Vec<Target>, api: Target) -> Self {
        Self {
            any: true,
            ..Self::direct(games, api)
        }
    }

    /// The same servers, with other prefixes before their paths; empty for none.
    #[must_use]
    pub fn with_prefixes(self, game: &str, store: &str) -> Self {
        Self {
            game_prefix: game.trim_end_matches('/').to_owned(),
            store_prefix: store.trim_end_matches('/').to_owned(),
            ..self
        }
    }

    /// The same servers for classes that come from these addresses of this machine, in turn.
    #[must_use]
    pub fn coming_from(self, sources: Vec<IpAddr>) -> Self {
        Self { sources, ..self }
    }

    /// The address that the members of a class come from.
    #[must_use]
    pub fn source_of(&self, class: u32) -> Option<IpAddr> {
        let place = index(class) % self.sources.len().max(1);
        self.sources.get(place).copied()
    }

    /// Game servers that are addressed one by one; none when any of them will do.
    #[must_use]
    pub fn game_servers(&self) -> &[Target] {
        match self.any {
            true => &[],
            false => &self.games,
        }
    }

    /// The server that is asked for the game `code`.
    #[must_use]
    pub fn server_of(&self, code: &str) -> u32 {
        plan::place(code, small(self.games.len()))
    }

    /// Where the game `code` is.
    #[must_use]
    pub fn game(&self, code: &str) -> &Target {
        self.games.get(index(self.server_of(code))).unwrap_or(&self.api)
    }

    /// The ways to the game `code`.
    pub fn doors(&self, code: &str) -> impl Iterator<Item = &Target> {
        let (every, one) = match self.any {
            true => (self.games.as_slice(), None),
            false => (&[][..], Some(self.game(code))),
        };
        every.iter().chain(one)
    }

    /// Calls about the game `code`.
    #[must_use]
    pub fn game_http(&self, code: &str) -> Http {
        Http::new(self.game(code).clone())
    }

    /// A path of the game servers.
    #[must_use]
    pub fn game_path(&self, rest: &str) -> String {
        format!("{}{rest}", self.game_prefix)
    }

    /// Calls to the API.
    #[must_use]
    pub fn store_http(&self) -> Http {
        Http::new(self.api.clone())
    }

    /// A path of the API.
    #[must_use]
    pub fn store_path(&self, rest: &str) -> String {
        format!("{}{rest}", self.store_prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(port: u16) -> Target {
        format!("http://127.0.0.1:{port}").parse().expect("target")
    }

    #[test]
    fn a_class_goes_to_one_of_the_servers_and_the_rest_to_the_api() {
        let targets = Targets::direct(vec![target(1), target(2)], target(3));
        let ports: std::collections::BTreeSet<u16> = ["K7Q2MX", "222222", "ABCDEF", "ZZZZZ2", "345678"]
            .iter()
            .map(|code| targets.game(code).address.port())
            .collect();
        assert_eq!(ports.into_iter().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(targets.game("K7Q2MX"), targets.game("K7Q2MX"));
        assert_eq!(targets.store_path("/quizzes"), "/store/quizzes");
        let ports = |targets: &Targets| -> Vec<u16> {
            targets.doors("K7Q2MX").map(|door| door.address.port()).collect()
        };
        assert_eq!(ports(&targets), [targets.game("K7Q2MX").address.port()]);
        assert_eq!(
            ports(&Targets::any_of(vec![target(1), target(2)], target(3))),
            [1, 2]
        );
        let bare = Targets::from(target(9)).with_prefixes("", "/s/");
        assert_eq!(
            (bare.game_path("/games?g=X"), bare.store_path("/q")),
            ("/games?g=X".to_owned(), "/s/q".to_owned())
        );
    }
}
