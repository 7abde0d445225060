//! The pods of one service, as the Kubernetes API tells them: its EndpointSlices are listed once and then watched.
//!
//! kube's watcher goes on where it was when a connection ends, lists anew when the API has forgotten that place (410), and
//! waits longer from error to error. While the API says nothing, whoever was there last is there.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt as _, pin_mut};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt as _};
use runtime::metrics::{self, Counter};
use tokio::sync::Notify;

use crate::members::{Member, is_name};
use crate::source::Ports;

/// The label by which slices name their service.
const SERVICE_LABEL: &str = "kubernetes.io/service-name";
/// Seconds of one watch, after which it is begun anew where it was; one on which nothing comes for longer is taken for dead.
const WATCH_S: u32 = 120;

/// The pods of one service.
#[derive(Debug)]
pub(crate) struct Slices {
    /// None until the first list is whole.
    pods: Arc<Mutex<Option<Vec<Member>>>>,
    news: Arc<Notify>,
}

impl Slices {
    /// Listens to `kubernetes` about a service in `namespace`, and tells `news` of every change.
    pub(crate) fn watch(
        kubernetes: Client,
        namespace: &str,
        service: &str,
        ports: Ports,
        news: Arc<Notify>,
    ) -> Self {
        let slices = Self {
            pods: Arc::default(),
            news: Arc::clone(&news),
        };
        let api = Api::namespaced(kubernetes, namespace);
        let view = View {
            service: service.to_owned(),
            ports,
            whole: BTreeMap::new(),
            coming: BTreeMap::new(),
            pods: Arc::clone(&slices.pods),
            news,
            is_failing: false,
        };
        tokio::spawn(view.keep(api));
        slices
    }

    /// Who is there; nobody when that is not known after `patience`.
    pub(crate) async fn told(&self, patience: Duration) -> Vec<Member> {
        let known = async {
            loop {
                let news = self.news.notified();
                if let Some(pods) = lock(&self.pods).clone() {
                    return pods;
                }
                news.await;
            }
        };
        tokio::time::timeout(patience, known).await.unwrap_or_default()
    }
}

fn lock(pods: &Mutex<Option<Vec<Member>>>) -> MutexGuard<'_, Option<Vec<Member>>> {
    pods.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is known of a service's slices.
struct View {
    service: String,
    ports: Ports,
    /// Pods by slice.
    whole: BTreeMap<String, Vec<Pod>>,
    /// The same of a list that is not at its end.
    coming: BTreeMap<String, Vec<Pod>>,
    pods: Arc<Mutex<Option<Vec<Member>>>>,
    news: Arc<Notify>,
    is_failing: bool,
}

impl View {
    async fn keep(mut self, api: Api<EndpointSlice>) {
        let only = watcher::Config::default()
            .labels(&format!("{SERVICE_LABEL}={}", self.service))
            .timeout(WATCH_S);
        let events = watcher(api, only).default_backoff();
        pin_mut!(events);
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => self.heard(event),
                Err(error) => self.failed(&error),
            }
        }
    }

    fn heard(&mut self, event: Event<EndpointSlice>) {
        if self.is_failing {
            self.is_failing = false;
            tracing::info!(service = self.service, "the Kubernetes API answers again");
        }
        match event {
            Event::Init => self.coming.clear(),
            Event::InitApply(slice) => {
                self.coming.insert(slice.name_any(), members(&slice, self.ports));
            }
            Event::InitDone => {
                self.whole = std::mem::take(&mut self.coming);
                self.tell();
            }
            Event::Apply(slice) => {
                self.whole.insert(slice.name_any(), members(&slice, self.ports));
                self.tell();
            }
            Event::Delete(slice) => {
                self.whole.remove(&slice.name_any());
                self.tell();
            }
        }
    }

    /// Logged once a row: the watcher tries again by itself.
    fn failed(&mut self, error: &watcher::Error) {
        metrics::inc(Counter::ProxyWatchErrorsTotal);
        if !self.is_failing {
            self.is_failing = true;
            tracing::warn!(service = self.service, %error, "the Kubernetes API does not tell of the pods; the known ones stay");
        }
    }

    fn tell(&self) {
        // One that moves from slice to slice, or has addresses of both families, is in two of them; one that ends may be listed
        // beside the one that takes its name.
        let mut pods: Vec<&Pod> = self.whole.values().flatten().collect();
        pods.sort_by_key(|pod| (&pod.member.name, !pod.is_ready, &pod.member));
        pods.dedup_by_key(|pod| &pod.member.name);
        let pods = pods.into_iter().map(|pod| pod.member.clone()).collect();
        *lock(&self.pods) = Some(pods);
        self.news.notify_one();
        self.news.notify_waiters();
    }
}

/// A pod of a slice.
#[derive(Debug)]
struct Pod {
    member: Member,
    is_ready: bool,
}

