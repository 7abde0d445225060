//! Admission under a paused clock, and the queue against a count kept by hand.

use std::collections::HashMap;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use proptest::prelude::*;

use super::*;

async fn all<const N: usize>(admission: &Admission, class: Class) -> [Permit; N] {
    let permits = join_all((0..N).map(|_| admission.acquire(class))).await;
    permits
        .into_iter()
        .map(|permit| permit.unwrap_or_else(|Shed| panic!("shed")))
        .collect::<Vec<_>>()
        .try_into()
        .unwrap_or_else(|_| unreachable!())
}

fn free(admission: &Admission) -> (usize, usize) {
    admission.locked(|queue| (queue.free(), queue.len()))
}

/// Waits until so many are in the queue.
async fn queued(admission: &Admission, len: usize) {
    while free(admission).1 != len {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn past_the_queue_a_refusal_is_immediate_and_within_it_bounded() {
    let admission = Admission::new(2);
    let _held: [Permit; 2] = all(&admission, Class::Read).await;
    let (one, two) = (admission.clone(), admission.clone());
    let waiting = [
        tokio::spawn(async move { one.acquire(Class::Edit).await.is_ok() }),
        tokio::spawn(async move { two.acquire(Class::Edit).await.is_ok() }),
    ];
    queued(&admission, 2).await;
    let started = tokio::time::Instant::now();
    assert!(admission.acquire(Class::Edit).now_or_never().unwrap().is_err());
    for waited in waiting {
        assert!(!waited.await.unwrap());
    }
    assert!(started.elapsed() <= Class::Edit.wait_max() + Duration::from_millis(1));
    assert_eq!(free(&admission), (0, 0), "who gave up left the queue");
}

#[tokio::test(start_paused = true)]
async fn the_urgent_go_first_and_take_the_place_of_others() {
    let admission = Admission::new(3);
    let held: [Permit; 3] = all(&admission, Class::Read).await;
    let mut waiting = HashMap::new();
    for (n, class) in [Class::Edit, Class::Read, Class::Edit].into_iter().enumerate() {
        let admission = admission.clone();
        waiting.insert(
            n,
            tokio::spawn(async move { admission.acquire(class).await.is_ok() }),
        );
        tokio::task::yield_now().await;
    }
    queued(&admission, 3).await;
    // Room beyond for the urgent; the one after that takes the place of the newest edit, as the one read stays.
    let urgent = Class::Service.room_beyond() + 1;
    let urgent: Vec<_> = (0..urgent)
        .map(|_| {
            let admission = admission.clone();
            tokio::spawn(async move { admission.acquire(Class::Service).await.is_ok() })
        })
        .collect();
    assert!(!waiting.remove(&2).unwrap().await.unwrap());
    assert!(admission.acquire(Class::Edit).now_or_never().unwrap().is_err());
    let [first, second, third] = held;
    drop(first);
    for served in urgent {
        assert!(served.await.unwrap());
    }
    for other in [0, 1] {
        assert!(waiting.remove(&other).unwrap().await.unwrap());
    }
    drop((second, third));
    assert_eq!(free(&admission), (3, 0));
}

#[tokio::test(start_paused = true)]
async fn reads_get_one_permit_in_sixteen() {
    let admission = Admission::new(1);
    let mut held = admission.acquire(Class::Service).await.ok();
    let (told, mut order) = tokio::sync::mpsc::channel(100);
    let call = |class: Class| {
        let (admission, told) = (admission.clone(), told.clone());
        tokio::spawn(async move {
            let permit = admission.acquire(class).await;
            told.send((class, permit))
                .await
                .unwrap_or_else(|_| unreachable!());
        })
    };
    call(Class::Read);
    queued(&admission, 1).await;
    for served in 1.. {
        // Whenever there is room, another urgent one comes.
        call(Class::Service);
        queued(&admission, 1 + usize::from(served < 17)).await;
        drop(held.take());
        let (class, permit) = order.recv().await.unwrap();
        held = Some(permit.unwrap_or_else(|Shed| panic!("{class:?} shed")));
        if class == Class::Read {
            assert_eq!(served, 16);
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_lets_others_in() {
    let admission = Admission::new(1);
    let permit = admission
        .acquire(Class::Entry)
        .await
        .unwrap_or_else(|Shed| panic!("shed"));
    let admitted = Admitted::new(admission.clone(), Class::Entry, permit);
    let inside = admitted.pause(async { admission.acquire(Class::Read).await.is_ok() });
    assert_eq!(inside.await, Ok(true));
    assert_eq!(free(&admission).0, 0, "it has its permit again");
    let quick = admitted.pause_after(Duration::from_millis(10), async { free(&admission).0 });
    assert_eq!(quick.await, Ok(0), "kept");
    let slow = admitted.pause_after(Duration::from_millis(10), async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        free(&admission).0
    });
    assert_eq!(slow.await, Ok(1), "given back meanwhile");
    drop(admitted);
    assert_eq!(free(&admission), (1, 0));
}

#[test]
fn the_page_tells_the_classes() {
    let page = include_str!("../../../docs/configuration.md");
    for (class, name) in Class::ALL.into_iter().zip(["service", "entry", "edit", "read"]) {
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` | ")))
            .unwrap_or_else(|| panic!("docs/configuration.md does not tell of {name}"));
        let wait = match class.wait_max() {
            whole if whole.subsec_millis() == 0 => format!(" | {} s |", whole.as_secs()),
            part => format!(" | {} ms |", part.as_millis()),
        };
        let beyond = match class.room_beyond() {
            0 => String::new(),
            room => format!("; {room} more may wait |"),
        };
        let share = match class {
            Class::Read => format!("at least one permit in {}", queue::READ_EVERY),
            Class::Service | Class::Entry | Class::Edit => String::new(),
        };
        for told in [wait, beyond, share] {
            assert!(
                line.contains(&told),
                "docs/configuration.md: {told:?} is missing in {line}"
            );
        }
    }
}

fn class() -> impl Strategy<Value = Class> {
    prop::sample::select(Class::ALL.to_vec())
}

/// What may happen: somebody comes, somebody who waits leaves, a permit comes back.
#[derive(Debug, Clone)]
enum Step {
    Come(Class),
    Leave(prop::sample::Index),
    Return,
}

proptest! {
    /// No permit is ever lost or made, and nobody waits while one is free.
    #[test]
    fn permits_are_conserved(
        permits in 1_u32..5,
        steps in prop::collection::vec(
            prop_oneof![
                4 => class().prop_map(Step::Come),
                1 => any::<prop::sample::Index>().prop_map(Step::Leave),
                3 => Just(Step::Return),
            ],
            0..200,
        ),
    ) {
        let admission = Admission::new(permits);
        let permits = usize::try_from(permits).unwrap();
        let (mut held, mut waiting) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Come(class) => match admission.locked(|queue| queue.enter(class)) {
                    queue::Entered::Free => held.push(admission.permit()),
                    queue::Entered::Full => {}
                    queue::Entered::Waits(ticket, called) => waiting.push(Place {
                        admission: &admission,
                        class,
                        ticket,
                        called,
                    }),
                },
                Step::Leave(index) if !waiting.is_empty() => drop(waiting.remove(index.index(waiting.len()))),
                Step::Leave(_) => {}
                Step::Return => drop(held.pop()),
            }
            // Those who were called take their permit, those whose place was needed go.
            for mut place in std::mem::take(&mut waiting) {
                match place.called.try_recv() {
                    Ok(()) => held.push(admission.permit()),
                    Err(oneshot::error::TryRecvError::Empty) => waiting.push(place),
                    Err(oneshot::error::TryRecvError::Closed) => {}
                }
            }
            let (free, queued) = free(&admission);
            prop_assert_eq!(free + held.len(), permits);
            prop_assert_eq!(queued, waiting.len());
            prop_assert!(free == 0 || queued == 0);
            prop_assert!(queued <= permits + Class::Service.room_beyond() + 1);
        }
    }
}
