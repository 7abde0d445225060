//! Who may go on to the database now, who waits a moment, and who is told at once to come back later.
//!
//! There is one admission for all routes and listeners of a process. It hands out as many permits as there are connections, so
//! that nothing queues behind it, and keeps a queue of the same length, in which nobody waits longer than their class
//! allows: past its capacity the API answers what it can, in time, and refuses the rest fast. Bursts that are no overload,
//! a school that starts fifty games or signs in at nine o'clock, have room beyond it.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use runtime::metrics::{Alive, Counter, Gauge, Histogram, inc, record};
use tokio::sync::oneshot;

use crate::config::HASHES_WAITING_MAX;
use crate::store::Store;

mod queue;

use queue::Queue;

/// How urgent a call is. Higher classes go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Class {
    /// P0: plan checks and results of game servers. A class is waiting in front of it, or has just played.
    Service,
    /// P1: signing in, and what starting a game needs.
    Entry,
    /// P2: the editor.
    Edit,
    /// P3: lists, dashboards, reports: their pages can ask again.
    Read,
}

impl Class {
    const ALL: [Self; 4] = [Self::Service, Self::Entry, Self::Edit, Self::Read];

    /// Longest wait for a permit. With a queue as long as there are permits the usual wait is that of one call; these bound the
    /// unusual one. A game server gives up after 2 s, a person after a quarter of one.
    fn wait_max(self) -> Duration {
        Duration::from_millis(match self {
            Self::Service => 1_000,
            Self::Entry => 250,
            Self::Edit => 200,
            Self::Read => 150,
        })
    }

    /// Places in the queue beyond as many as there are permits.
    fn room_beyond(self) -> usize {
        match self {
            // Game servers bound themselves; a whole school that starts at once is 50, and a town's pods send 240 in a minute.
            Self::Service => 256,
            // As many as may wait to have their password hashed.
            Self::Entry => HASHES_WAITING_MAX,
            Self::Edit | Self::Read => 0,
        }
    }

    fn index(self) -> usize {
        match self {
            Self::Service => 0,
            Self::Entry => 1,
            Self::Edit => 2,
            Self::Read => 3,
        }
    }

    fn admitted(self) -> Counter {
        match self {
            Self::Service => Counter::ApiAdmittedServiceTotal,
            Self::Entry => Counter::ApiAdmittedEntryTotal,
            Self::Edit => Counter::ApiAdmittedEditTotal,
            Self::Read => Counter::ApiAdmittedReadTotal,
        }
    }

    fn shed(self) -> Counter {
        match self {
            Self::Service => Counter::ApiShedServiceTotal,
            Self::Entry => Counter::ApiShedEntryTotal,
            Self::Edit => Counter::ApiShedEditTotal,
            Self::Read => Counter::ApiShedReadTotal,
        }
    }
}

/// There is no room; come back later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shed;

/// The admission of a process. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Admission {
    queue: Arc<Mutex<Queue>>,
    delay: Option<Arc<Delay>>,
}

/// A query that does nothing but take its time, in front of every call: for measurements, which need a capacity that they know.
struct Delay {
    store: Arc<dyn Store>,
    time: Duration,
}

/// Permission to use the database; given back when dropped.
pub(crate) struct Permit {
    admission: Admission,
    _counted: Alive,
}

impl Admission {
    /// Hands out this many permits, at least one.
    pub(crate) fn new(permits: u32) -> Self {
        let permits = usize::try_from(permits.max(1)).unwrap_or(usize::MAX);
        Self {
            queue: Arc::new(Mutex::new(Queue::new(permits))),
            delay: None,
        }
    }

    /// The same, with a connection of `store` kept busy for `time` by everybody who gets a permit.
    pub(crate) fn delayed(self, store: Arc<dyn Store>, time: Duration) -> Self {
        let delay = (!time.is_zero()).then(|| Arc::new(Delay { store, time }));
        Self { delay, ..self }
    }

