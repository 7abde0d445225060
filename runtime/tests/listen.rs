//! A server that is busy with something else: everybody who comes at that moment finds room in its queue.

use std::net::TcpStream;
use std::time::Duration;

use runtime::descriptors;
use runtime::http::bind;

/// More than the 1,024 that a listener queues when nothing is said, and fewer than the 4,096 that kernels allow.
const CLIENTS: usize = 1_300;
/// A kernel whose connect was dropped tries again after a second.
const BEFORE_THE_SECOND_TRY: Duration = Duration::from_millis(900);

#[tokio::test]
async fn a_burst_of_clients_finds_room_before_anybody_is_accepted() {
    assert!(
        descriptors::client_capacity().unwrap() > CLIENTS,
        "raise ulimit -n"
    );
    let listener = bind("127.0.0.1:0".parse().unwrap(), false).unwrap();
    let address = listener.local_addr().unwrap();
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let client = TcpStream::connect_timeout(&address, BEFORE_THE_SECOND_TRY);
        clients.push(client.unwrap_or_else(|error| panic!("client {number}: {error}")));
    }
    for client in &clients {
        let (_, peer) = listener.accept().await.unwrap();
        assert_eq!(peer, client.local_addr().unwrap());
    }
}

#[tokio::test]
async fn both_families_are_served_and_a_port_has_one_owner() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let first = bind(address.parse().unwrap(), false).unwrap();
        assert!(bind(first.local_addr().unwrap(), false).is_err(), "{address}");
    }
}
