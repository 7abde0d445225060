//! Membership by the Kubernetes API, before a small API server that lists, watches, forgets, breaks off and refuses as it is
//! told.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get as on_get;
use futures_util::stream;
use http::StatusCode;
use ingress_proxy::{Discovery, Group, Kind, Proxy};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::support::{Running, get, listen, settings, telling};

/// kube waits up to 30 s between two tries, in our tests for no more than four of them.
const IN_TIME: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Asked {
    List,
    Watch { from: String },
}

#[derive(Default)]
struct World {
    slices: Vec<Value>,
    version: u64,
    asked: Vec<Asked>,
    watches: Vec<mpsc::Sender<Value>>,
    is_away: bool,
    /// Watches from before this version are too old.
    oldest: u64,
}

/// An API server with the slices of one namespace.
#[derive(Clone, Default)]
struct Cluster(Arc<Mutex<World>>);

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    watch: Option<bool>,
    label_selector: String,
    resource_version: Option<String>,
}

fn gone() -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410, "message": "too old resource version", "metadata": {} })
}

async fn asked(
    State(cluster): State<Cluster>,
    Path(namespace): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Response {
    assert_eq!(namespace, "homeroom");
    assert_eq!(
        wanted.label_selector, "kubernetes.io/service-name=game",
        "only one service's"
    );
    let mut world = cluster.0.lock().unwrap();
    if world.is_away {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    if wanted.watch != Some(true) {
        world.asked.push(Asked::List);
        return axum::Json(json!({
            "kind": "EndpointSliceList",
            "apiVersion": "discovery.k8s.io/v1",
            "metadata": { "resourceVersion": world.version.to_string() },
            "items": world.slices,
        }))
        .into_response();
    }
    let from = wanted.resource_version.unwrap();
    let is_too_old = from.parse::<u64>().unwrap() < world.oldest;
    world.asked.push(Asked::Watch { from });
    let (sender, receiver) = mpsc::channel(16);
    if is_too_old {
        sender
            .try_send(json!({ "type": "ERROR", "object": gone() }))
            .unwrap();
    }
    world.watches.push(sender);
    let lines = stream::unfold(receiver, |mut receiver| async move {
        let event: Value = receiver.recv().await?;
        Some((Ok::<_, Infallible>(Bytes::from(format!("{event}\n"))), receiver))
    });
    Body::from_stream(lines).into_response()
}

impl Cluster {
    async fn start() -> (Self, Running) {
        let cluster = Self::default();
        cluster.0.lock().unwrap().version = 100;
        let router = Router::new()
            .route(
                "/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices",
                on_get(asked),
            )
            .with_state(cluster.clone());
        let running = listen(router).await;
        (cluster, running)
    }

    fn with<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }

    /// Changes a slice, and tells whoever watches.
    fn set(&self, name: &str, pods: &[(&str, &str)]) {
        self.with(|world| {
            world.version += 1;
            let slice = slice(name, pods, world.version);
            let is_new = !world.slices.iter().any(|old| old["metadata"]["name"] == name);
            world.slices.retain(|old| old["metadata"]["name"] != name);
            world.slices.push(slice.clone());
            let kind = if is_new { "ADDED" } else { "MODIFIED" };
            world.tell(&json!({ "type": kind, "object": slice }));
        });
    }

    fn remove(&self, name: &str) {
        self.with(|world| {
            world.version += 1;
            world.slices.retain(|old| old["metadata"]["name"] != name);
            let slice = slice(name, &[], world.version);
            world.tell(&json!({ "type": "DELETED", "object": slice }));
        });
    }

    fn asked(&self) -> Vec<Asked> {
        self.with(|world| world.asked.clone())
    }

    /// Waits until somebody watches.
    async fn is_watched(&self) {
        until("somebody watches", || {
            self.with(|world| !world.watches.is_empty())
        })
        .await;
    }
}

impl World {
    fn tell(&mut self, event: &Value) {
        self.watches.retain(|watch| watch.try_send(event.clone()).is_ok());
    }
}

fn slice(name: &str, pods: &[(&str, &str)], version: u64) -> Value {
    let endpoint = |(name, address): &(&str, &str)| {
        json!({
            "addresses": [address],
            "conditions": { "ready": true },
            "targetRef": { "kind": "Pod", "name": name, "namespace": "homeroom" },
        })
    };
    json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": { "name": name, "namespace": "homeroom", "resourceVersion": version.to_string() },
        "addressType": "IPv4",
        "endpoints": pods.iter().map(endpoint).collect::<Vec<_>>(),
    })
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + IN_TIME;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        tokio::task::yield_now().await;
    }
}

/// A group that is kept as the API at `address` tells.
async fn follow(address: SocketAddr, port: u16) -> Group {
    let config = kube::Config::new(format!("http://{address}").parse().unwrap());
    let client = kube::Client::try_from(config).unwrap();
    let source = format!("kubernetes:game.homeroom:{port}").parse().unwrap();
    let mut discovery = Discovery::new(vec![source]).unwrap();
    assert!(discovery.asks_kubernetes() && discovery.changes());
    discovery.watch(&client);
    let group = Group::nobody(Kind::Games);
    discovery.update(&group).await.unwrap();
    tokio::spawn(discovery.keep(group.clone()));
    group
}

