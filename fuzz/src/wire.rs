//! Whole requests: bytes of a client go through hyper and the proxy's own judgement to a server, all in memory. What arrives there
//! is what a strict reader finds in the client's bytes, framed once, and what the client is told is 4xx where it is not passed on.

use std::cell::RefCell;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Waker};

use futures_util::future::{Either, select};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Either as Or, Empty, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::service::service_fn;

use crate::admit::{self, To};
use crate::pipe::Pipe;
use crate::reader::{Framing, NoRequest, Read, Reader};
use crate::traces::Traces;

/// Bytes of a head, as the proxy's listener takes them.
const HEAD_BYTES_MAX: usize = 16 * 1024;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const PEER: &str = "192.0.2.7:1";

/// What became of one request that hyper took for one.
#[derive(Debug)]
enum Fate {
    Refused,
    /// What the server got.
    Passed(To, Pipe),
}

/// `data` is how the bytes come (in pieces of what size, and whether the client ends then), and the bytes.
///
/// # Panics
/// When something can be read in two ways.
pub fn check_request(data: &[u8]) {
    let Some((how, bytes)) = data.split_first() else {
        return;
    };
    // Whole, or cut small, at places that move.
    let piece = if *how & 1 == 0 {
        usize::MAX
    } else {
        usize::from(*how >> 2) + 1
    };
    let client = Pipe::sending(bytes, piece, *how & 2 != 0);
    let fates = serve(&client);
    check_answers(&client.output());
    let mut reader = Reader::new(bytes, true);
    let mut is_last = false;
    for fate in &fates {
        assert!(!is_last, "a request follows one after which nothing may");
        let read = reader.read();
        match fate {
            Fate::Refused => {}
            Fate::Passed(to, server) => check_passed(&read, *to, &server.output()),
        }
        is_last = !read.is_ok_and(|read| !read.has_two_framings);
    }
}

/// Lets hyper and the proxy's judgement do what they can with the client's bytes.
fn serve(client: &Pipe) -> Vec<Fate> {
    let fates: Rc<RefCell<Vec<Fate>>> = Rc::default();
    let traces = Traces::default();
    let service = service_fn(|request: Request<Incoming>| pass_on(request, &traces, &fates));
    let connection = hyper::server::conn::http1::Builder::new()
        .header_read_timeout(None)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(client.clone(), service);
    let mut connection = Box::pin(connection);
    let mut cx = Context::from_waker(Waker::noop());
    let moved = |fates: &[Fate]| {
        let servers = fates.iter().map(|fate| match fate {
            Fate::Refused => 1,
            Fate::Passed(_, server) => 1 + server.moves(),
        });
        client.moves() + servers.sum::<usize>()
    };
    // Until nothing has moved twice: an answer may need one look to be begun and one to be read.
    let (mut still, mut before) = (0, 0);
    while still < 3 {
        if connection.as_mut().poll(&mut cx).is_ready() {
            break;
        }
        let now = moved(&fates.borrow());
        still = if now == before { still + 1 } else { 0 };
        before = now;
    }
    drop(connection);
    fates.take()
}

async fn pass_on(
    request: Request<Incoming>,
    traces: &Traces,
    fates: &RefCell<Vec<Fate>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (mut parts, body) = request.into_parts();
    let peer: SocketAddr = PEER.parse().unwrap_or_else(|_| unreachable!("an address"));
    let asked = admit::look(&mut parts, peer, false, &[], traces);
    let to = match admit::admit(&mut parts, asked, !body.is_end_stream()) {
        Ok(to) => to,
        Err(refusal) => {
            fates.borrow_mut().push(Fate::Refused);
            let refused = refusal.into_response();
            let (parts, _) = refused.into_parts();
            return Ok(Response::from_parts(parts, Full::default()));
        }
    };
    let server = Pipe::answering(ANSWER);
    fates.borrow_mut().push(Fate::Passed(to, server.clone()));
    let body = match to {
        To::Socket(_) => Or::Left(Empty::<Bytes>::new()),
        To::Game(_) | To::Api => Or::Right(body),
    };
    let answered = ask(server, Request::from_parts(parts, body)).await;
    let mut response = Response::new(Full::default());
    if !answered {
        *response.status_mut() = StatusCode::BAD_GATEWAY;
    }
    Ok(response)
}

