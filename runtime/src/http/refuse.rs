//! The answer to a connection for which there is no room: one sentence, then closed.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// How long a refused client may take to read its answer.
const LINGER: Duration = Duration::from_secs(1);

const BODY: &str = r#"{"code":"server-full","status":503,"title":"Server full","detail":"This server holds as many connections as it may. Try again in a few seconds."}"#;

/// Answers 503 with `Retry-After` and closes. A TLS client could not read it before a handshake, so it is just closed.
pub(super) fn refuse(mut tcp: TcpStream, tls: bool) {
    if tls {
        return;
    }
    tokio::spawn(async move {
        let head = format!(
            "HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\nconnection: close\r\n\
             content-type: application/problem+json\r\ncontent-length: {}\r\n\r\n{BODY}",
            BODY.len()
        );
        let answered = tokio::time::timeout(LINGER, async {
            tcp.write_all(head.as_bytes()).await?;
            tcp.shutdown().await
        });
        // The client may be gone already; there is nobody left to tell.
        drop(answered.await);
    });
}
