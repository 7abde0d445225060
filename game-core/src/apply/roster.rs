//! Joining, presence, names, leaving and removing.

use crate::command::{Effect, Millis, Reject};
use crate::game::{Game, Phase};
use crate::limits::JOINS_MAX;
use crate::name::PlayerName;
use crate::player::{Player, PlayerId};

impl Game {
    pub(super) fn join(&mut self, now: Millis, name: &str) -> Result<Vec<Effect>, Reject> {
        if self.locked {
            return Err(Reject::Locked);
        }
        let admitted = self.admitted_count();
        if self.player_count() >= self.settings.players_max || admitted >= JOINS_MAX {
            return Err(Reject::Full);
        }
        let name = PlayerName::parse(name).map_err(Reject::Name)?;
        if self.names.contains_key(name.key()) {
            return Err(Reject::NameTaken);
        }
        let id = PlayerId(admitted + 1);
        self.names.insert(name.key().into(), id);
        let spectator = self.phase == Phase::Podium;
        self.players.push(Player {
            spectator,
            ..Player::new(id, name, now)
        });
        Ok(vec![Effect::Joined { player: id }])
    }

    pub(super) fn present(&mut self, id: PlayerId) -> Result<Vec<Effect>, Reject> {
        if self.player(id).is_some_and(|player| player.kicked) {
            return Err(Reject::PlayerKicked);
        }
        let player = self.member_mut(id)?;
        player.left = false;
        let returned = !std::mem::replace(&mut player.present, true);
        Ok(if returned {
            vec![Effect::Returned { player: id }]
        } else {
            Vec::new()
        })
    }

    pub(super) fn absent(&mut self, id: PlayerId) -> Result<Vec<Effect>, Reject> {
        let player = self.member_mut(id)?;
        if !std::mem::replace(&mut player.present, false) {
            return Ok(Vec::new());
        }
        Ok(self.with_early_close(vec![Effect::Away { player: id }]))
    }

    pub(super) fn leave(&mut self, id: PlayerId) -> Result<Vec<Effect>, Reject> {
        let in_lobby = self.phase == Phase::Lobby;
        let player = self.member_mut(id)?;
        if std::mem::replace(&mut player.left, true) {
            return Ok(Vec::new());
        }
        player.present = false;
        if in_lobby {
            self.unlist(id);
        }
        Ok(self.with_early_close(vec![Effect::Left { player: id }]))
    }

    pub(super) fn kick(&mut self, id: PlayerId) -> Result<Vec<Effect>, Reject> {
        self.before_podium()?;
        let player = self.member_mut(id)?;
        player.kicked = true;
        player.present = false;
        self.unlist(id);
        Ok(self.with_early_close(vec![Effect::Kicked { player: id }]))
    }

    pub(super) fn rename(&mut self, id: PlayerId, name: &str) -> Result<Vec<Effect>, Reject> {
        match self.phase {
            Phase::Lobby => self.set_name(id, name),
            Phase::Question { .. } | Phase::Results { .. } | Phase::Podium | Phase::Ended => {
                Err(Reject::WrongPhase)
            }
        }
    }

    pub(super) fn host_rename(&mut self, id: PlayerId, name: &str) -> Result<Vec<Effect>, Reject> {
        self.before_podium()?;
        self.set_name(id, name)
    }

    /// The final places are shown and saved; from then on nobody in them changes.
    fn before_podium(&self) -> Result<(), Reject> {
        match self.phase {
            Phase::Lobby | Phase::Question { .. } | Phase::Results { .. } => Ok(()),
            Phase::Podium | Phase::Ended => Err(Reject::WrongPhase),
        }
    }

    fn set_name(&mut self, id: PlayerId, name: &str) -> Result<Vec<Effect>, Reject> {
        self.member_mut(id)?;
        let name = PlayerName::parse(name).map_err(Reject::Name)?;
        if self.names.get(name.key()).is_some_and(|&holder| holder != id) {
            return Err(Reject::NameTaken);
        }
        let player = self.member_mut(id)?;
        let before = std::mem::replace(&mut player.name, name.clone());
        self.names.remove(before.key());
        self.names.insert(name.key().into(), id);
        Ok(vec![Effect::Renamed { player: id }])
    }

    pub(super) fn lock(&mut self, on: bool) -> Vec<Effect> {
        let changed = std::mem::replace(&mut self.locked, on) != on;
        if changed {
            vec![Effect::LockChanged { on }]
        } else {
            Vec::new()
        }
    }

    /// A player in the roster, away or gone after the lobby included.
    pub(super) fn member_mut(&mut self, id: PlayerId) -> Result<&mut Player, Reject> {
        let place = id.0.checked_sub(1).and_then(|place| usize::try_from(place).ok());
        place
            .and_then(|place| self.players.get_mut(place))
            .filter(|player| player.listed)
            .ok_or(Reject::NoSuchPlayer)
    }

    /// Takes a player out of the roster and frees its name. The record stays, so that the id is never given again.
    fn unlist(&mut self, id: PlayerId) {
        if let Ok(player) = self.member_mut(id) {
            player.listed = false;
            let name = player.name.clone();
            self.names.remove(name.key());
        }
    }
}
