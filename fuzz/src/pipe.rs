//! Connections in memory, read and written in one thread and by hand, so that a run depends on its bytes alone.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};

use crate::reader::{NoRequest, Reader};

/// What is done with the bytes of one side.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// Not yet read by hyper.
    input: Vec<u8>,
    read: usize,
    /// Bytes handed out at once.
    piece: usize,
    /// Nothing follows the input.
    ends: bool,
    /// What hyper has written.
    pub(crate) output: Vec<u8>,
    /// Given once what hyper has written is a whole request.
    answer: Option<&'static [u8]>,
    /// How often something moved.
    pub(crate) moves: usize,
}

/// One side of a connection, for hyper; the other is a script.
#[derive(Debug, Clone)]
pub(crate) struct Pipe(Rc<RefCell<Ends>>);

impl Pipe {
    /// A client that sends `input` in pieces, and then nothing, or its end.
    pub(crate) fn sending(input: &[u8], piece: usize, ends: bool) -> Self {
        Self(Rc::new(RefCell::new(Ends {
            input: input.to_vec(),
            piece: piece.max(1),
            ends,
            ..Ends::default()
        })))
    }

    /// A server that says `answer` once it has a whole request.
    pub(crate) fn answering(answer: &'static [u8]) -> Self {
        Self(Rc::new(RefCell::new(Ends {
            piece: usize::MAX,
            answer: Some(answer),
            ..Ends::default()
        })))
    }

    pub(crate) fn moves(&self) -> usize {
        self.0.borrow().moves
    }

    pub(crate) fn output(&self) -> Vec<u8> {
        self.0.borrow().output.clone()
    }
}

impl Read for Pipe {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut ends = self.0.borrow_mut();
        let ends = &mut *ends;
        let is_whole = |output: &[u8]| !matches!(Reader::new(output, false).read(), Err(NoRequest::Partial));
        if ends.answer.is_some() && is_whole(&ends.output) {
            ends.input
                .extend_from_slice(ends.answer.take().unwrap_or_default());
        }
        let left = ends.input.get(ends.read..).unwrap_or_default();
        if left.is_empty() {
            return if ends.ends {
                Poll::Ready(Ok(()))
            } else {
                Poll::Pending
            };
        }
        let bytes = left.len().min(ends.piece).min(buf.remaining());
        buf.put_slice(&left[..bytes]);
        ends.read += bytes;
        ends.moves += 1;
        Poll::Ready(Ok(()))
    }
}

impl Write for Pipe {
    fn poll_write(self: Pin<&mut Self>, _cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut ends = self.0.borrow_mut();
        ends.output.extend_from_slice(buf);
        ends.moves += 1;
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
