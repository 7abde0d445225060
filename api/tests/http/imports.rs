//! Uploads: what is imported, and what is refused before it costs anything.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use futures_util::stream;
use protocol::rest::{ImportFormat, ImportResponse, QuizResponse};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Account, Reply, Site};

const MIB: usize = 1024 * 1024;
const FILE_BYTES_MAX: usize = 10 * MIB;

const GIFT: &str = "::Sun:: The sun is a star. {T}\n\n::Atom:: What is in a nucleus? {=protons ~electrons ~photons}\n\n\
                    ::Essay:: Tell me about it. {}\n";

async fn upload(site: &Site, teacher: &Account, query: &str, body: impl Into<Body>) -> Reply {
    site.call("POST", &format!("/quizzes/import{query}"))
        .bearer(teacher)
        .body(body)
        .send()
        .await
}

#[tokio::test]
async fn a_file_becomes_a_quiz_and_an_account_of_what_was_left_out() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let reply = upload(&site, &anna, "?filename=Stars%20%26%20atoms.gift.txt", GIFT).await;
    assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.text());
    let imported: ImportResponse = reply.read();
    assert_eq!((imported.format, imported.imported), (ImportFormat::Gift, 2));
    assert_eq!(imported.skipped.len(), 1, "{:?}", imported.skipped);
    let summary = imported.quiz.unwrap();
    assert_eq!((summary.title.as_str(), summary.questions), ("Stars & atoms", 2));
    let path = format!("/quizzes/{}", summary.id);
    let stored: QuizResponse = site.call("GET", &path).bearer(&anna).send().await.read();
    assert_eq!(
        (stored.quiz.questions.len(), stored.updated_ms),
        (2, summary.updated_ms)
    );
}

#[tokio::test]
async fn a_file_of_which_nothing_fits_makes_no_quiz() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let reply = upload(
        &site,
        &anna,
        "?filename=a.gift",
        "::Essay:: Tell me about it. {}\n",
    )
    .await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.text());
    let imported: ImportResponse = reply.read();
    assert_eq!(
        (imported.quiz, imported.imported, imported.skipped.len()),
        (None, 0, 1)
    );
    assert!(
        site.call("GET", "/quizzes")
            .bearer(&anna)
            .send()
            .await
            .text()
            .contains("\"items\":[]")
    );
}

#[tokio::test]
async fn a_file_that_is_no_quiz_is_refused_with_a_sentence() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    for body in [
        Vec::new(),
        vec![0; 100],
        b"\x89PNG\r\n\x1a\n".to_vec(),
        b"PK\x03\x04 not a zip".to_vec(),
    ] {
        upload(&site, &anna, "?filename=x", body)
            .await
            .refused(422, "import-refused");
    }
    upload(&site, &anna, "?filename=%ff%fe", Vec::new())
        .await
        .refused(422, "import-refused");
    upload(&site, &anna, "", GIFT)
        .await
        .read::<ImportResponse>()
        .quiz
        .unwrap();
    upload(&site, &anna, "?filename=a&filename=b", GIFT)
        .await
        .refused(400, "bad-query");
}

#[tokio::test]
async fn the_bound_holds_whatever_the_head_says() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let at_bound = vec![0; FILE_BYTES_MAX];
    upload(&site, &anna, "?filename=x", at_bound)
        .await
        .refused(422, "import-refused");
    for declared in [
        None,
        Some("5"),
        Some("10485761"),
        Some("99999999999999999999999"),
        Some("many"),
    ] {
        let call = site.call("POST", "/quizzes/import?filename=x").bearer(&anna);
        let call = declared
            .into_iter()
            .fold(call, |call, value| call.header("content-length", value));
        let reply = call.body(vec![0; FILE_BYTES_MAX + 1]).send().await;
        let sentence = reply.refused(413, "body-too-large");
        assert!(sentence.contains("10485760"), "{sentence}");
    }
}

#[tokio::test]
async fn an_endless_body_is_given_up() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let pulled = Arc::new(AtomicUsize::new(0));
    let chunk = Bytes::from(vec![b'x'; MIB]);
    let count = Arc::clone(&pulled);
    let endless = stream::repeat_with(move || {
        count.fetch_add(1, Ordering::Relaxed);
        Ok::<_, io::Error>(chunk.clone())
    });
    upload(&site, &anna, "?filename=x", Body::from_stream(endless))
        .await
        .refused(413, "body-too-large");
    let pulled = pulled.load(Ordering::Relaxed);
    assert!(
        (65..=80).contains(&pulled),
        "{pulled} MiB were read: a 50 MB file to its end, not much more"
    );
}

#[tokio::test]
async fn a_body_that_breaks_off_is_no_file() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let parts = [
        Ok(Bytes::from_static(b"::Sun:: The sun is a star. {T}\n")),
        Err(io::Error::other("cut")),
    ];
    upload(
        &site,
        &anna,
        "?filename=x",
        Body::from_stream(stream::iter(parts)),
    )
    .await
    .refused(400, "body-broken");
    assert!(
        site.call("GET", "/quizzes")
            .bearer(&anna)
            .send()
            .await
            .text()
            .contains("\"items\":[]")
    );
}

/// A real socket: what a browser that sends 50 MB gets to read.
#[tokio::test]
async fn fifty_megabytes_over_a_socket_get_their_answer() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(axum::serve(listener, site.router.clone()).into_future());
    let chunk = vec![b'x'; MIB];
    for framing in ["content-length: 52428800", "transfer-encoding: chunked"] {
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket.write_all(head(&anna, framing).as_bytes()).await.unwrap();
        for _ in 0..50 {
            if framing.ends_with("chunked") {
                socket.write_all(format!("{MIB:x}\r\n").as_bytes()).await.unwrap();
            }
            socket.write_all(&chunk).await.unwrap();
            if framing.ends_with("chunked") {
                socket.write_all(b"\r\n").await.unwrap();
            }
        }
        if framing.ends_with("chunked") {
            socket.write_all(b"0\r\n\r\n").await.unwrap();
        }
        let answer = answer(&mut socket).await;
        assert!(
            answer.starts_with("HTTP/1.1 413 ") && answer.contains("\"body-too-large\""),
            "{framing}: {answer}"
        );
    }
    // A client that asks first is told before it sends anything.
    let mut socket = TcpStream::connect(address).await.unwrap();
    let asks = head(&anna, "content-length: 52428800\r\nexpect: 100-continue");
    socket.write_all(asks.as_bytes()).await.unwrap();
    let answer = answer(&mut socket).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    server.abort();
}

fn head(teacher: &Account, framing: &str) -> String {
    format!(
        "POST /quizzes/import?filename=x HTTP/1.1\r\nhost: school.test\r\nauthorization: Bearer {}\r\nconnection: close\r\n{framing}\r\n\r\n",
        teacher.token
    )
}

async fn answer(socket: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}
