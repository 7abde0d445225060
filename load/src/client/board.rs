//! What the phones of a class were told of their places after a question, against each other: a phone alone cannot know whether its
//! place is right, and the report has only the last ones.

use crate::measure::rank;
use crate::sys::{count, index};

/// What one phone was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Standing {
    /// Points so far.
    pub(super) total: u32,
    /// Its place.
    pub(super) rank: u32,
    /// Players ranked.
    pub(super) of: u32,
}

/// What the phones of a class were told after one question.
#[derive(Debug, Default)]
pub(super) struct Board {
    q: u16,
    told: u32,
    standings: Vec<Standing>,
}

impl Board {
    /// Student `student` was told `standing` after question `q`. How many of all places are wrong, once each of the `joined` players
    /// was told; before that nobody can say.
    pub(super) fn tell(&mut self, q: u16, student: u32, standing: Standing, joined: u32) -> u64 {
        if self.q != q {
            *self = Self { q, ..Self::default() };
        }
        let place = index(student);
        if self.standings.len() <= place {
            self.standings.resize(place + 1, Standing::default());
        }
        let Some(held) = self.standings.get_mut(place) else {
            return 0;
        };
        self.told += u32::from(held.rank == 0);
        *held = standing;
        if self.told == joined {
            self.wrong(joined)
        } else {
            0
        }
    }

    fn wrong(&self, joined: u32) -> u64 {
        // A student who never joined has no points, and so is better than nobody.
        let totals: Vec<u32> = self.standings.iter().map(|s| s.total).collect();
        // Who was cut off while joining may be in the game twice, and all are told of that one alike.
        let of = self.standings.iter().map(|s| s.of).max().unwrap_or(0).max(joined);
        let told = self.standings.iter().filter(|s| s.rank > 0);
        count(
            told.filter(|s| s.rank != rank(s.total, &totals) || s.of != of)
                .count(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::small;

    fn told(board: &mut Board, q: u16, all: &[(u32, u32, u32)]) -> Vec<u64> {
        let joined = small(all.len());
        let tell = |(student, &(total, rank, of)): (u32, &(u32, u32, u32))| {
            board.tell(q, student, Standing { total, rank, of }, joined)
        };
        (0..).zip(all).map(tell).collect()
    }

    #[test]
    fn a_wrong_place_is_found_when_all_were_told() {
        let mut board = Board::default();
        assert_eq!(
            told(&mut board, 1, &[(900, 1, 3), (900, 1, 3), (0, 3, 3)]),
            [0, 0, 0]
        );
        assert_eq!(
            told(&mut board, 2, &[(900, 2, 3), (1_800, 1, 3), (0, 2, 3)]),
            [0, 0, 1]
        );
        assert_eq!(
            told(&mut board, 3, &[(900, 1, 2), (0, 2, 4)]),
            [0, 1],
            "of how many"
        );
        let standing = Standing {
            total: 0,
            rank: 9,
            of: 9,
        };
        assert_eq!(board.tell(4, 0, standing, 2), 0, "somebody was not told");
    }
}
