//! Journals in memory: gone with the process. For the tests and for a process that keeps no journal on disk.

use std::collections::HashMap;
use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::ids::GameId;

use super::{GameLog, LogError, LogFuture, Record, RecordNumber};

/// Bytes kept of one game: 500 players who answer 200 questions and lose their connection at each of them write 4 MB. Past
/// it the journal is given up and the game goes on: what is only in memory protects nobody from a crash, and a script that
/// renames itself for hours must not fill the server.
const JOURNAL_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A [`GameLog`] in memory.
#[derive(Debug, Default)]
pub struct MemoryLog {
    games: Mutex<HashMap<GameId, Journal>>,
}

#[derive(Debug, Default)]
struct Journal {
    last: RecordNumber,
    /// Records, each after its length as four bytes.
    bytes: Vec<u8>,
    outgrown: bool,
}

impl Default for RecordNumber {
    fn default() -> Self {
        Self::NONE
    }
}

impl MemoryLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<GameId, Journal>> {
        // A panic under the lock leaves at worst a journal that ends early.
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GameLog for MemoryLog {
    fn append(&self, game: GameId, first: RecordNumber, records: Vec<Record>) -> LogFuture<()> {
        let mut games = self.lock();
        let result = games.entry(game).or_default().append(first, &records);
        Box::pin(ready(result))
    }

    fn read(&self, game: GameId) -> LogFuture<Vec<Record>> {
        let games = self.lock();
        let result = games.get(&game).map_or_else(|| Ok(Vec::new()), Journal::read);
        Box::pin(ready(result))
    }

    fn remove(&self, game: GameId) -> LogFuture<()> {
        self.lock().remove(&game);
        Box::pin(ready(Ok(())))
    }
}

impl Journal {
    fn append(&mut self, first: RecordNumber, records: &[Record]) -> Result<(), LogError> {
        if first > self.last.next() {
            return Err(LogError::Gap {
                last: self.last,
                first,
            });
        }
        let mut number = first;
        for record in records {
            if number > self.last {
                self.push(record);
                self.last = number;
            }
            number = number.next();
        }
        Ok(())
    }

    fn push(&mut self, record: &Record) {
        if self.outgrown {
            return;
        }
        let mut body = Vec::new();
        record.encode(&mut body);
        let len = u32::try_from(body.len()).unwrap_or(u32::MAX);
        self.bytes.extend_from_slice(&len.to_le_bytes());
        self.bytes.extend_from_slice(&body);
        if self.bytes.len() > JOURNAL_BYTES_MAX {
            self.outgrown = true;
            self.bytes = Vec::new();
        }
    }

    fn read(&self) -> Result<Vec<Record>, LogError> {
        if self.outgrown {
            return Err(LogError::Outgrown {
                bytes_max: JOURNAL_BYTES_MAX,
            });
        }
        let mut records = Vec::new();
        let mut rest = self.bytes.as_slice();
        let mut number = RecordNumber::NONE.next();
        while let Some((len, after)) = rest.split_first_chunk::<4>() {
            let len = usize::try_from(u32::from_le_bytes(*len)).unwrap_or(usize::MAX);
            let unreadable = |source| LogError::Unreadable { number, source };
            let (body, next) = after
                .split_at_checked(len)
                .ok_or_else(|| unreadable(super::DecodeError::Short))?;
            records.push(Record::decode(body).map_err(unreadable)?);
            rest = next;
            number = number.next();
        }
        Ok(records)
    }
}

#[cfg(test)]
mod tests {
    use game_core::Command;
    use uuid::Uuid;

    use super::*;

    fn record(at: u64) -> Record {
        Record {
            at,
            command: Command::Lock {
                on: at.is_multiple_of(2),
            },
        }
    }

    #[tokio::test]
    async fn a_repeated_append_is_kept_once_and_a_gap_is_refused() {
        let log = MemoryLog::new();
        let game = GameId(Uuid::nil());
        log.append(game, RecordNumber(1), vec![record(1), record(2)])
            .await
            .unwrap();
        log.append(game, RecordNumber(2), vec![record(2), record(3)])
            .await
            .unwrap();
        assert!(matches!(
            log.append(game, RecordNumber(5), vec![record(5)]).await,
            Err(LogError::Gap {
                last: RecordNumber(3),
                first: RecordNumber(5)
            })
        ));
        assert_eq!(log.read(game).await.unwrap(), [record(1), record(2), record(3)]);
        log.remove(game).await.unwrap();
        assert_eq!(log.read(game).await.unwrap(), []);
    }

    #[test]
    fn an_outgrown_journal_is_given_up_and_appends_go_on() {
        let mut journal = Journal::default();
        let record = Record {
            at: 0,
            command: Command::Join {
                name: "x".repeat(1_000),
            },
        };
        let enough = JOURNAL_BYTES_MAX / 1_000 + 1;
        let records = vec![record; enough];
        journal.append(RecordNumber(1), &records).unwrap();
        assert!(matches!(journal.read(), Err(LogError::Outgrown { .. })));
        assert!(journal.bytes.is_empty());
        journal
            .append(RecordNumber::NONE.plus(enough + 1), &records[..1])
            .unwrap();
    }
}
