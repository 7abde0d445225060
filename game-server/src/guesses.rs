//! How many wrong codes may be tried: enough for every slip of a school's fingers, too few to find games by trying.
//!
//! Counted for each network and for all together. Where too many were tried, nobody learns for a while whether a code leads to
//! a game: strangers are asked to come back, those who bring a token are served. There are 729 million codes; with 2,000
//! games live, the rate of one network finds one in about a day.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{ConnectInfo, FromRequestParts};
use http::request::Parts;
use runtime::metrics::{self, Counter};
use tokio::time::Instant;

use crate::cluster::Via;
use crate::server::Shared;

/// Wrong codes of one network before it is refused. A school of 2,000 behind one address has 100 typing errors when everybody
/// joins at once, and 2,000 phones that come back to games that a restart has ended.
const NETWORK_MAX: u32 = 2_500;
/// After this long, one wrong code of a network is forgiven.
const NETWORK_FORGIVEN: Duration = Duration::from_millis(200);
/// Wrong codes of all networks before each of them has less to spare.
const ALL_MAX: u32 = 10_000;
/// After this long, one wrong code of all is forgiven: as much as twenty networks at their own rate.
const ALL_FORGIVEN: Duration = Duration::from_millis(10);
/// Wrong codes of one network while all together try too many: a class still finds its game, an army of networks does not.
const NETWORK_MAX_UNDER_ATTACK: u32 = 20;
/// Networks that are remembered, at about 50 bytes; past it new ones count for all together only.
const NETWORKS_MAX: usize = 4_096;

/// Where a client comes from: one IPv4 address, behind which a whole school may be, or the IPv6 network that one customer
/// gets at most (48 bits), of which a script could use every address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Network {
    /// None where clients cannot be told apart.
    address: Option<IpAddr>,
    /// Another server passed the client on, where its network tried too many.
    is_refused: bool,
}

impl Network {
    /// One that cannot be told from others.
    const UNKNOWN: Self = Self {
        address: None,
        is_refused: false,
    };
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        let address = match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0))
            }
        };
        Self {
            address: Some(address),
            is_refused: false,
        }
    }
}

impl FromRequestParts<Arc<Shared>> for Network {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Self::Rejection> {
        if let Some(via) = parts.extensions.get::<Via>() {
            return Ok(Self {
                is_refused: via.wary,
                ..Self::UNKNOWN
            });
        }
        // A request from inside the process has no peer.
        let peer = parts
            .extensions
            .get::<ConnectInfo<SocketAddr>>()
            .filter(|_| shared.config.peers_are_clients);
        Ok(peer.map_or(Self::UNKNOWN, |peer| peer.0.ip().into()))
    }
}

/// The wrong codes of late.
#[derive(Debug)]
pub(crate) struct Guesses(Mutex<Books>);

#[derive(Debug)]
struct Books {
    /// When everything that a network tried will be forgiven.
    networks: HashMap<IpAddr, Instant>,
    /// The same for all together.
    all: Instant,
}

impl Guesses {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Books {
            networks: HashMap::new(),
            all: Instant::now(),
        }))
    }

    /// Whether a stranger of this network must wait until it may look a code up.
    pub(crate) fn is_refused(&self, network: Network) -> bool {
        if network.is_refused {
            metrics::inc(Counter::GameCodeGuessesRefusedTotal);
            return true;
        }
        let now = Instant::now();
        let books = self.lock();
        let all_spent = unforgiven(books.all, now, ALL_FORGIVEN) >= ALL_MAX;
        let refused = match network.address {
            None => all_spent,
            Some(address) => {
                let max = if all_spent {
                    NETWORK_MAX_UNDER_ATTACK
                } else {
                    NETWORK_MAX
                };
                let until = books.networks.get(&address);
                until.is_some_and(|until| unforgiven(*until, now, NETWORK_FORGIVEN) >= max)
            }
        };
        drop(books);
        if refused {
            metrics::inc(Counter::GameCodeGuessesRefusedTotal);
        }
        refused
    }

    /// Counts a code that leads nowhere.
    pub(crate) fn wrong(&self, network: Network) {
        let now = Instant::now();
        let mut books = self.lock();
        let end = now + ALL_FORGIVEN * ALL_MAX;
        books.all = (books.all.max(now) + ALL_FORGIVEN).min(end);
        let Some(address) = network.address else { return };
        if books.networks.len() >= NETWORKS_MAX && !books.networks.contains_key(&address) {
            books.networks.retain(|_, until| *until > now);
            if books.networks.len() >= NETWORKS_MAX {
                return;
            }
        }
        let until = books.networks.entry(address).or_insert(now);
        *until = (*until).max(now) + NETWORK_FORGIVEN;
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        // No code that can panic leaves the books half written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wrong codes that are not forgiven yet.
fn unforgiven(until: Instant, now: Instant, forgiven: Duration) -> u32 {
    let left_ms = until.saturating_duration_since(now).as_millis();
    u32::try_from(left_ms.div_ceil(forgiven.as_millis())).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn network(text: &str) -> Network {
        text.parse::<IpAddr>().unwrap().into()
    }

    fn try_until_refused(guesses: &Guesses, network: Network) -> u32 {
        let mut tried = 0;
        while !guesses.is_refused(network) {
            guesses.wrong(network);
            tried += 1;
        }
        tried
    }

    #[tokio::test(start_paused = true)]
    async fn a_school_may_slip_and_a_script_may_not() {
        let guesses = Guesses::new();
        let (school, script) = (network("192.0.2.1"), network("192.0.2.2"));
        assert_eq!(try_until_refused(&guesses, script), NETWORK_MAX);
        // Five percent of 2,000 students, and then all of them at a game that has gone.
        for _ in 0..2_100 {
            assert!(!guesses.is_refused(school));
            guesses.wrong(school);
        }
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(
            try_until_refused(&guesses, script),
            300,
            "five a second are forgiven"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_army_of_networks_leaves_each_less_to_spare() {
        let guesses = Guesses::new();
        let army = (0..4).map(|n| network(&format!("198.51.100.{n}")));
        assert_eq!(army.map(|n| try_until_refused(&guesses, n)).sum::<u32>(), ALL_MAX);
        assert_eq!(
            try_until_refused(&guesses, network("192.0.2.1")),
            NETWORK_MAX_UNDER_ATTACK
        );
        tokio::time::advance(ALL_FORGIVEN * ALL_MAX).await;
        assert!(!guesses.is_refused(network("192.0.2.1")));
    }

    #[tokio::test(start_paused = true)]
    async fn clients_that_cannot_be_told_apart_share_what_all_have() {
        let guesses = Guesses::new();
        assert_eq!(try_until_refused(&guesses, Network::UNKNOWN), ALL_MAX);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(try_until_refused(&guesses, Network::UNKNOWN), 100);
    }

    #[tokio::test(start_paused = true)]
    async fn the_books_do_not_grow() {
        let guesses = Guesses::new();
        for n in 0..20_000_u32 {
            guesses.wrong(IpAddr::V4(Ipv4Addr::from(n)).into());
        }
        assert_eq!(guesses.lock().networks.len(), NETWORKS_MAX);
        // A newcomer is not refused for want of a line.
        assert!(!guesses.is_refused(network("192.0.2.1")));
        tokio::time::advance(NETWORK_FORGIVEN).await;
        guesses.wrong(network("192.0.2.1"));
        assert_eq!(guesses.lock().networks.len(), 1);
    }

    #[test]
    fn a_customer_s_addresses_are_one_network() {
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:ffff::2"));
        assert_ne!(network("2001:db8:1::1"), network("2001:db8:2::1"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
    }
}
