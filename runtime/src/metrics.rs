//! Every metric of Homeroom, by name: closed enums, so that a series can never grow with classrooms.
//!
//! Names follow `homeroom_<area>_<noun>_<unit>[_total]` with base units; labels are fixed here, value by value. A
//! metric is a line in one of the three tables below. Until [`install`] has run, recording does nothing.

mod server;

use std::sync::OnceLock;

use metrics::{Label, Level, Metadata};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

pub use server::Server;

macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $metric:literal $({ $label:literal = $value:literal })? $help:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = $help] $variant,)*
        }

        impl $name {
            /// Every variant, in the order of its discriminant.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Name, labels and help text.
            #[must_use]
            pub fn describe(self) -> Description {
                match self {
                    $($name::$variant => Description { name: $metric, label: None $(.or(Some(($label, $value))))?, help: $help },)*
                }
            }
        }
    };
}

/// How a metric appears to a scraper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Description {
    /// Name in the exposition format.
    pub name: &'static str,
    /// The one label, if any.
    pub label: Option<(&'static str, &'static str)>,
    /// Help text.
    pub help: &'static str,
}

table!(
    /// Things that are counted.
    Counter {
        ConnectionsAcceptedTotal = "homeroom_http_connections_accepted_total" "Client connections accepted.";
        ConnectionsRefusedTotal = "homeroom_http_connections_refused_total" "Client connections refused because the process holds as many as it may.";
        TlsHandshakesFailedTotal = "homeroom_http_tls_handshakes_failed_total" "TLS handshakes that failed or took too long.";
        Http2FloodsTotal = "homeroom_http_floods_total" "HTTP/2 connections closed because the client sent too many frames that ask for nothing.";
        Http2StreamsStalledTotal = "homeroom_http_streams_stalled_total" "HTTP/2 answers given up because the client took nothing of them.";
        GameSocketsRefusedTotal = "homeroom_game_sockets_refused_total" "Game sockets refused because the server holds as many as it may.";
        GameCodeGuessesRefusedTotal = "homeroom_game_code_guesses_refused_total" "Look-ups of a game's code refused because their network tried too many wrong ones.";
        GamePlayersJoinedTotal = "homeroom_game_players_joined_total" "Players who joined a game.";
        GameJoinsRefusedTotal = "homeroom_game_joins_refused_total" "Joins that a game refused.";
        GameAnswersAcceptedTotal = "homeroom_game_answers_accepted_total" "Answers accepted.";
        GameAnswersRefusedTotal = "homeroom_game_answers_refused_total" "Answers refused: too late, not open, or another one was accepted before.";
        GameSlowSocketsClosedTotal = "homeroom_game_slow_sockets_closed_total" "Game sockets closed because the client read too slowly or fell silent.";
        GameJournalAppendsTotal = "homeroom_game_journal_appends_total" "Appends to game journals that were saved.";
        GameJournalBytesTotal = "homeroom_game_journal_bytes_total" "Bytes appended to game journals.";
        GameJournalAppendsFailedTotal = "homeroom_game_journal_appends_failed_total" "Writes to a game's journal or snapshot that failed and were repeated.";
        GameSnapshotsTotal = "homeroom_game_snapshots_total" "Snapshots of games that were saved.";
        GameSnapshotBytesTotal = "homeroom_game_snapshot_bytes_total" "Bytes of snapshots written.";
        GamesRestoredTotal = "homeroom_game_games_restored_total" "Games brought back from their journals.";
        GamesUnreadableTotal = "homeroom_game_games_unreadable_total" "Games whose journal could not be read or replayed; their bytes are kept.";
        GameRecordsLostTotal = "homeroom_game_records_lost_total" "Records of journals that were saved once and could not be read when their game was taken up: answers may be missing.";
        GamesPanickedTotal = "homeroom_game_games_panicked_total" "Games whose task died of a fault in the server; each is taken up again from the journal, or kept aside when that does not help.";
        GameTasksPanickedTotal = "homeroom_game_tasks_panicked_total" "Times a task that all games of this server need died of a fault in the server and was begun again.";
        GamesHandedOverTotal = "homeroom_game_games_handed_over_total" "Games given to another server because this one was about to stop.";
        GamesFencedTotal = "homeroom_game_games_fenced_total" "Games stopped here because another server had claimed them.";
        GameStoreChangesTotal = "homeroom_game_store_changes_total" "Times the games' store came back as another run, so that all other servers were asked what they hold.";
        GamesRewoundTotal = "homeroom_game_games_rewound_total" "Games taken up from a store that may have lost the end of them, while their server was gone as well. Last answers may be missing.";
        GamesLostTotal = "homeroom_game_games_lost_total" "Games that their players or hosts came back to and that nobody has: the store lost them while their server was gone as well. Once a game and server.";
        GamesRewrittenTotal = "homeroom_game_games_rewritten_total" "Times a game was written again because its store had lost something of it.";
        GamePassedOnToldTotal = "homeroom_game_passed_on_total" { "how" = "told" } "Calls for a game that another server has: a proxy was told its name, or the connection was tunnelled to it.";
        GamePassedOnTunnelledTotal = "homeroom_game_passed_on_total" { "how" = "tunnelled" } "Calls for a game that another server has: a proxy was told its name, or the connection was tunnelled to it.";
        GameClaimsDelayedTotal = "homeroom_game_claims_delayed_total" "Times a game was not taken over yet because a server with a lease could not be asked.";
        GameStandstillsTotal = "homeroom_game_standstills_total" "Times this server ran nothing for more than a second and had to look whether its games are still its own.";
        GameLeasesRenewedTotal = "homeroom_game_leases_renewed_total" "Times this server renewed its lease among the others.";
        GameLeasesFailedTotal = "homeroom_game_leases_failed_total" "Times this server could not renew its lease.";
        GameJournalBehindTotal = "homeroom_game_journal_behind_total" "Times a game went on before its journal was saved.";
        GameStartsUncheckedTotal = "homeroom_game_starts_unchecked_total" "Games started by what their teacher held, because the API could not be asked.";
        GameResultsSavedTotal = "homeroom_game_results_saved_total" "Results that the API has saved.";
        GameResultSavesFailedTotal = "homeroom_game_result_saves_failed_total" "Attempts to save a result that failed and were repeated.";
        GameResultsRefusedTotal = "homeroom_game_results_refused_total" "Results that the API refused for good.";
        ApiServedTotal = "homeroom_api_requests_total" { "outcome" = "served" } "Requests answered by the API, by outcome.";
        ApiRefusedTotal = "homeroom_api_requests_total" { "outcome" = "refused" } "Requests answered by the API, by outcome.";
        ApiServerErrorsTotal = "homeroom_api_requests_total" { "outcome" = "failed" } "Requests answered by the API, by outcome.";
        ApiAdmittedServiceTotal = "homeroom_api_admitted_total" { "class" = "service" } "Calls that were let on to the API's database, by class.";
        ApiAdmittedEntryTotal = "homeroom_api_admitted_total" { "class" = "entry" } "Calls that were let on to the API's database, by class.";
        ApiAdmittedEditTotal = "homeroom_api_admitted_total" { "class" = "edit" } "Calls that were let on to the API's database, by class.";
        ApiAdmittedReadTotal = "homeroom_api_admitted_total" { "class" = "read" } "Calls that were let on to the API's database, by class.";
        ApiShedServiceTotal = "homeroom_api_shed_total" { "class" = "service" } "Calls refused because the API was at its capacity, by class.";
        ApiShedEntryTotal = "homeroom_api_shed_total" { "class" = "entry" } "Calls refused because the API was at its capacity, by class.";
        ApiShedEditTotal = "homeroom_api_shed_total" { "class" = "edit" } "Calls refused because the API was at its capacity, by class.";
        ApiShedReadTotal = "homeroom_api_shed_total" { "class" = "read" } "Calls refused because the API was at its capacity, by class.";
        ApiQuotaSpentTotal = "homeroom_api_quota_spent_total" "Calls refused because their teacher had made as many as one may.";
        ApiCopyUsedTotal = "homeroom_api_replica_reads_total" { "outcome" = "used" } "Counts that were due to the read replica, by whether it was up to date.";
        ApiCopyPassedTotal = "homeroom_api_replica_reads_total" { "outcome" = "passed" } "Counts that were due to the read replica, by whether it was up to date.";
        ApiReadsRememberedTotal = "homeroom_api_reads_remembered_total" "Reads answered from memory, because nothing of that teacher's had changed.";
        ApiLettersSentTotal = "homeroom_api_letters_total" { "outcome" = "sent" } "Letters to teachers, by whether the mail server took them.";
        ApiLettersFailedTotal = "homeroom_api_letters_total" { "outcome" = "failed" } "Letters to teachers, by whether the mail server took them.";
        ApiLettersDroppedTotal = "homeroom_api_letters_total" { "outcome" = "dropped" } "Letters to teachers, by whether the mail server took them.";
        LoginsRefusedTotal = "homeroom_api_logins_refused_total" "Sign-ins with an unknown address or a wrong password.";
        RefreshReusedTotal = "homeroom_api_refresh_reused_total" "Sessions ended because a replaced refresh token was presented.";
        ImportsTotal = "homeroom_api_imports_total" "Files imported.";
        ImportsRefusedTotal = "homeroom_api_imports_refused_total" "Files that could not be imported at all.";
        ResultsSavedTotal = "homeroom_api_results_saved_total" "Results of games saved.";
        ProxyGameRequestsTotal = "homeroom_proxy_requests_total" { "route" = "game" } "Requests to the proxy, by route.";
        ProxySocketRequestsTotal = "homeroom_proxy_requests_total" { "route" = "socket" } "Requests to the proxy, by route.";
        ProxyStoreRequestsTotal = "homeroom_proxy_requests_total" { "route" = "store" } "Requests to the proxy, by route.";
        ProxyPageRequestsTotal = "homeroom_proxy_requests_total" { "route" = "page" } "Requests to the proxy, by route.";
        ProxyKeysMissingTotal = "homeroom_proxy_keys_refused_total" { "reason" = "missing" } "Requests refused for want of a game's key, by what was wrong with it.";
        ProxyKeysEmptyTotal = "homeroom_proxy_keys_refused_total" { "reason" = "empty" } "Requests refused for want of a game's key, by what was wrong with it.";
        ProxyKeysRepeatedTotal = "homeroom_proxy_keys_refused_total" { "reason" = "repeated" } "Requests refused for want of a game's key, by what was wrong with it.";
        ProxyKeysMalformedTotal = "homeroom_proxy_keys_refused_total" { "reason" = "malformed" } "Requests refused for want of a game's key, by what was wrong with it.";
        ProxyRefusedTotal = "homeroom_proxy_requests_refused_total" "Requests that the proxy refused for their form or size.";
        ProxyNoServerTotal = "homeroom_proxy_requests_failed_total" { "reason" = "no_server" } "Requests without an answer of a server, by reason.";
        ProxyBusyTotal = "homeroom_proxy_requests_failed_total" { "reason" = "busy" } "Requests without an answer of a server, by reason.";
        ProxyMovingTotal = "homeroom_proxy_requests_failed_total" { "reason" = "moving" } "Requests without an answer of a server, by reason.";
        ProxyBrokenTotal = "homeroom_proxy_requests_failed_total" { "reason" = "broken" } "Requests without an answer of a server, by reason.";
        ProxyLateTotal = "homeroom_proxy_requests_failed_total" { "reason" = "late" } "Requests without an answer of a server, by reason.";
        ProxyWatchErrorsTotal = "homeroom_proxy_watch_errors_total" "Times the Kubernetes API failed to tell of a service's pods.";
        ProxyAnswersBrokenTotal = "homeroom_proxy_answers_cut_total" { "reason" = "broken" } "Answers cut off in their body, by reason.";
        ProxyAnswersStalledTotal = "homeroom_proxy_answers_cut_total" { "reason" = "stalled" } "Answers cut off in their body, by reason.";
        ProxyOwnersFollowedTotal = "homeroom_proxy_owners_followed_total" "Requests sent on because a game server named another one as the game's owner.";
        ProxyServersPassedOverTotal = "homeroom_proxy_servers_passed_over_total" "Times a server could not be reached and another one was asked.";
        ProxyRetriesTotal = "homeroom_proxy_retries_total" "Requests sent a second time after a server broke off.";
        ProxyTunnelsClosedTotal = "homeroom_proxy_tunnels_ended_total" { "how" = "closed" } "Tunnels that ended, by how.";
        ProxyTunnelsBrokenTotal = "homeroom_proxy_tunnels_ended_total" { "how" = "broken" } "Tunnels that ended, by how.";
        ProxyTunnelsSilentTotal = "homeroom_proxy_tunnels_ended_total" { "how" = "silent" } "Tunnels that ended, by how.";
        ProxyTunnelsDrainedTotal = "homeroom_proxy_tunnels_ended_total" { "how" = "drained" } "Tunnels that ended, by how.";
        ProxyTunnelsGivenUpTotal = "homeroom_proxy_tunnels_ended_total" { "how" = "given_up" } "Tunnels that ended, by how.";
        EpochsReservedTotal = "homeroom_api_epochs_reserved_total" "Epochs reserved for game servers that go on with a game which another one may still hold.";
        ResultsSupersededTotal = "homeroom_api_results_superseded_total" "Results refused because a higher epoch of their game is reserved.";
        ResultsRefusedTotal = "homeroom_api_results_refused_total" "Results refused because another one of the same game is stored.";
    }
);

