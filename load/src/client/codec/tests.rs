//! The codec against frames written by hand and cut everywhere.

use proptest::prelude::*;

use super::*;

/// A frame as a server sends it, in its shortest form.
fn server_frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        n @ 0..126 => frame.push(u8::try_from(n).expect("short")),
        n @ 126..65_536 => {
            frame.push(126);
            frame.extend_from_slice(&u16::try_from(n).expect("medium").to_be_bytes());
        }
        n => {
            frame.push(127);
            frame.extend_from_slice(&u64::try_from(n).expect("long").to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    frame
}

fn feed(decoder: &mut Decoder, chunk: &[u8], seen: &mut Vec<String>) -> Result<(), CodecError> {
    decoder.feed(chunk, |message| {
        seen.push(match message {
            Message::Text(text) => format!("text {text}"),
            Message::Ping(payload) => format!("ping {payload:?}"),
            Message::Pong => "pong".to_owned(),
            Message::Close(code) => format!("close {code:?}"),
        });
    })
}

fn read(bytes: &[u8]) -> Result<Vec<String>, CodecError> {
    let mut seen = Vec::new();
    feed(&mut Decoder::default(), bytes, &mut seen)?;
    Ok(seen)
}

/// A game's worth of frames: text in all three length forms, control frames, fragments with a ping between them.
fn stream() -> (Vec<u8>, Vec<String>) {
    let long = "y".repeat(70_000);
    let medium = "é".repeat(100);
    let mut bytes = server_frame(0x81, b"{}");
    bytes.extend(server_frame(0x89, b"hi"));
    bytes.extend(server_frame(0x81, medium.as_bytes()));
    bytes.extend(server_frame(0x01, b"one "));
    bytes.extend(server_frame(0x8a, b""));
    bytes.extend(server_frame(0x00, b"two "));
    bytes.extend(server_frame(0x80, b"three"));
    bytes.extend(server_frame(0x81, long.as_bytes()));
    bytes.extend(server_frame(0x88, &[0x11, 0x30, b'x']));
    let expected = vec![
        "text {}".to_owned(),
        "ping [104, 105]".to_owned(),
        format!("text {medium}"),
        "pong".to_owned(),
        "text one two three".to_owned(),
        format!("text {long}"),
        "close Some(4400)".to_owned(),
    ];
    (bytes, expected)
}

#[test]
fn a_whole_stream_is_read() {
    let (bytes, expected) = stream();
    assert_eq!(read(&bytes), Ok(expected));
}

#[test]
fn a_stream_cut_at_any_byte_reads_the_same() {
    let (mut bytes, _) = stream();
    // Cutting inside the long run of equal bytes adds nothing but time.
    bytes.truncate(400);
    let whole = read(&bytes).expect("valid");
    for cut in 0..=bytes.len() {
        let (mut decoder, mut seen) = (Decoder::default(), Vec::new());
        feed(&mut decoder, &bytes[..cut], &mut seen).expect("first part");
        feed(&mut decoder, &bytes[cut..], &mut seen).expect("second part");
        assert_eq!(seen, whole, "cut at {cut}");
    }
}

#[test]
fn a_stream_byte_by_byte_reads_the_same_and_holds_nothing_after() {
    let (bytes, expected) = stream();
    let (mut decoder, mut seen) = (Decoder::default(), Vec::new());
    for byte in &bytes[..300] {
        feed(&mut decoder, std::slice::from_ref(byte), &mut seen).expect("one byte");
    }
    feed(&mut decoder, &bytes[300..], &mut seen).expect("rest");
    assert_eq!(seen, expected);
    assert_eq!((decoder.held_bytes(), decoder.pending.capacity()), (0, 0));
}

#[test]
fn what_servers_must_not_send_is_named() {
    let table: [(&[u8], CodecError); 11] = [
        (&[0x81, 0x80, 0, 0, 0, 0], CodecError::Masked),
        (&[0xc1, 0x00], CodecError::Reserved),
        (&[0x83, 0x00], CodecError::Opcode(3)),
        (&[0x8b, 0x00], CodecError::Opcode(11)),
        (&[0x09, 0x00], CodecError::Control),
        (&[0x89, 126, 0, 126], CodecError::Control),
        (&[0x81, 126, 0, 125], CodecError::Length),
        (&[0x81, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff], CodecError::Length),
        (&[0x81, 127, 0, 0, 0, 1, 0, 0, 0, 0], CodecError::TooLarge),
        (&[0x80, 0x00], CodecError::Fragment),
        (&[0x82, 0x00], CodecError::Binary),
    ];
    for (bytes, error) in table {
        assert_eq!(read(bytes), Err(error), "{bytes:x?}");
    }
    assert_eq!(read(&server_frame(0x81, &[0xff])), Err(CodecError::Utf8));
    let mut nested = server_frame(0x01, b"a");
    nested.extend(server_frame(0x81, b"b"));
    assert_eq!(read(&nested), Err(CodecError::Fragment));
}

#[test]
fn endless_fragments_are_refused() {
    let mut decoder = Decoder::default();
    let mut seen = Vec::new();
    let part = vec![b'a'; 1 << 20];
    feed(&mut decoder, &server_frame(0x01, &part), &mut seen).expect("first");
    feed(&mut decoder, &server_frame(0x00, &part), &mut seen).expect("second");
    assert_eq!(
        feed(&mut decoder, &server_frame(0x00, b"x"), &mut seen),
        Err(CodecError::TooLarge)
    );
}

/// Unmasks a client frame, as a server does.
fn unmask(frame: &[u8]) -> (u8, Vec<u8>) {
    assert_eq!(frame[1] & 0x80, 0x80, "clients mask");
    let (length, at) = match frame[1] & 0x7f {
        126 => (usize::from(u16::from_be_bytes([frame[2], frame[3]])), 4),
        127 => (
            usize::try_from(u64::from_be_bytes(frame[2..10].try_into().expect("8"))).expect("fits"),
            10,
        ),
        short => (usize::from(short), 2),
    };
    let mask = &frame[at..at + 4];
    let payload = frame[at + 4..]
        .iter()
        .zip(mask.iter().cycle())
        .map(|(b, m)| b ^ m)
        .collect::<Vec<_>>();
    assert_eq!(payload.len(), length);
    (frame[0], payload)
}

#[test]
fn a_masked_frame_is_the_one_of_the_rfc() {
    let mut out = Vec::new();
    encode(&mut out, Opcode::Text, b"Hello", 0x37fa_213d);
    assert_eq!(
        out,
        [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]
    );
}

#[test]
fn lengths_around_every_form_survive() {
    for length in [0, 125, 126, 127, 65_535, 65_536, 70_000] {
        let payload: Vec<u8> = b"0123456789".iter().copied().cycle().take(length).collect();
        let mut out = Vec::new();
        encode(&mut out, Opcode::Text, &payload, 0x0102_0304);
        assert_eq!(unmask(&out), (0x81, payload), "{length} bytes");
    }
}

proptest! {
    #[test]
    fn encoded_frames_unmask_to_their_payload(payload in prop::collection::vec(any::<u8>(), 0..400), mask: u32) {
        let mut out = Vec::new();
        encode(&mut out, Opcode::Text, &payload, mask);
        prop_assert_eq!(unmask(&out), (0x81, payload));
    }

    #[test]
    fn decoding_is_the_inverse_under_any_cuts(
        texts in prop::collection::vec(".{0,200}", 1..8),
        cuts in prop::collection::vec(1usize..50, 1..40),
    ) {
        let bytes: Vec<u8> = texts.iter().flat_map(|t| server_frame(0x81, t.as_bytes())).collect();
        let (mut decoder, mut seen, mut at) = (Decoder::default(), Vec::new(), 0);
        for cut in cuts.iter().cycle() {
            if at >= bytes.len() { break }
            let end = (at + cut).min(bytes.len());
            feed(&mut decoder, &bytes[at..end], &mut seen).expect("valid");
            at = end;
        }
        let expected: Vec<_> = texts.iter().map(|t| format!("text {t}")).collect();
        prop_assert_eq!(seen, expected);
        prop_assert_eq!(decoder.held_bytes(), 0);
    }

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _outcome = read(&bytes);
    }
}
