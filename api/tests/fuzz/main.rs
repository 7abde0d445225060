//! Requests made from the API's own document, right ones and hostile ones, to a real listener. Every answer must be one that the
//! document tells of, and come in time.
//!
//! `PROPTEST_CASES` says how many batches of requests; `./test --long openapi-fuzz` takes 100 times as many.

#![expect(
    clippy::unwrap_used,
    reason = "a test's helpers fail by panicking, like the test"
)]

use std::collections::BTreeMap;
use std::sync::Mutex;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{TestError, TestRunner};

mod case;
mod judge;
mod schema;
mod surface;
mod world;

#[expect(
    dead_code,
    reason = "shared with the tests of the HTTP API, which use more of it"
)]
#[path = "../http/support.rs"]
mod support;

use case::Case;
use surface::{Call, Surface};
use world::World;

/// Requests of a batch.
const BATCH: usize = 12;

/// Further requests of a call that chance has left out, at most.
const MORE_MAX: usize = 500;

/// How often each call gave each status and code.
type Seen<'a> = BTreeMap<(&'a str, u16, String), usize>;

#[test]
fn the_api_keeps_to_its_document() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut world = runtime.block_on(World::new());
    let document = runtime.block_on(world.document());
    let surface = Surface::read(&document);
    let judge = judge::Judge::new(&document, &surface);
    let state = Mutex::new((&mut world, Seen::new()));
    let send = |case: &Case| {
        let (world, seen) = &mut *state.lock().unwrap();
        let call = &surface.calls[case.call];
        let reply = runtime.block_on(world.send(call, case));
        let code = judge.judge(call, &reply).map_err(|why| {
            TestCaseError::fail(format!("{why}\n{} {}\n{}", call.method, call.path, reply.told()))
        })?;
        let key = (call.id.as_str(), reply.status.as_u16(), code);
        *seen.entry(key).or_default() += 1;
        Ok(())
    };

    // A batch depends on what was sent before it: a seed alone brings nothing back.
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new(config);
    let batches = prop::collection::vec(case::request(&surface), BATCH);
    let mut fuzzed = runner.run(&batches, |batch| batch.iter().try_for_each(send));
    for (index, call) in surface.calls.iter().enumerate() {
        let more = case::of_call(index, call, &surface.components);
        for _ in 0..MORE_MAX {
            if fuzzed.is_err() || missing(call, &state.lock().unwrap().1).is_none() {
                break;
            }
            let case = more.new_tree(&mut runner).unwrap().current();
            fuzzed = send(&case).map_err(|error| TestError::Fail(error.to_string().into(), vec![case]));
        }
    }
    let (_, seen) = state.into_inner().unwrap();
    for ((call, status, code), times) in &seen {
        println!("{times:>7} {call} {status} {code}");
    }
    println!("{} requests", seen.values().sum::<usize>());
    fuzzed.unwrap_or_else(|error| panic!("{error}"));
    // A fuzz that only ever met the door has shown nothing.
    for call in &surface.calls {
        assert_eq!(missing(call, &seen), None, "{}", call.id);
    }
}

/// What a call has not shown yet.
fn missing(call: &Call, seen: &Seen<'_>) -> Option<&'static str> {
    let met = |fine: fn(u16) -> bool| seen.keys().any(|(id, status, _)| *id == call.id && fine(*status));
    if !met(|status| status < 300) {
        Some("a success")
    } else if !call.refusals.is_empty() && !met(|status| status >= 400) {
        Some("a refusal")
    } else {
        None
    }
}