/// The pods of a slice. All of them when they can be asked themselves whether they are ready, or else those that Kubernetes
/// calls so: a game server that starts anew keeps its place, and only then.
fn members(slice: &EndpointSlice, ports: Ports) -> Vec<Pod> {
    let pods = slice.endpoints.iter().filter_map(|endpoint| {
        let is_ready = endpoint.conditions.as_ref().and_then(|c| c.ready).unwrap_or(true);
        let pod = endpoint.target_ref.as_ref()?;
        let name = pod.name.clone().filter(|name| is_name(name))?;
        let address: IpAddr = endpoint.addresses.first()?.parse().ok()?;
        let is_pod = pod.kind.as_deref() == Some("Pod");
        (is_pod && (is_ready || ports.probe.is_some())).then(|| Pod {
            member: Member {
                name,
                address: SocketAddr::new(address, ports.own),
                probe_port: ports.probe,
            },
            is_ready,
        })
    });
    pods.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(ports: Ports) -> Vec<String> {
        let pod = |name: &str, address: &str, conditions: serde_json::Value| {
            json!({
                "addresses": [address],
                "conditions": conditions,
                "targetRef": { "kind": "Pod", "name": name },
            })
        };
        let slice = serde_json::from_value(json!({
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": { "name": "game-x7" },
            "addressType": "IPv4",
            "endpoints": [
                pod("game-0", "10.0.0.7", json!({ "ready": true })),
                pod("game-1", "10.0.0.8", json!({ "ready": false, "serving": true, "terminating": true })),
                pod("game-2", "10.0.0.9", json!({})),
                pod("game-3", "fd00::1", json!({ "ready": true })),
                pod("a.b", "10.0.0.10", json!({ "ready": true })),
                pod("game-4", "pod.example", json!({ "ready": true })),
                { "addresses": [], "targetRef": { "kind": "Pod", "name": "game-5" } },
                { "addresses": ["10.0.0.11"] },
                { "addresses": ["10.0.0.12"], "targetRef": { "kind": "Node", "name": "n" } },
            ],
        }))
        .unwrap();
        let members = members(&slice, ports);
        members
            .iter()
            .map(|Pod { member: m, .. }| format!("{} {} {:?}", m.name, m.address, m.probe_port))
            .collect()
    }

    #[test]
    fn pods_with_a_name_and_an_address_are_members_and_without_probes_only_ready_ones() {
        assert_eq!(
            told(Ports { own: 1, probe: None }),
            [
                "game-0 10.0.0.7:1 None",
                "game-2 10.0.0.9:1 None",
                "game-3 [fd00::1]:1 None"
            ]
        );
        assert_eq!(
            told(Ports {
                own: 1,
                probe: Some(2)
            }),
            [
                "game-0 10.0.0.7:1 Some(2)",
                "game-1 10.0.0.8:1 Some(2)",
                "game-2 10.0.0.9:1 Some(2)",
                "game-3 [fd00::1]:1 Some(2)"
            ]
        );
    }

    /// A pod that is on its way out may be listed beside the one that takes its name, and its address is nobody's soon.
    #[test]
    fn of_two_pods_of_one_name_the_ready_one_is_meant() {
        let slice = |name: &str, pods: &[(&str, bool)]| -> EndpointSlice {
            let endpoints: Vec<_> = pods
                .iter()
                .map(|(address, ready)| {
                    json!({
                        "addresses": [address],
                        "conditions": { "ready": ready },
                        "targetRef": { "kind": "Pod", "name": "game-0" },
                    })
                })
                .collect();
            let slice =
                json!({ "metadata": { "name": name }, "addressType": "IPv4", "endpoints": endpoints });
            serde_json::from_value(slice).unwrap()
        };
        let mut view = View {
            service: "game".to_owned(),
            ports: Ports {
                own: 1,
                probe: Some(2),
            },
            whole: BTreeMap::new(),
            coming: BTreeMap::new(),
            pods: Arc::default(),
            news: Arc::default(),
            is_failing: false,
        };
        let mut after = |slice| {
            view.heard(Event::Apply(slice));
            let pods = lock(&view.pods).clone().unwrap();
            pods.iter().map(|pod| pod.address.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(after(slice("a", &[("10.0.0.5", false)])), ["10.0.0.5:1"]);
        assert_eq!(
            after(slice("a", &[("10.0.0.5", false), ("10.0.0.9", true)])),
            ["10.0.0.9:1"]
        );
        // Both in one slice or in two, and none of them ready.
        assert_eq!(after(slice("b", &[("10.0.0.7", true)])), ["10.0.0.7:1"]);
        assert_eq!(
            after(slice("b", &[("10.0.0.4", false), ("10.0.0.6", false)])),
            ["10.0.0.9:1"]
        );
    }
}
