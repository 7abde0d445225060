//! A process that ends, or that falls silent, is started again. The processes are small shells; who answers the probes is
//! a listener of the test's.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Answers every probe while `well` says so; otherwise it accepts and stays silent.
fn answering(well: Arc<AtomicBool>) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("port");
    let address = listener.local_addr().expect("address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 256];
            let read = stream.read(&mut request).unwrap_or(0);
            if read > 0 && well.load(Ordering::Relaxed) {
                let _outcome = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
            }
        }
    });
    address
}

fn service(script: &str, well: bool) -> (Service, tempfile::TempDir) {
    service_with(script, well, Pauses::CLUSTER)
}

fn service_with(script: &str, well: bool, pauses: Pauses) -> (Service, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("directory");
    let admin = answering(Arc::new(AtomicBool::new(well)));
    let program = Program {
        name: "game-0".to_owned(),
        binary: "/bin/sh".into(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        listen: admin,
        is_tls: false,
        probe: Probe::Http(admin),
    };
    let service = Service::start(program, &directory.path().join("log"), pauses).expect("started");
    (service, directory)
}

fn wait_until(what: &str, done: impl Fn() -> bool) {
    let limit = clock::now().plus_ms(30_000);
    while !done() {
        assert!(clock::now() < limit, "{what} did not happen within 30 s");
        clock::pause_ms(10);
    }
}

#[test]
fn a_process_that_ends_comes_back_with_another_id() {
    let (service, _directory) = service("sleep 60", true);
    let first = service.pid().expect("running");
    assert!(service.signal(Signal::SIGKILL));
    wait_until("the restart", || service.pid().is_some_and(|pid| pid != first));
    let restarts = service.restarts();
    assert_eq!(restarts.len(), 1);
    assert!(
        restarts[0].expected && restarts[0].cause == Cause::Ended,
        "{restarts:?}"
    );
}

#[test]
fn an_end_of_its_own_is_unexpected_and_pauses_grow() {
    let (service, _directory) = service("exit 3", true);
    wait_until("the third restart", || service.restarts().len() >= 3);
    let restarts = service.restarts();
    assert!(restarts.iter().all(|r| !r.expected), "{restarts:?}");
    let pause_us = |i: usize| restarts[i].at.since(restarts[i - 1].at);
    assert!(pause_us(1) >= 200_000 && pause_us(2) >= 400_000, "{restarts:?}");
}

#[test]
fn who_lived_long_enough_is_forgiven() {
    let pauses = Pauses {
        forgiven_ms: 100,
        ..Pauses::CLUSTER
    };
    let (service, _directory) = service_with("sleep 0.2", true, pauses);
    wait_until("the fourth restart", || service.restarts().len() >= 4);
    let restarts = service.restarts();
    // It lives 0.2 s and pauses 0.2 s each time; unforgiven the third pause would be 0.8 s.
    let last_us = restarts[3].at.since(restarts[2].at);
    assert!((400_000..1_000_000).contains(&last_us), "{restarts:?}");
}

#[test]
fn a_silent_process_is_killed_after_three_misses() {
    let (service, _directory) = service("sleep 60", false);
    let first = service.pid().expect("running");
    wait_until("the restart", || service.pid().is_some_and(|pid| pid != first));
    assert_eq!(service.restarts()[0].cause, Cause::Silent);
    assert!(!service.is_ready());
}

#[test]
fn dropping_stops_the_process() {
    let (service, _directory) = service("sleep 60", true);
    let pid = i32::try_from(service.pid().expect("running")).expect("small");
    drop(service);
    assert!(signal::kill(Pid::from_raw(pid), None).is_err());
}
