//! The socket itself: its buffers, writing without being held up, reading one text frame within its limits, closing.

use std::collections::VecDeque;
use std::error::Error as _;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use futures_util::SinkExt as _;
use protocol::close;
use protocol::error::ErrorCode;
use runtime::metrics::{self, Counter};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite;

use super::{Closing, Session, TOO_LARGE_MAX, frame_bytes_max};
use crate::actor::mailbox::Seat;

/// Read buffer, allocated for every socket: most frames of a client have less than 100 bytes. The library's default would
/// cost 128 KiB a socket.
const READ_BUFFER_BYTES: usize = 1024;
/// Bytes that are gathered before the transport writes by itself. The session flushes when it has fed all it has, so that a
/// burst of small frames is one write; an idle socket holds no such buffer.
const WRITE_BUFFER_BYTES: usize = 4 * 1024;
/// Most bytes that wait inside the transport: one frame and what was gathered before it. The largest frame is the `sync` of a
/// podium with 500 of the longest names, 0.6 MB; a test holds it to half of this.
pub(crate) const WRITE_BUFFER_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How long the kernel may take no byte of a frame before the client counts as too slow.
const WRITE_STALL_MAX: Duration = Duration::from_secs(10);
/// How long a client may take to answer a close, and to take the last frames before it.
const CLOSE_MAX: Duration = Duration::from_secs(2);
/// Close code of RFC 6455 for a message too big to process: past the transport's own limit.
const CLOSE_TOO_BIG: u16 = 1009;
/// Close code of RFC 6455 for frames that break the WebSocket protocol itself.
const CLOSE_PROTOCOL: u16 = 1002;
/// Close code of RFC 6455 for text that is no UTF-8.
const CLOSE_NOT_UTF8: u16 = 1007;

/// What came from the client.
pub(super) enum Incoming {
    /// A text frame within its limits.
    Text(Utf8Bytes),
    /// Nothing to act on.
    Nothing,
    /// The end.
    End(Closing),
}

/// Sets the limits of a socket.
pub(crate) fn configure(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES)
        .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX)
        .max_message_size(protocol::HOST_FRAME_BYTES_MAX)
        .max_frame_size(protocol::HOST_FRAME_BYTES_MAX)
}

impl Session {
    /// Judges what was read: rate, size, kind.
    pub(super) fn judge(
        &mut self,
        read: Option<Result<Message, axum::Error>>,
        seat: Option<Seat>,
    ) -> Incoming {
        let message = match read {
            None => return Incoming::End(Closing::Gone),
            Some(Err(error)) => return Incoming::End(broken(&error)),
            Some(Ok(message)) => message,
        };
        let now = Instant::now();
        self.heard = now;
        if let Message::Close(_) = message {
            return Incoming::End(Closing::Gone);
        }
        // Pongs as well: nobody asks for more than one in 15 s, and reading a flood of them is work.
        if !self.pace.take(now) {
            return Incoming::End(self.spare(ErrorCode::TooMany));
        }
        match message {
            Message::Text(text) if text.len() > frame_bytes_max(seat) => self.too_large(),
            Message::Text(text) => Incoming::Text(text),
            Message::Binary(_) => {
                self.refuse(ErrorCode::Malformed);
                Incoming::Nothing
            }
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Incoming::Nothing,
        }
    }

    fn too_large(&mut self) -> Incoming {
        if self.too_large >= TOO_LARGE_MAX {
            return Incoming::End(self.spare(ErrorCode::TooLarge));
        }
        self.too_large += 1;
        self.refuse(ErrorCode::TooLarge);
        Incoming::Nothing
    }

    /// Writes everything the outbox has. Returns how the session ends, if it does.
    pub(super) async fn drain(&mut self) -> Option<Closing> {
        use super::outbox::End;
        loop {
            let (frames, end) = self.outbox.take();
            match end {
                None if frames.is_empty() => return None,
                None => {}
                Some(End::Close(code)) => return Some(Closing::With { frames, code }),
                Some(End::Overflow) => return Some(Closing::code(close::SLOW)),
                Some(End::Gone) => return Some(Closing::Gone),
            }
            if let Err(closing) = self.write(frames).await {
                return Some(closing);
            }
        }
    }

