//! What students answered and what they were told, by hand.

use std::collections::BTreeMap;

/// An answer that a student gave.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    /// The choices, ascending.
    pub(super) choices: Vec<u8>,
    /// How often it was sent.
    pub(super) copies: u32,
    /// It was heard that it counts, and is not saved yet.
    pub(super) is_unsaved: bool,
    /// It was heard that it is saved.
    pub(super) is_saved: bool,
    /// It was refused with this code before anything else was heard of it.
    pub(super) refused: Option<String>,
    /// A later state or a result told what became of the question.
    pub(super) is_told: bool,
}

impl Entry {
    /// Whether the student knows.
    pub(super) fn is_settled(&self) -> bool {
        self.is_saved || self.refused.is_some() || self.is_told
    }
}

/// All answers, by client, player and question: a server that lost the game may have given a player's number to another client.
#[derive(Debug, Default)]
pub(super) struct Books {
    /// The player that each client is, by the client's number.
    players: BTreeMap<usize, u32>,
    entries: BTreeMap<(usize, u32, u16), Entry>,
}

impl Books {
    /// A client is this player from now on. What it did as another one is decided: that player was lost.
    pub(super) fn is_player(&mut self, client: usize, player: u32) {
        if self.player(client) != Some(player) {
            self.told(client, u16::MAX);
            self.players.insert(client, player);
        }
    }

    /// The player that a client is.
    pub(super) fn player(&self, client: usize) -> Option<u32> {
        self.players.get(&client).copied()
    }

    pub(super) fn answered(&mut self, client: usize, q: u16, choices: Vec<u8>) {
        if let Some(player) = self.player(client) {
            let entry = self.entries.entry((client, player, q)).or_default();
            entry.choices = choices;
        }
    }

    /// What a client knows of its answer to `q`.
    pub(super) fn entry_mut(&mut self, client: usize, q: u16) -> Option<&mut Entry> {
        let player = self.player(client)?;
        self.entries.get_mut(&(client, player, q))
    }

    /// What was given as a player's answer to `q`, by whom ever.
    pub(super) fn given(&self, player: u32, q: u16) -> impl Iterator<Item = &Entry> {
        let entries = self.entries.iter();
        entries
            .filter(move |((_, by, of), _)| (*by, *of) == (player, q))
            .map(|(_, entry)| entry)
    }

    /// A state or a result told a client about every question up to `q`.
    pub(super) fn told(&mut self, client: usize, q: u16) {
        let Some(player) = self.player(client) else {
            return;
        };
        let range = (client, player, 0)..=(client, player, q);
        for entry in self.entries.range_mut(range).map(|(_, entry)| entry) {
            entry.is_told = true;
        }
    }

    /// What the store lost of what it was said to have is decided: the class was told. Says how much that is.
    pub(super) fn forgive(&mut self, has: impl Fn(u32, u16) -> bool) -> usize {
        let mut lost = 0;
        for ((_, player, q), entry) in &mut self.entries {
            if entry.is_saved && !has(*player, *q) {
                entry.is_saved = false;
                entry.is_told = true;
                lost += 1;
            }
        }
        lost
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (u32, u16, &Entry)> {
        self.entries
            .iter()
            .map(|((_, player, q), entry)| (*player, *q, entry))
    }
}