table!(
    /// Things that go up and down.
    Gauge {
        Http2Connections = "homeroom_http_multiplexed_connections" "Client connections that speak HTTP/2; homeroom_http_connections counts them, too.";
        Connections = "homeroom_http_connections" "Client connections open, WebSockets included.";
        Games = "homeroom_game_games" "Games held, those whose result is not saved yet included.";
        GameSockets = "homeroom_game_sockets" "Game sockets open.";
        GameServersLeased = "homeroom_game_servers_leased" "Game servers with a lease, this one included; 0 for a server that is alone.";
        RedisConnected = "homeroom_game_redis_connected" "Whether the Redis that keeps the games can be reached: 1, else 0.";
        ApiPermitsUsed = "homeroom_api_permits_used" "Calls that may use the API's database now.";
        ApiChangesUntold = "homeroom_api_changes_untold" "Teachers of whose changes the other API processes have not been told yet, because Redis does not answer.";
        ProxyTunnels = "homeroom_proxy_tunnels" "WebSockets passed through.";
        ProxyGameServers = "homeroom_proxy_game_servers" "Game servers that the proxy knows.";
        ProxyGameServersReady = "homeroom_proxy_game_servers_ready" "Game servers that are ready.";
        ProxyApis = "homeroom_proxy_apis" "APIs that the proxy knows.";
        ProxyApisReady = "homeroom_proxy_apis_ready" "APIs that are ready.";
        ProxyMembershipDigest = "homeroom_proxy_membership_digest" "A number that proxies share when they know the same game servers.";
        ApiRedisAnswers = "homeroom_api_redis_answers" "Whether the Redis that API processes share answers: 1, else 0; 0 without one.";
        ApiDatabaseAnswers = "homeroom_api_database_answers" "Whether the API's database answers: 1, else 0.";
        GameResultsPending = "homeroom_game_results_pending" "Results that the API does not have yet.";
    }
);

