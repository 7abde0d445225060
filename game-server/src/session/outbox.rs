//! Frames on their way from a game to one socket: bounded, never waited for, gone with the socket.
//!
//! A queue under a plain lock, held for a push or a take and never across an await. It costs an idle socket nothing, where a
//! channel would keep a block of 32 slots.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::extract::ws::Utf8Bytes;
use tokio::sync::Notify;

/// Frames that may wait for a player's socket: more than ten questions with their acks. Who is further behind sees the game
/// as it was minutes ago; a resume is cheaper and right.
pub(crate) const PLAYER_FRAMES_MAX: usize = 64;
/// Frames that may wait for a host's socket or a screen: 18 s of the fastest roster and progress deltas.
pub(crate) const HOST_FRAMES_MAX: usize = 256;
/// Bytes that may wait for a socket behind its first frame, whatever the role: half a minute of the largest questions, or one
/// `sync` of the largest room with room to spare.
const BYTES_MAX: usize = 1024 * 1024;

/// The queue of one socket.
#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    frames: VecDeque<Utf8Bytes>,
    frames_max: usize,
    bytes: usize,
    end: Option<End>,
}

/// How a socket's life ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Send what is queued, then close with this code.
    Close(u16),
    /// The client reads too slowly: forget what is queued, close with [`protocol::close::SLOW`].
    Overflow,
    /// The socket is gone.
    Gone,
}

impl Outbox {
    pub(crate) fn new() -> Self {
        let state = State {
            frames: VecDeque::new(),
            frames_max: PLAYER_FRAMES_MAX,
            bytes: 0,
            end: None,
        };
        Self {
            state: Mutex::new(state),
            changed: Notify::new(),
        }
    }

    /// Allows more frames to wait; the role is known only after the first frame.
    pub(crate) fn set_frames_max(&self, frames_max: usize) {
        self.lock().frames_max = frames_max;
    }

    /// Queues a frame. On a full outbox the socket is closed as too slow; after an end nothing happens.
    pub(crate) fn push(&self, frame: Utf8Bytes) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        let bytes = state.bytes + frame.len();
        let is_over = state.frames.len() >= state.frames_max || bytes > BYTES_MAX;
        // One frame alone is never too much: its size is bounded where it is made.
        if is_over && !state.frames.is_empty() {
            state.frames = VecDeque::new();
            state.end = Some(End::Overflow);
        } else {
            state.bytes = bytes;
            state.frames.push_back(frame);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Queues a last frame, past the bound if need be, and closes after it. The first end wins.
    pub(crate) fn close(&self, last: Option<Utf8Bytes>, code: u16) {
        let mut state = self.lock();
        if state.end.is_none() {
            state.frames.extend(last);
            state.end = Some(End::Close(code));
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Takes everything queued, and the end if it has come.
    pub(crate) fn take(&self) -> (VecDeque<Utf8Bytes>, Option<End>) {
        let mut state = self.lock();
        state.bytes = 0;
        (std::mem::take(&mut state.frames), state.end)
    }

    /// The session's own last act.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.frames = VecDeque::new();
        state.end = Some(End::Gone);
    }

    /// Whether the client turned out too slow.
    pub(crate) fn has_overflowed(&self) -> bool {
        self.lock().end == Some(End::Overflow)
    }

    /// Whether an end has come.
    pub(crate) fn has_ended(&self) -> bool {
        self.lock().end.is_some()
    }

    /// Waits for a change since the last wait. For the one session task.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock; a poisoned queue is still a queue.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_outbox_ends_the_socket_and_forgets() {
        let outbox = Outbox::new();
        for _ in 0..PLAYER_FRAMES_MAX {
            outbox.push("x".into());
        }
        assert!(!outbox.has_ended());
        outbox.push("x".into());
        assert!(outbox.has_overflowed());
        outbox.close(None, 1000);
        let (frames, end) = outbox.take();
        assert_eq!((frames.len(), end), (0, Some(End::Overflow)));
    }

    #[test]
    fn bytes_are_bounded_but_for_one_frame() {
        let outbox = Outbox::new();
        let large = Utf8Bytes::from("x".repeat(BYTES_MAX + 1));
        outbox.push(large.clone());
        assert!(!outbox.has_ended());
        assert_eq!(outbox.take().0.len(), 1);
        outbox.push(large);
        outbox.push("x".into());
        assert!(outbox.has_overflowed());
    }

    #[test]
    fn the_last_frame_goes_past_the_bound() {
        let outbox = Outbox::new();
        for _ in 0..PLAYER_FRAMES_MAX {
            outbox.push("x".into());
        }
        outbox.close(Some("bye".into()), 1000);
        outbox.push("late".into());
        let (frames, end) = outbox.take();
        assert_eq!(frames.len(), PLAYER_FRAMES_MAX + 1);
        assert_eq!(frames.back().map(Utf8Bytes::as_str), Some("bye"));
        assert_eq!(end, Some(End::Close(1000)));
    }
}
