//! Small clients: one HTTP request a connection, and a socket that speaks JSON.

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::processes::{PATIENCE, until};

/// A server to ask.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Http(pub(crate) SocketAddr);

impl Http {
    /// The answer to a GET; none when nobody answers.
    pub(crate) async fn get(&self, path: &str, token: Option<&str>) -> Option<(u16, Value)> {
        let (status, body) = self.ask("GET", path, token, "").await.ok()?;
        // Pages are no JSON, and their status is all that is asked for.
        Some((status, serde_json::from_str(&body).unwrap_or_default()))
    }

    pub(crate) async fn get_text(&self, path: &str) -> Option<(u16, String)> {
        self.ask("GET", path, None, "").await.ok()
    }

    /// Status and head of the answer to a GET with one more header.
    pub(crate) async fn head(&self, path: &str, header: &str) -> (u16, String) {
        let answer = self
            .exchange("GET", path, &format!("{header}\r\n"), "")
            .await
            .unwrap();
        let (head, _) = answer.split_once("\r\n\r\n").unwrap();
        (
            head.split(' ').nth(1).unwrap().parse().unwrap(),
            head.to_ascii_lowercase(),
        )
    }

    pub(crate) async fn post(&self, path: &str, token: Option<&str>, body: &Value) -> (u16, Value) {
        let (status, body) = self.ask("POST", path, token, &body.to_string()).await.unwrap();
        if body.is_empty() {
            return (status, Value::Null);
        }
        (status, serde_json::from_str(&body).unwrap())
    }

    async fn ask(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &str,
    ) -> std::io::Result<(u16, String)> {
        let authorization = token.map_or(String::new(), |token| {
            format!("authorization: Bearer {token}\r\n")
        });
        let answer = self.exchange(method, path, &authorization, body).await?;
        let (head, body) = answer
            .split_once("\r\n\r\n")
            .ok_or_else(|| std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the answer broke off"))?;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Ok((status, body.to_owned()))
    }

    /// The whole answer. `headers` end in line breaks.
    async fn exchange(&self, method: &str, path: &str, headers: &str, body: &str) -> std::io::Result<String> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             {headers}content-length: {}\r\n\r\n{body}",
            self.0,
            body.len()
        );
        let exchange = async {
            let mut stream = TcpStream::connect(self.0).await?;
            stream.write_all(request.as_bytes()).await?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await?;
            Ok::<_, std::io::Error>(answer)
        };
        let answer = timeout(PATIENCE, exchange).await.expect("no answer in time")?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

/// A game's socket.
pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub(crate) async fn open(at: &Http, path: &str) -> Self {
        let url = format!("ws://{}{path}", at.0);
        let (socket, _answer) = tokio_tungstenite::connect_async(url).await.unwrap();
        Self(socket)
    }

    /// As a phone does: tries again until a server takes it.
    pub(crate) async fn open_again(at: &Http, path: &str) -> Self {
        let url = format!("ws://{}{path}", at.0);
        let opened = until("a socket", async || {
            tokio_tungstenite::connect_async(&url).await.ok()
        });
        Self(opened.await.0)
    }

    pub(crate) async fn say(&mut self, frame: Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }

    /// The next frame of type `t`, whatever comes before it.
    pub(crate) async fn until(&mut self, t: &str) -> Value {
        let waiting = async {
            loop {
                match self.0.next().await {
                    Some(Ok(Message::Text(text))) => {
                        let frame: Value = serde_json::from_str(&text).unwrap();
                        if frame["t"] == t {
                            return frame;
                        }
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    other => panic!("{t} expected, got {other:?}"),
                }
            }
        };
        timeout(PATIENCE, waiting)
            .await
            .unwrap_or_else(|_| panic!("{t} never came"))
    }

    /// Reads up to the close; what was told, and the close's code.
    pub(crate) async fn last_words(&mut self) -> (Vec<Value>, Option<u16>) {
        let mut told = Vec::new();
        let waiting = async {
            loop {
                match self.0.next().await {
                    Some(Ok(Message::Text(text))) => told.push(serde_json::from_str(&text).unwrap()),
                    Some(Ok(Message::Close(close))) => return close.map(|close| close.code.into()),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return None,
                }
            }
        };
        let code = timeout(PATIENCE, waiting).await.expect("the socket stays open");
        (told, code)
    }

    /// Reads up to the close, and returns its code.
    pub(crate) async fn closed(&mut self) -> Option<u16> {
        self.last_words().await.1
    }
}
