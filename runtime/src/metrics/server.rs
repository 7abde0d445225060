//! What a proxy counts by server behind it. The one label whose values are not fixed in the source: they are names from the
//! configuration or the cluster, never from clients, and a proxy holds a bounded list of them.

use metrics::{Counter, Gauge, Key, Label, Level, Metadata};

const REQUESTS: &str = "homeroom_proxy_server_requests_total";
const FAILURES: &str = "homeroom_proxy_server_failures_total";
const TUNNELS: &str = "homeroom_proxy_server_tunnels";

/// The metrics of one server.
pub struct Server {
    requests: Counter,
    failures: Counter,
    tunnels: Gauge,
}

impl Server {
    /// Those of the server called `name`; the same ones when it is asked again.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let key = |metric: &'static str| Key::from_parts(metric, vec![Label::new("server", name.to_owned())]);
        let metadata = Metadata::new("homeroom", Level::INFO, None);
        metrics::with_recorder(|recorder| {
            recorder.describe_counter(
                REQUESTS.into(),
                None,
                "Requests answered by a server, by server.".into(),
            );
            recorder.describe_counter(
                FAILURES.into(),
                None,
                "Requests that a server did not answer, by server.".into(),
            );
            recorder.describe_gauge(
                TUNNELS.into(),
                None,
                "WebSockets passed through to a server, by server.".into(),
            );
            Self {
                requests: recorder.register_counter(&key(REQUESTS), &metadata),
                failures: recorder.register_counter(&key(FAILURES), &metadata),
                tunnels: recorder.register_gauge(&key(TUNNELS), &metadata),
            }
        })
    }

    /// It has answered a request.
    pub fn answered(&self) {
        self.requests.increment(1);
    }

    /// It has not.
    pub fn failed(&self) {
        self.failures.increment(1);
    }

    /// A tunnel to it begins.
    pub fn tunnel_began(&self) {
        self.tunnels.increment(1.0);
    }

    /// A tunnel to it has ended.
    pub fn tunnel_ended(&self) {
        self.tunnels.decrement(1.0);
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_has_its_own_series() {
        let exporter = super::super::install().unwrap();
        let (zero, one) = (Server::named("game-0"), Server::named("game-1"));
        zero.answered();
        Server::named("game-0").answered();
        one.failed();
        one.tunnel_began();
        let page = exporter.render();
        for line in [
            r#"homeroom_proxy_server_requests_total{server="game-0"} 2"#,
            r#"homeroom_proxy_server_requests_total{server="game-1"} 0"#,
            r#"homeroom_proxy_server_failures_total{server="game-1"} 1"#,
            r#"homeroom_proxy_server_tunnels{server="game-1"} 1"#,
        ] {
            assert!(page.contains(line), "{line}: {page}");
        }
        one.tunnel_ended();
    }
}
