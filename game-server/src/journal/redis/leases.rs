//! Leases in Redis. `pod:{name}:{incarnation}` lives as long as the lease; the hash `pods` remembers where each server is or was.
//!
//! The connection is the games' own: a server that cannot reach its games loses its lease.

use fred::types::{Resp3Frame, Value};
use uuid::Uuid;

use super::reply::{self, Reply};
use super::{RedisLog, number};
use crate::cluster::{LEASE_TIME, Lease, Leases, Member, Renewed};
use crate::journal::{LogError, LogFuture, ServerId};

/// Every server that nobody has forgotten: from `{name}:{incarnation}` to `{reads}:{address}`.
const PODS: &str = "pods";
/// What answers are about, in errors.
const WHAT: &str = "the list of servers";

impl Leases for RedisLog {
    fn renew(&self, lease: Lease) -> LogFuture<Renewed> {
        let field = field(&lease.server);
        let value = format!("{}:{}", lease.reads, lease.address);
        let time_ms = u64::try_from(LEASE_TIME.as_millis()).unwrap_or(u64::MAX);
        // Both are on their way at once; the address first, so that no lease is without one.
        let at = self.call("HSET", vec![PODS.into(), field.as_str().into(), value.into()]);
        let lease = self.call(
            "SET",
            vec![
                lease_key(&field),
                "1".into(),
                "PX".into(),
                number(time_ms),
                "GET".into(),
            ],
        );
        Box::pin(async move {
            at.await?;
            let before = lease.await?;
            Ok(Renewed::of(reply::string(&before).is_some()))
        })
    }

    fn members(&self) -> LogFuture<Vec<Member>> {
        let log = self.clone();
        Box::pin(async move {
            let mut known = Reply::new(WHAT, log.call("HGETALL", vec![PODS.into()]).await?)?;
            let mut fields = Vec::new();
            let mut leases = Vec::new();
            while known.len() > 0 {
                let (field, value) = (known.text()?, known.text()?);
                // What an operator put there by hand is no server.
                if let Some(lease) = lease_of(&field, &value) {
                    fields.push(lease_key(&field));
                    leases.push(lease);
                }
            }
            if fields.is_empty() {
                return Ok(Vec::new());
            }
            let Resp3Frame::Array { data, .. } = log.call("MGET", fields).await? else {
                return Err(LogError::Corrupt { what: WHAT });
            };
            let members = leases.into_iter().zip(data).map(|(lease, value)| Member {
                lease,
                is_leased: reply::string(&value).is_some(),
            });
            Ok(members.collect())
        })
    }

    fn forget(&self, server: ServerId) -> LogFuture<()> {
        let field = field(&server);
        let lease = self.call("DEL", vec![lease_key(&field)]);
        let at = self.call("HDEL", vec![PODS.into(), field.into()]);
        Box::pin(async move {
            lease.await?;
            at.await.map(drop)
        })
    }
}

fn field(server: &ServerId) -> String {
    format!("{}:{}", server.name, server.incarnation)
}

fn lease_key(field: &str) -> Value {
    format!("pod:{field}").into()
}

fn lease_of(field: &str, value: &str) -> Option<Lease> {
    let (name, incarnation) = field.rsplit_once(':')?;
    let (reads, address) = value.split_once(':')?;
    Some(Lease {
        server: ServerId {
            name: name.to_owned(),
            incarnation: Uuid::parse_str(incarnation).ok()?,
        },
        address: address.to_owned(),
        reads: reads.parse().ok()?,
    })
}
