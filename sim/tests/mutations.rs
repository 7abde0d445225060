//! Each fault that is put in on purpose is noticed within the seeds of `./test`, and by the invariant that is meant to. That the
//! same seeds hold without it is `seeds.rs`.

use sim::{Invariant, Mutation, Outcome, Play, SEEDS_IN_TEST, replay_command};

fn broken(outcome: &Outcome) -> Option<Invariant> {
    outcome.violation.as_ref().map(|violation| violation.invariant)
}

/// The first seed from `from` on, round to it again, whose run breaks `by`: a seed that was found to do so saves the others. A mutated
/// run may break another one first: a wrong game has many faces.
fn is_noticed(mutation: Mutation, by: Invariant, from: u64) {
    let outcome = (from..SEEDS_IN_TEST)
        .chain(0..from)
        .map(|seed| {
            sim::play(Play {
                seed,
                mutation: Some(mutation),
                ..Play::default()
            })
        })
        .find(|outcome| broken(outcome) == Some(by))
        .unwrap_or_else(|| panic!("{} is not noticed by {by}", mutation.name()));
    // Whoever reads it can play it again.
    let said = outcome.to_string();
    for part in [
        by.name(),
        &replay_command(outcome.play),
        &format!("seed {}", outcome.play.seed),
    ] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
    let again = sim::play(outcome.play);
    assert_eq!((again.hash, again.lines), (outcome.hash, outcome.lines));
}

#[test]
fn an_ack_before_its_append_is_noticed() {
    is_noticed(Mutation::AckBeforeAppend, Invariant::AckAfterAppend, 0);
}

#[test]
fn a_store_that_checks_no_numbers_is_noticed() {
    is_noticed(Mutation::NoNumberCheck, Invariant::JournalInOrder, 0);
}

#[test]
fn an_older_snapshot_that_wins_is_noticed() {
    is_noticed(Mutation::OlderSnapshotWins, Invariant::SnapshotsMonotone, 75);
}

#[test]
fn a_replay_that_skips_nothing_is_noticed() {
    is_noticed(Mutation::ReplayWithoutSkipping, Invariant::GameComesBack, 14);
}

#[test]
fn a_store_that_asks_for_no_claim_is_noticed() {
    is_noticed(Mutation::NoClaimCheck, Invariant::OwnerWrites, 17);
}

#[test]
fn epochs_without_claim_ids_are_noticed() {
    is_noticed(Mutation::NoClaimId, Invariant::OneOwnerAnEpoch, 16);
}

#[test]
fn a_claim_while_the_owner_answers_is_noticed() {
    is_noticed(Mutation::ClaimWhileOwnerAnswers, Invariant::ClaimsOnlyTheGone, 16);
}

#[test]
fn a_state_from_before_the_claim_is_noticed() {
    is_noticed(Mutation::LoadBeforeClaim, Invariant::NothingInvented, 23);
}

#[test]
fn records_of_a_server_that_lost_the_game_are_noticed() {
    is_noticed(Mutation::FencedRecordsMerged, Invariant::UnmarkedIsSaved, 19);
}

#[test]
fn games_that_nobody_looks_for_are_noticed() {
    is_noticed(Mutation::NoSweep, Invariant::ClassEnds, 4);
}

#[test]
fn a_proxy_that_remembers_the_dead_is_noticed() {
    is_noticed(Mutation::RemembersTheDead, Invariant::BackInPlay, 12);
}

#[test]
fn a_proxy_that_follows_every_hint_is_noticed() {
    is_noticed(Mutation::NoHopLimit, Invariant::HopsBounded, 146);
}

#[test]
fn a_snapshot_that_holds_less_than_it_says_is_noticed() {
    is_noticed(Mutation::SnapshotOfThePast, Invariant::SnapshotIsTheGame, 2);
}

/// What lets a result leave too early lets the podium be told without a mark, which comes first.
#[test]
fn a_result_from_an_end_that_is_not_saved_is_noticed() {
    is_noticed(Mutation::ResultBeforeAppend, Invariant::UnmarkedIsSaved, 0);
}

#[test]
fn frames_that_tell_what_is_not_saved_are_noticed() {
    is_noticed(Mutation::TellsBeforeAppend, Invariant::UnmarkedIsSaved, 0);
}

#[test]
fn a_state_that_is_not_held_for_what_it_shows_is_noticed() {
    is_noticed(Mutation::WelcomesBeforeAppend, Invariant::UnmarkedIsSaved, 0);
}

#[test]
fn a_store_that_went_back_under_its_old_name_is_noticed() {
    is_noticed(Mutation::NoRunId, Invariant::LossIsTold, 11);
}
