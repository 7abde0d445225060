//! Places of files that are uploaded: bounded for all, and for each teacher.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::ids::TeacherId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::{UPLOADS_MAX, UPLOADS_OF_TEACHER_MAX};

/// The places of a process. Clones share them: a layer of tower would count each connection by itself.
#[derive(Debug, Clone)]
pub(crate) struct Uploads {
    places: Arc<Semaphore>,
    /// Nobody who has none is in it.
    of: Arc<Mutex<HashMap<TeacherId, usize>>>,
}

/// A place; given back when dropped.
#[derive(Debug)]
pub(crate) struct Upload {
    uploads: Uploads,
    teacher: TeacherId,
    _place: OwnedSemaphorePermit,
}

impl Uploads {
    pub(crate) fn new() -> Self {
        Self {
            places: Arc::new(Semaphore::new(UPLOADS_MAX)),
            of: Arc::default(),
        }
    }

    /// A place for this teacher's file; none when all are taken, or as many by this teacher as one may have.
    pub(crate) fn take(&self, teacher: TeacherId) -> Option<Upload> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = of.entry(teacher).or_default();
        if *taken >= UPLOADS_OF_TEACHER_MAX {
            return None;
        }
        *taken += 1;
        Some(Upload {
            uploads: self.clone(),
            teacher,
            _place: place,
        })
    }

    /// Places that nobody has.
    #[cfg(test)]
    pub(crate) fn free(&self) -> usize {
        self.places.available_permits()
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut of = self.uploads.of.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = of.get_mut(&self.teacher) {
            *taken -= 1;
            if *taken == 0 {
                of.remove(&self.teacher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn one_teacher_leaves_places_to_the_others() {
        let uploads = Uploads::new();
        let teacher = |n| TeacherId(Uuid::from_u128(n));
        let mut held: Vec<_> = (0..UPLOADS_OF_TEACHER_MAX)
            .map(|_| uploads.take(teacher(1)).unwrap())
            .collect();
        assert!(uploads.take(teacher(1)).is_none());
        let others: Vec<_> = (2..).map_while(|n| uploads.take(teacher(n))).collect();
        assert_eq!(held.len() + others.len(), UPLOADS_MAX);
        held.pop();
        assert!(uploads.take(teacher(1)).is_some(), "it comes back");
        drop((held, others));
        assert_eq!(uploads.free(), UPLOADS_MAX);
        assert!(uploads.of.lock().unwrap().is_empty());
    }
}
