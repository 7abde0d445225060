//! The configurations in deploy/gateways, run by the programs they are for, keep the same promises as our own proxy.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::support::{Running, SOON, ask, get, listen, nobody, proxy, say, socket, telling};

/// Games that are placed.
const GAMES: u8 = 150;

/// A gateway; killed when a test ends.
struct Gateway {
    child: Child,
    // Held for its drop.
    _directory: TempDir,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Both fail only when it has ended by itself.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

struct Servers {
    games: Vec<(&'static str, Running)>,
    api: Running,
}

impl Servers {
    async fn start() -> Self {
        let game = async |name| (name, listen(telling(name)).await);
        Self {
            games: vec![game("game-0").await, game("game-1").await],
            api: listen(telling("api-0")).await,
        }
    }

    fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        self.games
            .iter()
            .map(|(name, running)| (*name, running.address))
            .collect()
    }
}

fn config(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy/gateways")
        .join(name)
}

/// A configuration with the servers of a test in the place of those of a cluster, each line with its own.
fn adapted(name: &str, servers: &Servers, listen: SocketAddr) -> String {
    let text = std::fs::read_to_string(config(name)).unwrap();
    let mut places: Vec<(String, SocketAddr)> = Vec::new();
    places.extend(
        servers
            .addresses()
            .iter()
            .map(|(name, at)| (format!("{name}.game"), *at)),
    );
    places.extend(["api-0", "api-1"].map(|name| (format!("{name}.api"), servers.api.address)));
    let lines = text.lines().map(|line| {
        let mut own = places
            .iter()
            .filter(|(place, _)| !line.trim_start().starts_with('#') && line.contains(place.as_str()));
        match own.next() {
            Some((place, at)) => line
                .replace(&format!("{place}:8080"), &at.to_string())
                .replace("port 9090", &format!("port {}", at.port()))
                .replace(
                    &format!("{place}, port_value: 8080"),
                    &format!("{}, port_value: {}", at.ip(), at.port()),
                )
                .replace("port_value: 9090", &format!("port_value: {}", at.port())),
            None => line
                .replace("listen 8080", &format!("listen {listen}"))
                .replace("bind :8080", &format!("bind {listen}"))
                .replace(
                    "0.0.0.0, port_value: 8080",
                    &format!("{}, port_value: {}", listen.ip(), listen.port()),
                )
                // A test's machine may hold fewer descriptors.
                .replace("maxconn 30000", "maxconn 1000")
                .replace("worker_connections 32768", "worker_connections 1000")
                .replace("worker_rlimit_nofile 65536", "worker_rlimit_nofile 4096"),
        }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// A program that the system has, or that `./test` has put among the tools.
fn program(name: &str) -> PathBuf {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../target/tools/bin")
        .join(name);
    if tools.exists() { tools } else { name.into() }
}

async fn start(program: &str, name: &str, arguments: &[&str], servers: &Servers) -> (Gateway, SocketAddr) {
    let address = nobody().await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(name);
    std::fs::write(&file, adapted(name, servers, address)).unwrap();
    let mut command = Command::new(self::program(program));
    command
        .current_dir(directory.path())
        .args(arguments)
        .arg(&file)
        .stdout(Stdio::null());
    let said = directory.path().join("said");
    command.stderr(std::fs::File::create(&said).unwrap());
    let child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{program} must be installed for this test: {error}"));
    let mut gateway = Gateway {
        child,
        _directory: directory,
    };
    let end = tokio::time::Instant::now() + SOON;
    while TcpStream::connect(address).await.is_err() {
        assert!(
            gateway.child.try_wait().unwrap().is_none(),
            "{program} has ended: {}",
            std::fs::read_to_string(&said).unwrap()
        );
        assert!(tokio::time::Instant::now() < end, "{program} does not listen");
        tokio::task::yield_now().await;
    }
    (gateway, address)
}

fn served_by(answer: &str) -> &str {
    let name = answer
        .split("x-server: ")
        .nth(1)
        .unwrap_or_else(|| panic!("{answer}"));
    name.split("\r\n").next().unwrap_or_default()
}

fn codes() -> impl Iterator<Item = String> {
    (0..GAMES)
        .map(|n| protocol::ids::GameCode::from_positions([n / 30, n % 30, 7, 11, n % 13, 5]).to_string())
}

/// `client` is what the gateway must call the test's own address; none where it calls loopback by the machine's name.
async fn keeps_its_promises(address: SocketAddr, mut servers: Servers, client: Option<&str>) {
    let mut first = Vec::new();
    for code in codes() {
        let by = served_by(&get(address, &format!("/game/status?g={code}")).await).to_owned();
        for path in ["/game/games?x=1&g=", "/game/status?g="] {
            assert_eq!(
                served_by(&get(address, &format!("{path}{code}")).await),
                by,
                "{code}"
            );
        }
        first.push(by);
    }
    for (at, code) in codes().enumerate().step_by(10) {
        let mut socket = socket(address, &format!("/game/watch?g={code}")).await.unwrap();
        assert_eq!(say(&mut socket, "hello").await, format!("{}: hello", first[at]));
    }
    let on_zero = first.iter().filter(|by| *by == "game-0").count();
    assert!(
        (45..=105).contains(&on_zero),
        "{on_zero} of {GAMES} games on one of two servers"
    );

    let queries = [
        "",
        "?",
        "?h=K7Q2MX",
        "?g",
        "?g=",
        "?g=k7q2mx",
        "?g=K7Q2M",
        "?g=K7Q2MXX",
        "?g=K7Q2%4DX",
        "?g=K7Q2M0",
        "?g=K7Q2MX&g=K7Q2MX",
        "?g=K7Q2MX&g",
        "?g&g=K7Q2MX",
        "?g=K7Q2MX;g=K7Q2MY",
        "?a=b;g=K7Q2MX",
        "?g=K7Q2MX&%67=K7Q2MY",
        "?%67=K7Q2MY&g=K7Q2MX",
        "?%67=K7Q2MX",
        "?g=K7Q2MX;a=b",
        "?g=K7Q2MX&a;g=1",
    ];
    // All at once: Envoy keeps a refused connection for a second, in case that the client is still sending.
    let asked = queries.iter().flat_map(|query| {
        ["/game/status", "/game/watch", "/game"].map(|path| async move {
            let answer = get(address, &format!("{path}{query}")).await;
            assert!(
                answer.starts_with("HTTP/1.1 400") && answer.contains("bad-game-key"),
                "{path}{query}: {answer}"
            );
            assert!(!answer.contains("x-server"), "{path}{query}: {answer}");
        })
    });
    futures_util::future::join_all(asked).await;

    let forged = "x-forwarded-for: 1.2.3.4\r\nforwarded: for=1.2.3.4\r\nhomeroom-follows-owner: yes\r\nhomeroom-peer: yes\r\nhomeroom-unreachable: yes\r\nhomeroom-wary: yes\r\n";
    for path in ["/game/status?g=K7Q2MX", "/store/quizzes?after=1", "/"] {
        let answer = ask(address, &format!("GET {path}"), forged, "").await;
        let told = answer
            .split("\nx-forwarded-for: ")
            .nth(1)
            .and_then(|rest| rest.split('\n').next());
        assert!(
            told.is_some_and(|told| told.parse::<std::net::IpAddr>().is_ok()),
            "{answer}"
        );
        assert!(client.is_none() || told == client, "{answer}");
        assert!(
            !answer.contains("1.2.3.4") && !answer.contains(": yes"),
            "{answer}"
        );
        assert_eq!(
            served_by(&answer).starts_with("api"),
            !path.starts_with("/game"),
            "{answer}"
        );
        assert!(
            path.starts_with("/game") || answer.contains(&format!("GET {path}\n")),
            "{answer}"
        );
    }

    // One server goes: its games are the other one's now, and nothing else has moved.
    let (_, gone) = servers.games.remove(0);
    let at = gone.address;
    drop(gone);
    while TcpStream::connect(at).await.is_ok() {
        tokio::task::yield_now().await;
    }
    for code in codes() {
        let answer = get(address, &format!("/game/status?g={code}")).await;
        assert_eq!(served_by(&answer), "game-1", "{answer}");
    }
}

#[tokio::test]
async fn our_own_proxy_keeps_them() {
    let servers = Servers::start().await;
    let proxy = proxy(&servers.addresses(), &[("api-0", servers.api.address)]).await;
    keeps_its_promises(proxy.address, servers, Some("127.0.0.1")).await;
}

#[tokio::test]
async fn nginx_keeps_them() {
    let servers = Servers::start().await;
    let arguments = ["-p", ".", "-g", "daemon off; master_process off;", "-c"];
    let (_nginx, address) = start("nginx", "nginx.conf", &arguments, &servers).await;
    keeps_its_promises(address, servers, Some("127.0.0.1")).await;
}

#[tokio::test]
async fn haproxy_keeps_them() {
    let servers = Servers::start().await;
    let (_haproxy, address) = start("haproxy", "haproxy.cfg", &["-db", "-f"], &servers).await;
    keeps_its_promises(address, servers, Some("127.0.0.1")).await;
}

#[tokio::test]
async fn envoy_keeps_them() {
    let servers = Servers::start().await;
    let arguments = [
        "--disable-hot-restart",
        "--concurrency",
        "1",
        "--log-level",
        "error",
        "-c",
    ];
    let (_envoy, address) = start("envoy", "envoy.yaml", &arguments, &servers).await;
    // It listens before it has asked its servers whether they are ready.
    let end = tokio::time::Instant::now() + SOON;
    for path in ["/game/status?g=K7Q2MX", "/store/x"] {
        while !get(address, path).await.starts_with("HTTP/1.1 200") {
            assert!(tokio::time::Instant::now() < end, "no server is ready");
            tokio::task::yield_now().await;
        }
    }
    keeps_its_promises(address, servers, None).await;
}

/// The objects of a file, by kind and name.
fn objects(name: &str) -> std::collections::BTreeMap<String, serde_json::Value> {
    let text = std::fs::read_to_string(config(name)).unwrap();
    let objects: Vec<serde_json::Value> = serde_saphyr::from_multiple(&text).unwrap();
    let key = |object: &serde_json::Value| {
        let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        format!("{} {}", word(&object["kind"]), word(&object["metadata"]["name"]))
    };
    let count = objects.len();
    let by_name: std::collections::BTreeMap<_, _> =
        objects.into_iter().map(|object| (key(&object), object)).collect();
    assert_eq!(by_name.len(), count, "no two of one name");
    by_name
}

/// All values under a name, wherever they are.
fn all<'a>(value: &'a serde_json::Value, name: &str) -> Vec<&'a serde_json::Value> {
    match value {
        serde_json::Value::Object(fields) => fields
            .iter()
            .flat_map(|(field, value)| {
                let own = (field == name).then_some(value);
                own.into_iter().chain(all(value, name))
            })
            .collect(),
        serde_json::Value::Array(values) => values.iter().flat_map(|value| all(value, name)).collect(),
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::String(_) => Vec::new(),
    }
}

fn refuses_keyless(answer: &serde_json::Value) {
    let problem: serde_json::Value = serde_json::from_str(answer.as_str().unwrap()).unwrap();
    assert_eq!(
        (&problem["code"], &problem["status"]),
        (&"bad-game-key".into(), &400.into())
    );
}

/// What a test here cannot run is at least well-formed, refers to what is there, and leaves no known trap open.
#[test]
fn istios_traps_are_closed() {
    let objects = objects("istio.yaml");
    let game = &objects["DestinationRule game"]["spec"]["trafficPolicy"];
    assert_eq!(
        game["loadBalancer"]["consistentHash"]["httpQueryParameterName"],
        "g"
    );
    assert_eq!(game["loadBalancer"]["localityLbSetting"]["enabled"], false);
    for (name, object) in &objects {
        assert_eq!(object["metadata"]["namespace"], "homeroom", "{name}");
        for trap in ["outlierDetection", "subsets", "subset"] {
            assert!(all(object, trap).is_empty(), "{trap} in {name}");
        }
    }
    assert!(game["connectionPool"]["tcp"]["maxConnections"].as_u64() > Some(30_000));
    let routes = objects["VirtualService homeroom"]["spec"]["http"]
        .as_array()
        .unwrap();
    let names: Vec<_> = routes
        .iter()
        .map(|route| route["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["game", "bad-game-key", "api"],
        "the first that fits counts"
    );
    let key = &routes[0]["match"][0]["queryParams"]["g"]["regex"];
    assert_eq!(key, "[2-9A-HJKMNP-TV-Z]{6}");
    assert_eq!(routes[0]["timeout"], "0s");
    assert_eq!(routes[0]["match"][0]["uri"], routes[1]["match"][0]["uri"]);
    assert_eq!(routes[1]["directResponse"]["status"], 400);
    refuses_keyless(&routes[1]["directResponse"]["body"]["string"]);
    for route in [&routes[0], &routes[2]] {
        assert_eq!(route["retries"]["retryOn"], "connect-failure,refused-stream");
        let removed = route["headers"]["request"]["remove"].as_array().unwrap();
        for internal in internal_headers() {
            assert!(removed.contains(&internal.into()), "{internal}");
        }
        let host = route["route"][0]["destination"]["host"].as_str().unwrap();
        let rule = format!("DestinationRule {}", host.split('.').next().unwrap());
        assert_eq!(objects[&rule]["spec"]["host"], host);
    }
}

#[test]
fn envoy_gateways_traps_are_closed() {
    let objects = objects("envoy-gateway.yaml");
    let game = &objects["BackendTrafficPolicy game"]["spec"];
    assert_eq!(game["loadBalancer"]["type"], "ConsistentHash");
    assert_eq!(game["loadBalancer"]["consistentHash"]["type"], "QueryParams");
    assert_eq!(
        game["loadBalancer"]["consistentHash"]["queryParams"][0]["name"],
        "g"
    );
    assert_eq!(game["healthCheck"]["panicThreshold"], 0);
    assert!(game["healthCheck"]["passive"].is_null());
    assert_eq!(game["timeout"]["http"]["requestTimeout"], "0s");
    assert_eq!(game["httpUpgrade"][0]["type"], "websocket");
    assert!(game["circuitBreaker"]["maxConnections"].as_u64() > Some(30_000));
    for (name, object) in &objects {
        assert_eq!(object["metadata"]["namespace"], "homeroom", "{name}");
        for target in all(object, "targetRefs")
            .iter()
            .flat_map(|list| list.as_array().unwrap())
        {
            let named = format!(
                "{} {}",
                target["kind"].as_str().unwrap(),
                target["name"].as_str().unwrap()
            );
            assert!(objects.contains_key(&named), "{name} is about {named}");
        }
    }
    let rules = objects["HTTPRoute game"]["spec"]["rules"].as_array().unwrap();
    let key = &rules[0]["matches"][0]["queryParams"][0];
    assert_eq!(
        (&key["name"], &key["value"]),
        (&"g".into(), &"^[2-9A-HJKMNP-TV-Z]{6}$".into())
    );
    assert_eq!(rules[0]["timeouts"]["request"], "0s");
    let filter = &rules[1]["filters"][0]["extensionRef"];
    let filter = format!(
        "{} {}",
        filter["kind"].as_str().unwrap(),
        filter["name"].as_str().unwrap()
    );
    refuses_keyless(&objects[&filter]["spec"]["directResponse"]["body"]["inline"]);
    for route in ["HTTPRoute game", "HTTPRoute api"] {
        let removed = all(&objects[route], "remove")[0].as_array().unwrap();
        for internal in internal_headers() {
            assert!(removed.contains(&internal.into()), "{internal} in {route}");
        }
    }
}

fn internal_headers() -> [&'static str; 4] {
    use protocol::routing::{FOLLOWS_OWNER, UNREACHABLE};
    [FOLLOWS_OWNER, UNREACHABLE, "homeroom-peer", "homeroom-wary"]
}