table!(
    /// Distributions, in seconds.
    Histogram {
        RuntimeLagSeconds = "homeroom_runtime_lag_seconds" "How late the runtime ran a task that was due every second.";
        GameJournalAppendSeconds = "homeroom_game_journal_append_seconds" "Time for an append to a game journal to be answered.";
        ApiAdmissionWaitSeconds = "homeroom_api_admission_wait_seconds" "Time that an admitted call waited for its permit.";
        ProxyRequestSeconds = "homeroom_proxy_request_seconds" "Time from a request's head to its answer's head at the proxy, WebSocket handshakes included.";
        ApiRequestSeconds = "homeroom_api_request_seconds" "Time from a request's head to its answer's head in the API.";
    }
);

/// Buckets of every histogram, in seconds: fine below 25 ms, where a class feels a difference, coarse up to 10 s.
const BUCKETS_S: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

struct Handles {
    counters: Vec<metrics::Counter>,
    gauges: Vec<metrics::Gauge>,
    histograms: Vec<metrics::Histogram>,
}

static HANDLES: OnceLock<Handles> = OnceLock::new();
static EXPORTER: OnceLock<PrometheusHandle> = OnceLock::new();

/// Installs the process's exporter and registers every metric, so that each is exported as 0 before its first event.
/// A second call (tests) returns the first one's handle.
///
/// # Errors
/// When another recorder was installed in this process.
pub fn install() -> Result<PrometheusHandle, metrics_exporter_prometheus::BuildError> {
    if let Some(handle) = EXPORTER.get() {
        return Ok(handle.clone());
    }
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS_S)?
        .install_recorder()?;
    metrics::with_recorder(|recorder| {
        let metadata = Metadata::new("homeroom", Level::INFO, None);
        let key = |d: Description| {
            let labels: Vec<Label> = d
                .label
                .iter()
                .map(|(k, v)| Label::from_static_parts(k, v))
                .collect();
            metrics::Key::from_parts(d.name, labels)
        };
        let _first = HANDLES.get_or_init(|| Handles {
            counters: Counter::ALL
                .iter()
                .map(|c| c.describe())
                .map(|d| {
                    recorder.describe_counter(d.name.into(), None, d.help.into());
                    recorder.register_counter(&key(d), &metadata)
                })
                .collect(),
            gauges: Gauge::ALL
                .iter()
                .map(|g| g.describe())
                .map(|d| {
                    recorder.describe_gauge(d.name.into(), None, d.help.into());
                    recorder.register_gauge(&key(d), &metadata)
                })
                .collect(),
            histograms: Histogram::ALL
                .iter()
                .map(|h| h.describe())
                .map(|d| {
                    recorder.describe_histogram(d.name.into(), None, d.help.into());
                    recorder.register_histogram(&key(d), &metadata)
                })
                .collect(),
        });
    });
    Ok(EXPORTER.get_or_init(|| handle).clone())
}

