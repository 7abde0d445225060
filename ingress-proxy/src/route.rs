//! Which kind of server a path belongs to, and the path under which that server knows it.

/// Prefix of the game servers' paths; it is taken off.
const GAME: &str = "/game";
/// Prefix of the API; it stays, since one listener answers API and pages (docs/adr/0010).
const STORE: &str = "/store";

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    /// To the game server that holds the game of its key.
    Game,
    /// To an API, for its calls.
    Store,
    /// To an API, for the pages of the front end.
    Page,
}

impl Route {
    /// The route of a path, as it stands in the request line: nothing is decoded and no dots are resolved, since a server
    /// behind might do it otherwise.
    #[must_use]
    pub fn of(path: &str) -> Self {
        if under(GAME, path).is_some() {
            Self::Game
        } else if under(STORE, path).is_some() {
            Self::Store
        } else {
            Self::Page
        }
    }

    /// The route's word in logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Game => "game",
            Self::Store => "store",
            Self::Page => "page",
        }
    }
}

/// A game server's own path for a path of [`Route::Game`].
#[must_use]
pub fn game_path(path: &str) -> &str {
    match under(GAME, path) {
        Some("") | None => "/",
        Some(rest) => rest,
    }
}

/// What follows the prefix, when it ends at a border of a segment.
fn under<'a>(prefix: &str, path: &'a str) -> Option<&'a str> {
    path.strip_prefix(prefix)
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_at_a_segment() {
        for (path, route, own) in [
            ("/game/watch", Route::Game, "/watch"),
            ("/game/", Route::Game, "/"),
            ("/game", Route::Game, "/"),
            ("/game/game/watch", Route::Game, "/game/watch"),
            ("/game//x", Route::Game, "//x"),
        ] {
            assert_eq!((Route::of(path), game_path(path)), (route, own), "{path}");
        }
        for (path, route) in [
            ("/store/users/me", Route::Store),
            ("/store", Route::Store),
            ("/", Route::Page),
            ("/games", Route::Page),
            ("/storefront", Route::Page),
            ("//game/watch", Route::Page),
            ("/%67ame/watch", Route::Page),
            ("/GAME/watch", Route::Page),
            ("/x/../game/watch", Route::Page),
        ] {
            assert_eq!(Route::of(path), route, "{path}");
        }
    }
}