fn names(group: &Group) -> Vec<String> {
    let now = group.now();
    now.all()
        .iter()
        .map(|server| format!("{}@{}", server.name(), server.member().address))
        .collect()
}

async fn becomes(group: &Group, expected: &[&str]) {
    let end = Instant::now() + IN_TIME;
    while names(group) != expected {
        assert!(Instant::now() < end, "{:?}, not {expected:?}", names(group));
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn every_change_of_a_services_slices_is_followed_at_once() {
    let (cluster, api) = Cluster::start().await;
    cluster.set("game-a", &[("game-0", "10.0.0.7"), ("game-1", "10.0.0.8")]);
    let group = follow(api.address, 8080).await;
    assert_eq!(names(&group), ["game-0@10.0.0.7:8080", "game-1@10.0.0.8:8080"]);
    cluster.is_watched().await;
    let begun = Instant::now();
    cluster.set("game-b", &[("game-2", "10.0.0.9")]);
    becomes(
        &group,
        &[
            "game-0@10.0.0.7:8080",
            "game-1@10.0.0.8:8080",
            "game-2@10.0.0.9:8080",
        ],
    )
    .await;
    // It comes back at another address, and another one goes.
    cluster.set("game-a", &[("game-0", "10.0.0.17")]);
    becomes(&group, &["game-0@10.0.0.17:8080", "game-2@10.0.0.9:8080"]).await;
    cluster.remove("game-b");
    becomes(&group, &["game-0@10.0.0.17:8080"]).await;
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "told, not looked for every 5 s"
    );
    // Nobody left is what a broken selector looks like, too: whoever was there stays.
    cluster.set("game-a", &[]);
    cluster.set("game-c", &[("game-3", "10.0.0.20")]);
    becomes(&group, &["game-3@10.0.0.20:8080"]).await;
    assert_eq!(
        cluster
            .asked()
            .iter()
            .filter(|asked| **asked == Asked::List)
            .count(),
        1
    );
}

#[tokio::test]
async fn a_watch_that_ends_goes_on_where_it_was() {
    let (cluster, api) = Cluster::start().await;
    cluster.set("game-a", &[("game-0", "10.0.0.7")]);
    let group = follow(api.address, 1).await;
    cluster.is_watched().await;
    cluster.set("game-a", &[("game-1", "10.0.0.8")]);
    becomes(&group, &["game-1@10.0.0.8:1"]).await;
    cluster.with(|world| world.watches.clear());
    cluster.is_watched().await;
    cluster.set("game-a", &[("game-2", "10.0.0.9")]);
    becomes(&group, &["game-2@10.0.0.9:1"]).await;
    let watch = |from: &str| Asked::Watch {
        from: from.to_owned(),
    };
    assert_eq!(cluster.asked(), [Asked::List, watch("101"), watch("102")]);
}

#[tokio::test]
async fn what_the_api_has_forgotten_is_listed_anew() {
    let (cluster, api) = Cluster::start().await;
    cluster.set("game-a", &[("game-0", "10.0.0.7")]);
    cluster.set("game-b", &[("game-1", "10.0.0.8")]);
    let group = follow(api.address, 1).await;
    cluster.is_watched().await;
    // Changes that no watch tells of: game-b is gone, game-c is new.
    cluster.with(|world| {
        world.watches.clear();
        world.slices.retain(|old| old["metadata"]["name"] != "game-b");
        world.slices.push(slice("game-c", &[("game-2", "10.0.0.9")], 500));
        (world.version, world.oldest) = (500, 500);
    });
    becomes(&group, &["game-0@10.0.0.7:1", "game-2@10.0.0.9:1"]).await;
    let watch = |from: &str| Asked::Watch {
        from: from.to_owned(),
    };
    assert_eq!(
        cluster.asked()[..4],
        [Asked::List, watch("102"), watch("102"), Asked::List]
    );
    // In the middle of a watch as well.
    until("it watches again", || {
        cluster.asked().last() == Some(&watch("500"))
    })
    .await;
    cluster.with(|world| {
        world.slices.retain(|old| old["metadata"]["name"] != "game-c");
        world.version = 600;
        world.tell(&json!({ "type": "ERROR", "object": gone() }));
    });
    becomes(&group, &["game-0@10.0.0.7:1"]).await;
}

#[tokio::test]
async fn while_the_api_is_away_everybody_stays() {
    let (cluster, api) = Cluster::start().await;
    cluster.set("game-a", &[("game-0", "10.0.0.7")]);
    let group = follow(api.address, 1).await;
    cluster.is_watched().await;
    let metrics = runtime::metrics::install().unwrap();
    cluster.with(|world| {
        world.is_away = true;
        world.watches.clear();
    });
    until("failures are counted", || {
        !metrics.render().contains("homeroom_proxy_watch_errors_total 0\n")
    })
    .await;
    assert_eq!(names(&group), ["game-0@10.0.0.7:1"]);
    cluster.with(|world| {
        world.is_away = false;
        world.slices = vec![slice("game-a", &[("game-1", "10.0.0.8")], 900)];
        (world.version, world.oldest) = (900, 900);
    });
    becomes(&group, &["game-1@10.0.0.8:1"]).await;
}

/// Whatever comes on a watch, and however many pods a slice names: who was known stays, and what is right counts again.
#[tokio::test]
async fn nonsense_from_the_api_changes_nothing() {
    let many: Vec<String> = (0..65).map(|number| format!("game-{number}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "10.0.0.9")).collect();
    let kinds = [
        json!("nonsense"),
        json!({ "type": "MODIFIED", "object": { "metadata": 7 } }),
        json!({ "type": "EXPLODED", "object": {} }),
        json!({ "type": "ERROR", "object": { "code": "x" } }),
        json!({ "type": "MODIFIED", "object": slice("game-a", &many, 102) }),
    ];
    for nonsense in kinds {
        let (cluster, api) = Cluster::start().await;
        cluster.set("game-a", &[("game-0", "10.0.0.7")]);
        let group = follow(api.address, 1).await;
        cluster.is_watched().await;
        cluster.with(|world| world.tell(&nonsense));
        // Behind it on the same watch, so that it has been read when this counts; or the API is asked anew.
        cluster.with(|world| {
            world.slices = vec![slice("game-a", &[("game-1", "10.0.0.8")], 900)];
            (world.version, world.oldest) = (900, 900);
            world.tell(&json!({ "type": "MODIFIED", "object": world.slices[0].clone() }));
            world.watches.clear();
        });
        let end = Instant::now() + IN_TIME;
        loop {
            let known = names(&group);
            if known == ["game-1@10.0.0.8:1"] {
                break;
            }
            assert_eq!(known, ["game-0@10.0.0.7:1"], "{nonsense}");
            assert!(Instant::now() < end, "{nonsense}");
            tokio::task::yield_now().await;
        }
    }
}

/// The proxy goes where the API says, and to the other server when that one is gone.
#[tokio::test]
async fn requests_follow_the_api() {
    let (cluster, api) = Cluster::start().await;
    let server = listen(telling("game-0")).await;
    let port = server.address.port();
    cluster.set("game-a", &[("game-0", "127.0.0.1")]);
    let games = follow(api.address, port).await;
    let apis = crate::support::group(Kind::Apis, &[("api-0", server.address)]);
    let proxy = listen(Proxy::new(games.clone(), apis, settings())).await;
    assert!(
        get(proxy.address, "/game/status?g=K7Q2MX")
            .await
            .contains("game-0 GET")
    );
    cluster.is_watched().await;
    // A pod at an address where nobody listens; the other one takes its games at once.
    cluster.set("game-b", &[("game-1", "127.0.0.2")]);
    becomes(
        &games,
        &[
            &format!("game-0@127.0.0.1:{port}"),
            &format!("game-1@127.0.0.2:{port}"),
        ],
    )
    .await;
    for code in ["K7Q2MX", "222222", "ABCDEF", "ZZZZZZ"] {
        let path = format!("/game/status?g={code}");
        assert!(
            timeout(IN_TIME, get(proxy.address, &path))
                .await
                .unwrap()
                .contains("game-0 GET")
        );
    }
}

/// The real binary, which is told where the API is as every other client of it is.
#[tokio::test]
async fn the_binary_finds_the_api_by_its_kubeconfig() {
    let (cluster, api) = Cluster::start().await;
    let server = listen(telling("game-0")).await;
    cluster.set("game-a", &[("game-0", "127.0.0.1")]);
    let folder = tempfile::tempdir().unwrap();
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{ "name": "test", "cluster": { "server": format!("http://{}", api.address) } }],
        "users": [{ "name": "test", "user": { "token": "secret" } }],
        "contexts": [{ "name": "test", "context": { "cluster": "test", "user": "test", "namespace": "homeroom" } }],
    });
    let file = folder.path().join("config");
    std::fs::write(&file, config.to_string()).unwrap();
    let address = crate::support::nobody().await;
    let mut proxy = std::process::Command::new(env!("CARGO_BIN_EXE_ingress-proxy"))
        .env_clear()
        .env("KUBECONFIG", &file)
        .args(["--listen", &address.to_string()])
        .arg(format!("--game=kubernetes:game:{}", server.address.port()))
        .arg(format!("--api=api-0={}", server.address))
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let end = Instant::now() + IN_TIME;
    while tokio::net::TcpStream::connect(address).await.is_err() {
        let ended = proxy.try_wait().unwrap();
        assert!(ended.is_none() && Instant::now() < end, "{ended:?}");
        tokio::task::yield_now().await;
    }
    let answer = get(address, "/game/status?g=K7Q2MX").await;
    proxy.kill().unwrap();
    proxy.wait().unwrap();
    assert!(answer.contains("game-0 GET"), "{answer}");
}