/// Adds one.
pub fn inc(counter: Counter) {
    add(counter, 1);
}

/// Adds `n`.
pub fn add(counter: Counter, n: u64) {
    if let Some(handle) = HANDLES.get().and_then(|h| h.counters.get(counter as usize)) {
        handle.increment(n);
    }
}

/// Moves a gauge by `by`.
pub fn shift(gauge: Gauge, by: f64) {
    if let Some(handle) = HANDLES.get().and_then(|h| h.gauges.get(gauge as usize)) {
        handle.increment(by);
    }
}

/// Sets a gauge.
pub fn set(gauge: Gauge, value: f64) {
    if let Some(handle) = HANDLES.get().and_then(|h| h.gauges.get(gauge as usize)) {
        handle.set(value);
    }
}

/// Records a duration.
pub fn record(histogram: Histogram, duration: std::time::Duration) {
    if let Some(handle) = HANDLES.get().and_then(|h| h.histograms.get(histogram as usize)) {
        handle.record(duration.as_secs_f64());
    }
}

/// A gauge that counts living things: one up now, one down when dropped.
#[derive(Debug)]
pub struct Alive(Gauge);

impl Alive {
    /// Counts one more.
    #[must_use]
    pub fn new(gauge: Gauge) -> Self {
        shift(gauge, 1.0);
        Self(gauge)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        shift(self.0, -1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Description> {
        let counters = Counter::ALL.iter().map(|m| m.describe());
        counters
            .chain(Gauge::ALL.iter().map(|m| m.describe()))
            .chain(Histogram::ALL.iter().map(|m| m.describe()))
            .collect()
    }

    #[test]
    fn names_follow_the_scheme() {
        for Description { name, help, .. } in all() {
            assert!(name.starts_with("homeroom_"), "{name}");
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
                "{name}"
            );
            assert!(help.ends_with('.'), "{name}: the help text is a sentence");
        }
        assert!(Counter::ALL.iter().all(|c| c.describe().name.ends_with("_total")));
        assert!(
            Histogram::ALL
                .iter()
                .all(|c| c.describe().name.ends_with("_seconds"))
        );
    }

    #[test]
    fn what_is_counted_is_exported() {
        let exporter = install().unwrap();
        inc(Counter::ConnectionsAcceptedTotal);
        let alive = Alive::new(Gauge::Connections);
        let page = exporter.render();
        for Description { name, .. } in all().iter().filter(|d| !d.name.ends_with("_seconds")) {
            assert!(page.contains(name), "{name} is missing");
        }
        assert!(page.contains("homeroom_http_connections_accepted_total 1"));
        assert!(page.contains("homeroom_http_connections 1"));
        drop(alive);
        assert!(exporter.render().contains("homeroom_http_connections 0"));
    }
}