    /// Writes frames and flushes once. Gives up when the client takes nothing for too long, or when its outbox overflows
    /// meanwhile.
    async fn write(&mut self, frames: VecDeque<Utf8Bytes>) -> Result<(), Closing> {
        let stalled = tokio::time::sleep(WRITE_STALL_MAX);
        let writing = feed_all(&mut self.socket, frames);
        tokio::pin!(stalled, writing);
        loop {
            tokio::select! {
                biased;
                written = writing.as_mut() => return written.map_err(|_broken| Closing::Gone),
                () = self.outbox.changed() => {
                    if self.outbox.has_overflowed() {
                        return Err(Closing::code(close::SLOW));
                    }
                }
                () = stalled.as_mut() => return Err(Closing::code(close::SLOW)),
            }
        }
    }

    /// Sends a ping.
    pub(super) async fn ping(&mut self) -> Result<(), Closing> {
        let ping = self.socket.send(Message::Ping(axum::body::Bytes::new()));
        match tokio::time::timeout(WRITE_STALL_MAX, ping).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_broken)) => Err(Closing::Gone),
            Err(_stalled) => Err(Closing::code(close::SLOW)),
        }
    }

    /// Says goodbye and waits a little for the client's.
    pub(super) async fn finish(mut self, closing: Closing) {
        let Closing::With { frames, code } = closing else {
            // Flushes the answer to a client's own close frame.
            let _gone_anyway = tokio::time::timeout(CLOSE_MAX, self.socket.close()).await;
            return;
        };
        if code == close::SLOW {
            metrics::inc(Counter::GameSlowSocketsClosedTotal);
        }
        let close = Message::Close(Some(CloseFrame {
            code,
            reason: Utf8Bytes::from_static(""),
        }));
        let goodbye = async {
            feed_all(&mut self.socket, frames).await?;
            self.socket.send(close).await?;
            // What still comes is read and dropped: closing a socket with unread bytes would reset it, and a reset
            // takes the last frames with it.
            while let Some(Ok(_)) = self.socket.recv().await {}
            Ok::<(), axum::Error>(())
        };
        let _too_late_to_matter = tokio::time::timeout(CLOSE_MAX, goodbye).await;
    }
}

async fn feed_all(socket: &mut WebSocket, frames: VecDeque<Utf8Bytes>) -> Result<(), axum::Error> {
    for frame in frames {
        socket.feed(Message::Text(frame)).await?;
    }
    socket.flush().await
}

/// How a socket ends on which no whole frame can be read any more.
fn broken(error: &axum::Error) -> Closing {
    use tungstenite::Error::{Capacity, Protocol, Utf8};
    match error
        .source()
        .and_then(|source| source.downcast_ref::<tungstenite::Error>())
    {
        Some(Capacity(_)) => Closing::error(ErrorCode::TooLarge, CLOSE_TOO_BIG),
        Some(Utf8(_)) => Closing::error(ErrorCode::Malformed, CLOSE_NOT_UTF8),
        Some(Protocol(what)) if !is_about_the_connection(what) => {
            Closing::error(ErrorCode::Malformed, CLOSE_PROTOCOL)
        }
        _ => Closing::Gone,
    }
}

/// Whether nobody is there any more to hear what was wrong.
fn is_about_the_connection(error: &tungstenite::error::ProtocolError) -> bool {
    use tungstenite::error::ProtocolError::{
        ReceivedAfterClosing, ResetWithoutClosingHandshake, SendAfterClosing,
    };
    matches!(
        error,
        ReceivedAfterClosing | ResetWithoutClosingHandshake | SendAfterClosing
    )
}
