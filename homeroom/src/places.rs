//! How many clients the process has room for, by its limit on open descriptors.

/// Plain HTTP connections held beside the WebSockets: pages, downloads, a class that reloads.
const HTTP_CONNECTIONS: usize = 1_000;
/// Where descriptors are few, the part of them that plain HTTP gets: pages come and go, a player's socket stays.
const HTTP_SHARE: usize = 4;
/// Clients without whom starting makes no sense: a class of 30, the teacher's board and remote, and their pages.
pub(crate) const CLIENTS_MIN: usize = 44;

/// Bounds of the listener and of the game server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Places {
    /// Players, hosts and screens.
    pub(crate) sockets: usize,
    /// Connections of any kind.
    pub(crate) connections: usize,
}

/// Shares out `capacity` client connections; no more sockets than were `asked` for. None when that is too few to be of use.
pub(crate) fn share(asked: usize, capacity: usize) -> Option<Places> {
    if capacity < CLIENTS_MIN {
        return None;
    }
    let pages = HTTP_CONNECTIONS.min(capacity / HTTP_SHARE);
    let sockets = asked.min(capacity - pages);
    Some(Places {
        sockets,
        connections: sockets + pages,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_find_a_place_under_any_limit_and_nobody_runs_into_it() {
        for capacity in CLIENTS_MIN..30_000 {
            let places = share(15_000, capacity).unwrap();
            assert!(places.connections <= capacity);
            assert!(
                places.sockets >= 15_000.min(capacity / 2),
                "{capacity}: {places:?}"
            );
        }
        assert_eq!(share(50, 19_744).unwrap().sockets, 50);
        assert_eq!(share(15_000, CLIENTS_MIN - 1), None);
    }
}
