//! Stages behind a proxy: a right one passes, one with a constant key fails on spread while every latency is low.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use load::client::{Target, Targets};
use load::plan::{Habits, Pace, Plan};
use load::report::{Console, Outcome};
use load::scenario::ramp::{self, Placed, Stages};

use crate::fake::{Fake, Fault, Store};
use crate::support::failing;

const PACE: Pace = Pace {
    name: "test",
    join_over_ms: 50,
    answer_ms: (5, 100),
    results_ms: (20, 60),
    close_after_ms: Some(300),
};

/// A proxy that sends a game to the server that its key says; one connection is one request.
struct Proxy {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    fn start(servers: Vec<SocketAddr>, is_constant: bool) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("free port");
        let address = listener.local_addr().expect("address");
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopping);
        let thread = std::thread::spawn(move || {
            for client in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (client, servers) = (client.expect("connection"), servers.clone());
                std::thread::spawn(move || {
                    let _ended = forward(client, &servers, is_constant);
                });
            }
        });
        Self {
            address,
            stopping,
            thread: Some(thread),
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        let _woken = TcpStream::connect(self.address);
        self.thread.take().expect("started").join().expect("listener");
    }
}

fn forward(mut client: TcpStream, servers: &[SocketAddr], is_constant: bool) -> io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n") {
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let line = String::from_utf8_lossy(&head).into_owned();
    let code = line
        .split_once("?g=")
        .map(|(_, rest)| rest.chars().take(6).collect::<String>());
    let key = code.filter(|_| !is_constant).unwrap_or_default();
    let place = key
        .bytes()
        .fold(7u32, |h, b| h.wrapping_mul(31).wrapping_add(u32::from(b)))
        / 64;
    let mut server = TcpStream::connect(servers[usize::try_from(place).expect("small") % servers.len()])?;
    server.set_nodelay(true)?;
    client.set_nodelay(true)?;
    server.write_all(&head)?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || {
        let _copied = io::copy(&mut from, &mut to);
        let _outcome = to.shutdown(Shutdown::Write);
    });
    let _copied = io::copy(&mut server, &mut client);
    client.shutdown(Shutdown::Write)
}

fn stages(habits: Habits) -> Stages {
    Stages {
        classes: vec![10, 20],
        climb_ms: 500,
        hold_ms: 700,
        pace: PACE,
        habits,
    }
}

fn plan(stages: &Stages) -> Plan {
    Plan {
        sizes: vec![3; 20],
        ..stages.plan(1)
    }
}

fn play(is_constant: bool, fault: Fault) -> Outcome {
    let store: Arc<Store> = Arc::default();
    let servers = [Fake::over(fault, Arc::clone(&store)), Fake::over(fault, store)];
    let proxy = Proxy::start(servers.iter().map(|s| s.address).collect(), is_constant);
    let target: Target = format!("http://{}", proxy.address).parse().expect("target");
    let admins = servers.each_ref().map(Fake::target);
    let stages = stages(Habits::NONE);
    ramp::run(
        &target.into(),
        Placed {
            admins: &admins,
            in_turn: false,
        },
        &plan(&stages),
        &stages,
        &mut Console::silent(),
    )
    .expect("carried out")
}

#[test]
fn classes_in_stages_behind_a_right_proxy_pass() {
    let outcome = play(false, Fault::None);
    assert_eq!(failing(&outcome), Vec::<String>::new(), "{}", outcome.figures);
    let figures = &outcome.figures;
    let games: Vec<u64> = serde_json::from_value(figures["spread"]["games"].clone()).expect("numbers");
    assert_eq!(games.iter().sum::<u64>(), 20, "{games:?}");
    assert!(games.iter().all(|&n| n > 0), "{games:?}");
    let stage = &figures["stages"][1];
    assert_eq!((&stage["players"], &stage["joined"]), (&60.into(), &60.into()));
    assert!(
        stage["fan_out"]["count"].as_u64().is_some_and(|n| n > 0),
        "{stage}"
    );
    assert_eq!(stage["join"]["count"], 30, "the joins of this stage alone");
    assert!(
        stage["messages_per_s"].as_f64().is_some_and(|n| n > 0.0),
        "{stage}"
    );
}

#[test]
fn a_proxy_with_a_constant_key_fails_on_spread_while_latency_is_green() {
    let outcome = play(true, Fault::None);
    assert_eq!(
        failing(&outcome),
        ["games on the fullest server over the mean = 2"]
    );
    assert_eq!(outcome.figures["spread"]["games"], serde_json::json!([20, 0]));
}

#[test]
fn servers_that_refuse_half_of_the_joins_fail_the_run_however_fast_they_are() {
    let outcome = play(false, Fault::RefusedJoins);
    assert_eq!(
        failing(&outcome),
        ["faults seen by clients = 20", "players not joined = 20"],
        "one of three in each class"
    );
}

#[test]
fn reports_and_podiums_are_compared_with_the_phones_of_every_class() {
    for fault in [Fault::WrongReport, Fault::WrongPodium, Fault::LostRoster] {
        let outcome = play(false, fault);
        assert_eq!(failing(&outcome), ["faults seen by clients = 20"], "{fault:?}");
        let faults = &outcome.figures["faults"];
        assert_eq!(
            faults,
            &serde_json::json!({"disagreement": 20}),
            "one in each class"
        );
    }
}

#[test]
fn refused_handshakes_fail_the_run_though_everybody_gets_in_in_the_end() {
    let outcome = play(false, Fault::RefusedHandshakes);
    let failing = failing(&outcome);
    let found = |f: &String| f.starts_with("attempts to connect that failed");
    assert!(failing.iter().any(found), "{failing:?}");
}

#[test]
fn clicks_that_show_nothing_fail_the_run() {
    let fake = Fake::start(Fault::IgnoresNext);
    let stages = Stages {
        classes: vec![2],
        hold_ms: 6_500,
        ..stages(Habits::NONE)
    };
    let plan = Plan {
        sizes: vec![3; 2],
        ..stages.plan(1)
    };
    let placed = Placed {
        admins: &[],
        in_turn: false,
    };
    let outcome = ramp::run(
        &fake.target().into(),
        placed,
        &plan,
        &stages,
        &mut Console::silent(),
    );
    let outcome = outcome.expect("carried out");
    assert_eq!(outcome.figures["faults"], serde_json::json!({"no_effect": 2}));
}

#[test]
fn students_with_habits_on_servers_addressed_one_by_one_lose_nothing() {
    let store: Arc<Store> = Arc::default();
    let servers = [
        Fake::over(Fault::None, Arc::clone(&store)),
        Fake::over(Fault::None, store),
    ];
    let habits = Habits {
        name: "test",
        late_percent: 20,
        late_ms_max: 500,
        double_tap_percent: 30,
        reload_percent: 10,
        lost_network_percent: 10,
        slow_percent: 10,
        away_ms: (20, 100),
    };
    let stages = stages(habits);
    let targets = Targets::direct(servers.iter().map(Fake::target).collect(), servers[0].target());
    let placed = Placed {
        admins: &[],
        in_turn: false,
    };
    let outcome =
        ramp::run(&targets, placed, &plan(&stages), &stages, &mut Console::silent()).expect("carried out");
    assert_eq!(failing(&outcome), Vec::<String>::new(), "{}", outcome.figures);
    let figures = &outcome.figures;
    for name in ["dropped", "sent_again"] {
        assert!(figures[name].as_u64().is_some_and(|n| n > 5), "{name}: {figures}");
    }
    assert_eq!(figures["spread"]["counted_by"], "placement");
    assert!(servers.iter().all(|s| s.games() > 0));
}
