//! Tunnels between in-memory sides, with a paused clock where time matters.

use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::*;

/// Bytes that a side takes before it counts as full.
const ROOM_BYTES: usize = 4096;

fn tunnel() -> (DuplexStream, DuplexStream, JoinHandle<Ended>) {
    let (client, near) = duplex(ROOM_BYTES);
    let (server, far) = duplex(ROOM_BYTES);
    let task = tokio::spawn(run(near, far, Bytes::new(), Bytes::new()));
    (client, server, task)
}

async fn read(from: &mut DuplexStream, bytes: usize) -> Vec<u8> {
    let mut read = vec![0; bytes];
    from.read_exact(&mut read).await.unwrap();
    read
}

#[tokio::test]
async fn bytes_go_both_ways_and_what_was_read_before_goes_first() {
    let (mut client, near) = duplex(ROOM_BYTES);
    let (mut server, far) = duplex(ROOM_BYTES);
    let task = tokio::spawn(run(
        near,
        far,
        Bytes::from_static(b"early "),
        Bytes::from_static(b"first "),
    ));
    client.write_all(b"question").await.unwrap();
    server.write_all(b"answer").await.unwrap();
    assert_eq!(read(&mut server, 14).await, b"early question");
    assert_eq!(read(&mut client, 12).await, b"first answer");
    drop((client, server));
    assert!(matches!(task.await.unwrap(), Ended::Closed | Ended::Broken));
}

#[tokio::test]
async fn a_side_that_has_finished_still_receives() {
    let (mut client, mut server, task) = tunnel();
    client.write_all(b"last words").await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(read(&mut server, 10).await, b"last words");
    assert_eq!(server.read(&mut [0; 1]).await.unwrap(), 0, "the server is told");
    server.write_all(b"reply").await.unwrap();
    assert_eq!(read(&mut client, 5).await, b"reply");
    server.shutdown().await.unwrap();
    assert_eq!(client.read(&mut [0; 1]).await.unwrap(), 0);
    assert_eq!(task.await.unwrap(), Ended::Closed);
}

#[tokio::test]
async fn a_slow_reader_slows_its_writer_and_loses_nothing() {
    let (mut client, mut server, _task) = tunnel();
    let sent: Vec<u8> = (0..100 * ROOM_BYTES)
        .map(|n| u8::try_from(n % 251).unwrap())
        .collect();
    let all = sent.clone();
    let writing = tokio::spawn(async move {
        server.write_all(&all).await.unwrap();
        server
    });
    // Room of both sides and one buffer, and not a byte more, is on its way while nobody reads.
    let mut seen = read(&mut client, 1).await;
    tokio::task::yield_now().await;
    assert!(!writing.is_finished());
    seen.extend(read(&mut client, sent.len() - 1).await);
    assert!(seen == sent);
    writing.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn silence_ends_it_and_traffic_does_not() {
    let (mut client, mut server, task) = tunnel();
    let begun = Instant::now();
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_secs(15)).await;
        server.write_all(b"ping").await.unwrap();
        read(&mut client, 4).await;
    }
    assert!(!task.is_finished());
    let quiet = Instant::now();
    assert_eq!(task.await.unwrap(), Ended::Silent);
    assert!(quiet.elapsed() <= 2 * TICK && begun.elapsed() > 100 * Duration::from_secs(15));
}

#[tokio::test(start_paused = true)]
async fn a_side_that_takes_nothing_ends_it_however_much_the_other_sends() {
    let (mut client, mut server, task) = tunnel();
    // The client sends and never reads.
    let sending = tokio::spawn(async move {
        while client.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let (mut from_client, mut to_client) = tokio::io::split(server_side(&mut server));
    let reading =
        tokio::spawn(async move { while from_client.read(&mut [0; 16]).await.is_ok_and(|n| n > 0) {} });
    while to_client.write_all(&[0; ROOM_BYTES]).await.is_ok() {}
    assert_eq!(task.await.unwrap(), Ended::Silent);
    drop(to_client);
    reading.await.unwrap();
    sending.await.unwrap();
}

/// Takes the stream out of its place.
fn server_side(server: &mut DuplexStream) -> DuplexStream {
    std::mem::replace(server, duplex(1).0)
}

#[tokio::test(start_paused = true)]
async fn a_half_closed_one_is_not_kept_for_long() {
    let (mut client, _server, task) = tunnel();
    client.shutdown().await.unwrap();
    let begun = Instant::now();
    assert_eq!(task.await.unwrap(), Ended::Silent);
    assert!(begun.elapsed() <= 2 * TICK_HALF_CLOSED);
}

#[test]
fn a_waiting_tunnel_is_small() {
    use tokio::net::TcpStream;
    fn bytes_of<F: Future>(_: impl FnOnce(TcpStream, TcpStream) -> F) -> usize {
        size_of::<F>()
    }
    let bytes = bytes_of(|client, server| run(client, server, Bytes::new(), Bytes::new()));
    assert!(bytes <= 384, "{bytes}");
}