/// Whether there was an answer: not when the client's body breaks off.
async fn ask(server: Pipe, request: Request<Or<Empty<Bytes>, Incoming>>) -> bool {
    let Ok((mut sender, connection)) = hyper::client::conn::http1::handshake(server).await else {
        return false;
    };
    let asking = Box::pin(async move {
        let answer = sender.send_request(request).await;
        match answer {
            Ok(answer) => answer.into_body().collect().await.is_ok(),
            Err(_) => false,
        }
    });
    match select(asking, Box::pin(connection)).await {
        Either::Left((answered, _)) => answered,
        Either::Right((_, asking)) => asking.await,
    }
}

/// Everything that the client is told.
fn check_answers(output: &[u8]) {
    let text = String::from_utf8_lossy(output);
    for answer in text.split("HTTP/1.").skip(1) {
        let status = answer.get(2..5).unwrap_or_default();
        assert!(
            ["100", "200", "400", "405", "414", "426", "431", "502", "508"].contains(&status),
            "{status} is told in {text:?}"
        );
    }
}

/// What a server got, against what the client sent.
fn check_passed(sent: &Result<Read, NoRequest>, to: To, server: &[u8]) {
    let got = Reader::new(server, false).read();
    let head = match &got {
        // The client broke off, or sent something that is no chunk; nothing of the next request is in there.
        Err(NoRequest::Partial) if server.is_empty() => return,
        Err(NoRequest::Partial) => Reader::new(server, false).head(),
        Ok(_) | Err(NoRequest::Malformed(_)) => got.clone(),
    };
    let head = match head {
        Ok(head) => head,
        Err(why) => panic!("{why:?}: {:?} reaches a server", String::from_utf8_lossy(server)),
    };
    check_head(&head, to);
    let (Ok(got), Ok(sent)) = (&got, sent) else {
        let is_partial = matches!(got, Err(NoRequest::Partial));
        assert!(
            is_partial,
            "{got:?} reaches a server, and the client sent {sent:?}"
        );
        return;
    };
    assert_eq!(got.method, sent.method);
    let prefix: &[u8] = if to == To::Api { b"" } else { b"/game" };
    let expected = sent.target.strip_prefix(prefix).unwrap_or(b"not under /game");
    let slash: &[u8] = if expected.starts_with(b"/") { b"" } else { b"/" };
    assert_eq!(got.target, [slash, expected].concat(), "another target");
    assert_eq!(got.body, sent.body, "another body");
    if !sent.hosts.is_empty() {
        assert_eq!(got.hosts, sent.hosts, "another host");
    }
}

/// What every request for a server is like.
fn check_head(head: &Read, to: To) {
    let values = |name: &str| -> Vec<&[u8]> {
        let same = head.headers.iter().filter(|(own, _)| own == name);
        same.map(|(_, value)| value.as_slice()).collect()
    };
    assert_eq!(values("x-forwarded-for"), [b"192.0.2.7"], "who asks");
    assert_eq!(values("x-forwarded-proto"), [b"http"]);
    assert_eq!(values("traceparent").len(), 1, "traces");
    assert_eq!(head.hosts.len(), 1, "hosts");
    let internal = head
        .headers
        .iter()
        .find(|(name, _)| name.starts_with("homeroom-"));
    assert_eq!(internal, None, "a client's word between servers");
    let (connection, upgrade) = (values("connection"), values("upgrade"));
    match to {
        To::Socket(_) => {
            assert_eq!(
                (connection, upgrade),
                (vec![&b"upgrade"[..]], vec![&b"websocket"[..]])
            );
            assert_eq!((head.method.as_str(), head.framing), ("GET", Framing::None));
            assert_eq!(values("sec-websocket-version"), [b"13"]);
            assert_eq!(values("sec-websocket-key").len(), 1);
        }
        To::Game(_) | To::Api => assert!(connection.is_empty() && upgrade.is_empty()),
    }
}
