//! The limits of a teacher, and of an address before anybody is signed in, and what is said to somebody who reached one.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use protocol::ids::TeacherId;
use runtime::metrics::{Counter, inc};

use crate::config::{QUOTA_WINDOW, RENEWALS_PER_SIGN_IN};
use crate::service::Api;
use crate::shared::{Counted, Quota, Verdict, Whose};

/// The headers of draft-ietf-httpapi-ratelimit-headers-10.
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// A quota that is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) what: &'static str,
    pub(crate) max: u32,
    pub(crate) window_s: u64,
    /// At least one.
    pub(crate) retry_after_s: u64,
}

impl Spent {
    /// Of games, as a plan check says it.
    pub(crate) fn games(max: u32, retry_after_s: u64) -> Self {
        Self {
            what: Counted::Games.name(),
            max,
            window_s: QUOTA_WINDOW.as_secs(),
            retry_after_s,
        }
    }

    pub(crate) fn decorate(&self, headers: &mut HeaderMap) {
        let Self {
            what,
            max,
            window_s,
            retry_after_s,
        } = self;
        headers.insert(RETRY_AFTER, HeaderValue::from(*retry_after_s));
        for (name, value) in [
            (POLICY, format!("\"{what}\";q={max};w={window_s}")),
            (LIMIT, format!("\"{what}\";r=0;t={retry_after_s}")),
        ] {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
    }
}

impl Api {
    /// Counts one more for this teacher.
    ///
    /// # Errors
    /// When there were as many as one may.
    pub(crate) async fn count(&self, teacher: TeacherId, counted: Counted) -> Result<(), Spent> {
        self.count_of(Whose::Teacher(teacher), counted).await
    }

    /// Counts one more call from this address, of somebody who is not known yet.
    ///
    /// # Errors
    /// When there were as many as may come from one address.
    pub(crate) async fn count_from(&self, address: IpAddr, counted: Counted) -> Result<(), Spent> {
        self.count_of(Whose::Address(network(address)), counted).await
    }

    /// Takes one back that was counted, and came to nothing by our own fault.
    pub(crate) async fn give_back(&self, teacher: TeacherId, counted: Counted) {
        self.shared.give_back(Whose::Teacher(teacher), counted).await;
    }

    async fn count_of(&self, whose: Whose, counted: Counted) -> Result<(), Spent> {
        let max = match counted {
            Counted::Requests => self.config.teacher_requests_max,
            Counted::Games => self.config.teacher_games_max,
            Counted::SignIns => self.config.address_sign_ins_max,
            Counted::Renewals => self
                .config
                .address_sign_ins_max
                .saturating_mul(RENEWALS_PER_SIGN_IN),
        };
        let quota = Quota {
            max,
            window: QUOTA_WINDOW,
        };
        match self.shared.count(whose, counted, quota).await {
            Verdict::Within => Ok(()),
            Verdict::Spent(left) => {
                inc(Counter::ApiQuotaSpentTotal);
                Err(Spent {
                    what: counted.name(),
                    max,
                    window_s: QUOTA_WINDOW.as_secs(),
                    retry_after_s: whole_seconds(left),
                })
            }
        }
    }
}

/// What has to share: an IPv4 address, behind which a whole school may be, or the IPv6 network that a household or a school gets, in which
/// everybody has more addresses than could be counted.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !0 << 64)),
    }
}

/// Rounded up: who comes back after this time finds the window over.
fn whole_seconds(left: Duration) -> u64 {
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_version_6_shares_with_its_network() {
        let of = |address: &str| network(address.parse().unwrap()).to_string();
        assert_eq!(of("192.0.2.7"), "192.0.2.7");
        assert_eq!(of("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }
}
