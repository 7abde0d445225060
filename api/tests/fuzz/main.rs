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
use proptest::test_runner::TestRunner;

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

use surface::Surface;
use world::World;

/// Requests of a batch.
const BATCH: usize = 12;

#[test]
fn the_api_keeps_to_its_document() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut world = runtime.block_on(World::new());
    let document = runtime.block_on(world.document());
    let surface = Surface::read(&document);
    let judge = judge::Judge::new(&document, &surface);
    let seen = Mutex::new(BTreeMap::<(&str, u16, String), usize>::new());
    let world = Mutex::new(&mut world);

    // A batch depends on what was sent before it: a seed alone brings nothing back.
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let batches = prop::collection::vec(case::request(&surface), BATCH);
    let fuzzed = TestRunner::new(config).run(&batches, |batch| {
        let mut world = world.lock().unwrap();
        for case in batch {
            let call = &surface.calls[case.call];
            let reply = runtime.block_on(world.send(call, &case));
            let code = judge.judge(call, &reply).map_err(|why| {
                TestCaseError::fail(format!("{why}\n{} {}\n{}", call.method, call.path, reply.told()))
            })?;
            let key = (call.id.as_str(), reply.status.as_u16(), code);
            *seen.lock().unwrap().entry(key).or_default() += 1;
        }
        Ok(())
    });
    let seen = seen.into_inner().unwrap();
    for ((call, status, code), times) in &seen {
        println!("{times:>7} {call} {status} {code}");
    }
    println!("{} requests", seen.values().sum::<usize>());
    fuzzed.unwrap_or_else(|error| panic!("{error}"));
    // A fuzz that only ever met the door has shown nothing.
    for call in &surface.calls {
        let met = |fine: fn(u16) -> bool| {
            seen.iter()
                .any(|((id, status, _), _)| *id == call.id && fine(*status))
        };
        assert!(met(|status| status < 300), "{} never succeeded", call.id);
        assert!(
            call.refusals.is_empty() || met(|status| status >= 400),
            "{} was never refused",
            call.id
        );
    }
}