    /// A permit, at once or after a short wait.
    ///
    /// # Errors
    /// When the queue is full or the wait is over.
    pub(crate) async fn acquire(&self, class: Class) -> Result<Permit, Shed> {
        let permit = self.acquire_again(class).await?;
        match &self.delay {
            None => Ok(permit),
            Some(delay) => delay.store.stand(delay.time).await.map(|()| permit).or(Err(Shed)),
        }
    }

    /// As [`Admission::acquire`], for a call that had one before: a delay is one of each call.
    async fn acquire_again(&self, class: Class) -> Result<Permit, Shed> {
        let started = Instant::now();
        let entered = self.locked(|queue| queue.enter(class));
        let admitted = match entered {
            queue::Entered::Free => Ok(self.permit()),
            queue::Entered::Full => Err(Shed),
            queue::Entered::Waits(ticket, called) => self.wait(class, ticket, called).await,
        };
        match &admitted {
            Ok(_) => {
                inc(class.admitted());
                record(Histogram::ApiAdmissionWaitSeconds, started.elapsed());
            }
            Err(Shed) => inc(class.shed()),
        }
        admitted
    }

    async fn wait(&self, class: Class, ticket: u64, called: oneshot::Receiver<()>) -> Result<Permit, Shed> {
        let mut place = Place {
            admission: self,
            class,
            ticket,
            called,
        };
        match tokio::time::timeout(class.wait_max(), &mut place.called).await {
            // The permit is this one's from now on, and no longer the place's to give back.
            Ok(Ok(())) => Ok(self.permit()),
            // A more urgent call took the place, or the time is over.
            Ok(Err(_)) | Err(_) => Err(Shed),
        }
    }

    fn permit(&self) -> Permit {
        Permit {
            admission: self.clone(),
            _counted: Alive::new(Gauge::ApiPermitsUsed),
        }
    }

    fn locked<T>(&self, work: impl FnOnce(&mut Queue) -> T) -> T {
        work(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.admission.locked(Queue::give_back);
    }
}

/// A place in the queue; whoever leaves it, by whatever way, leaves nothing behind.
struct Place<'a> {
    admission: &'a Admission,
    class: Class,
    ticket: u64,
    called: oneshot::Receiver<()>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.admission.locked(|queue| {
            queue.leave(self.class, self.ticket);
            // Called in the moment of leaving: the permit goes to the next one.
            if self.called.try_recv().is_ok() {
                queue.give_back();
            }
        });
    }
}

/// A request's admission. It lets go of its permit while the request does something long that needs no database.
#[derive(Clone)]
pub(crate) struct Admitted(Arc<Holding>);

struct Holding {
    admission: Admission,
    class: Class,
    permit: Mutex<Option<Permit>>,
}

impl Admitted {
    pub(crate) fn new(admission: Admission, class: Class, permit: Permit) -> Self {
        Self(Arc::new(Holding {
            admission,
            class,
            permit: Mutex::new(Some(permit)),
        }))
    }

    /// Does `work` without a permit, and gets one again.
    ///
    /// # Errors
    /// When there is no room afterwards.
    pub(crate) async fn pause<T>(&self, work: impl Future<Output = T>) -> Result<T, Shed> {
        drop(self.swap(None));
        let done = work.await;
        let permit = self.0.admission.acquire_again(self.0.class).await?;
        drop(self.swap(Some(permit)));
        Ok(done)
    }

    /// As [`Admitted::pause`], but only if `work` takes longer than `grace`.
    ///
    /// # Errors
    /// When it did, and there is no room afterwards.
    pub(crate) async fn pause_after<T>(
        &self,
        grace: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, Shed> {
        let mut work = pin!(work);
        match tokio::time::timeout(grace, &mut work).await {
            Ok(done) => Ok(done),
            Err(_) => self.pause(work).await,
        }
    }

    fn swap(&self, permit: Option<Permit>) -> Option<Permit> {
        let mut held = self.0.permit.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut held, permit)
    }
}

#[cfg(test)]
mod tests;
