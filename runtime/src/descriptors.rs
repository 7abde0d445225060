//! The process's limit on file descriptors: raised at the start, so that admission and not the kernel says "full".

use thiserror::Error;

/// Descriptors kept for everything that is no client connection: database, log, listeners, timers.
pub const RESERVE: usize = 256;
/// Clients without whom starting makes no sense: a class of 30, the teacher's board and remote, and their pages.
pub const CLIENTS_MIN: usize = 44;
/// Plain HTTP connections held beside the WebSockets: pages, downloads, a class that reloads.
const HTTP_CONNECTIONS: usize = 1_000;
/// Where descriptors are few, plain HTTP gets one in this many: pages come and go, a player's socket stays.
const HTTP_SHARE: usize = 4;

/// Bounds of a listener and of the game server behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// Players, hosts and screens.
    pub sockets: usize,
    /// Connections of any kind.
    pub connections: usize,
}

/// The limit is so low that a server would refuse nearly everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "this process may open too few files and connections; raise its limit to {} or more (ulimit -n)",
    RESERVE + CLIENTS_MIN
)]
pub struct TooFewDescriptors;

/// Raises the soft limit to the hard one and returns how many client connections fit below it, [`RESERVE`] kept back.
///
/// # Errors
/// When they are fewer than [`CLIENTS_MIN`].
pub fn client_capacity() -> Result<usize, TooFewDescriptors> {
    let wanted = rlimit::Resource::NOFILE.get_hard().unwrap_or(1_024);
    let limit = rlimit::increase_nofile_limit(wanted).unwrap_or(1_024);
    let capacity = usize::try_from(limit)
        .unwrap_or(usize::MAX)
        .saturating_sub(RESERVE);
    if capacity < CLIENTS_MIN {
        return Err(TooFewDescriptors);
    }
    Ok(capacity)
}

/// As [`client_capacity`], shared out between game sockets, no more than were `asked` for, and pages.
///
/// # Errors
/// As [`client_capacity`].
pub fn places(asked: usize) -> Result<Places, TooFewDescriptors> {
    let places = share(asked, client_capacity()?);
    if places.sockets < asked {
        tracing::warn!(
            asked,
            sockets = places.sockets,
            "the limit on open files allows fewer sockets than --sockets-max"
        );
    }
    Ok(places)
}

fn share(asked: usize, capacity: usize) -> Places {
    let pages = HTTP_CONNECTIONS.min(capacity / HTTP_SHARE);
    let sockets = asked.min(capacity - pages);
    Places {
        sockets,
        connections: sockets + pages,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_find_a_place_under_any_limit_and_nobody_runs_into_it() {
        for capacity in CLIENTS_MIN..30_000 {
            let places = share(15_000, capacity);
            assert!(places.connections <= capacity);
            assert!(
                places.sockets >= 15_000.min(capacity / 2),
                "{capacity}: {places:?}"
            );
        }
        assert_eq!(share(50, 19_744).sockets, 50);
    }
}
