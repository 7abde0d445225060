//! Joining, names, presence, leaving, removing, locking.

use game_core::limits::{JOINS_MAX, PLAYERS_MAX};
use game_core::{Command, Effect, NameError, PlayerId, Reject, Scoring};

use crate::table::{Q0, Table, single};

fn join(name: &str) -> Command {
    Command::Join {
        name: name.to_owned(),
    }
}

fn names(table: &Table) -> Vec<&str> {
    table.game.players().map(|player| player.name.as_str()).collect()
}

#[test]
fn ids_count_from_one_in_the_order_of_joining() {
    let mut table = Table::new(1);
    assert_eq!(table.join("10"), PlayerId(1));
    assert_eq!(table.join("9"), PlayerId(2));
    assert_eq!(table.join("007"), PlayerId(3));
    assert_eq!(names(&table), ["10", "9", "007"]);
    assert_eq!(table.game.player_count(), 3);
}

#[test]
fn joining_works_in_every_phase_but_the_last() {
    let mut table = Table::new(1);
    table.join("lobby");
    table.start();
    table.join("question");
    table.close(Q0);
    table.join("results");
    table.ok(Command::Next { question: Q0 });
    table.join("podium");
    table.ok(Command::End);
    assert_eq!(table.no(join("ended")), Reject::Ended);
    assert_eq!(names(&table), ["lobby", "question", "results", "podium"]);
}

#[test]
fn a_locked_game_takes_nobody_and_lets_players_come_back() {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    assert_eq!(
        table.ok(Command::Lock { on: true }),
        [Effect::LockChanged { on: true }]
    );
    assert!(table.game.locked());
    assert_eq!(table.ok(Command::Lock { on: true }), []);
    assert_eq!(table.no(join("Bob")), Reject::Locked);
    table.ok(Command::Absent { player: ada });
    assert_eq!(
        table.ok(Command::Present { player: ada }),
        [Effect::Returned { player: ada }]
    );
    assert_eq!(
        table.ok(Command::Lock { on: false }),
        [Effect::LockChanged { on: false }]
    );
    table.join("Bob");
}

#[test]
fn a_full_game_takes_the_next_one_when_somebody_leaves_the_lobby_or_is_removed() {
    let mut table = Table::with(vec![single()], Scoring::Speed, 2);
    let ada = table.join("Ada");
    let bob = table.join("Bob");
    assert_eq!(table.no(join("Cyd")), Reject::Full);
    table.ok(Command::Leave { player: ada });
    table.join("Cyd");
    assert_eq!(table.no(join("Dan")), Reject::Full);
    table.ok(Command::Kick { player: bob });
    table.join("Dan");
    table.ok(Command::Absent { player: PlayerId(4) });
    assert_eq!(table.no(join("Eve")), Reject::Full, "who is away keeps the place");
}

#[test]
fn who_leaves_after_the_lobby_keeps_the_place() {
    let mut table = Table::with(vec![single()], Scoring::Speed, 1);
    let ada = table.join("Ada");
    table.start();
    table.ok(Command::Leave { player: ada });
    assert_eq!(table.no(join("Bob")), Reject::Full);
}

#[test]
fn no_plan_admits_more_than_a_lecture_hall() {
    let mut table = Table::with(vec![single()], Scoring::Speed, u32::MAX);
    assert_eq!(table.game.settings().players_max, PLAYERS_MAX);
    for number in 1..=PLAYERS_MAX {
        table.join(&number.to_string());
    }
    assert_eq!(table.no(join("late")), Reject::Full);
    let mut none = Table::with(vec![single()], Scoring::Speed, 0);
    assert_eq!(none.no(join("Ada")), Reject::Full);
}

#[test]
fn joining_and_leaving_over_and_over_comes_to_an_end() {
    let mut table = Table::new(1);
    for number in 1..=JOINS_MAX {
        let player = table.join("Ada");
        assert_eq!(player, PlayerId(number), "an id never comes back");
        table.ok(Command::Leave { player });
    }
    assert_eq!(table.game.player_count(), 0);
    assert_eq!(table.no(join("Ada")), Reject::Full);
}

#[test]
fn names_are_checked_and_unique() {
    let mut table = Table::new(1);
    let ada = table.join("  Ada \u{3000} L ");
    assert_eq!(names(&table), ["Ada L"]);
    assert_eq!(table.no(join(" ")), Reject::Name(NameError::Empty));
    assert_eq!(table.no(join(&"a".repeat(21))), Reject::Name(NameError::TooLong));
    assert_eq!(table.no(join("a\u{202E}b")), Reject::Name(NameError::Control));
    assert_eq!(table.no(join("ADA\u{200B} l")), Reject::NameTaken);
    let bob = table.join("Bob");
    let name = "ada l".to_owned();
    assert_eq!(
        table.no(Command::Rename {
            player: bob,
            name: name.clone()
        }),
        Reject::NameTaken
    );
    assert_eq!(
        table.ok(Command::Rename { player: ada, name }),
        [Effect::Renamed { player: ada }],
        "one's own name in other letters is free"
    );
    assert_eq!(names(&table), ["ada l", "Bob"]);
}

#[test]
fn a_rename_frees_the_name_before() {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    table.ok(Command::Rename {
        player: ada,
        name: "Countess".to_owned(),
    });
    let other = table.join("Ada");
    let taken = Command::HostRename {
        player: other,
        name: "countess".to_owned(),
    };
    assert_eq!(table.no(taken), Reject::NameTaken);
}

#[test]
fn players_rename_in_the_lobby_and_hosts_until_the_podium() {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    let by_player = Command::Rename {
        player: ada,
        name: "P".to_owned(),
    };
    let by_host = Command::HostRename {
        player: ada,
        name: "H".to_owned(),
    };
    let bad = Command::HostRename {
        player: ada,
        name: String::new(),
    };
    assert_eq!(table.ok(by_player.clone()), [Effect::Renamed { player: ada }]);
    for step in [Command::Start, Command::Close { question: Q0 }] {
        table.ok(step);
        assert_eq!(table.no(by_player.clone()), Reject::WrongPhase);
        assert_eq!(table.ok(by_host.clone()), [Effect::Renamed { player: ada }]);
        assert_eq!(table.no(bad.clone()), Reject::Name(NameError::Empty));
    }
    assert_eq!(names(&table), ["H"]);
    table.ok(Command::Next { question: Q0 });
    assert_eq!(table.no(by_host.clone()), Reject::WrongPhase);
    table.ok(Command::End);
    assert_eq!(table.no(by_player), Reject::Ended);
    assert_eq!(table.no(by_host), Reject::Ended);
}

#[test]
fn presence_is_told_when_it_changes() {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    assert_eq!(table.ok(Command::Present { player: ada }), []);
    assert_eq!(
        table.ok(Command::Absent { player: ada }),
        [Effect::Away { player: ada }]
    );
    assert_eq!(table.ok(Command::Absent { player: ada }), []);
    assert_eq!((table.game.present_count(), table.game.player_count()), (0, 1));
    assert_eq!(
        table.ok(Command::Present { player: ada }),
        [Effect::Returned { player: ada }]
    );
    assert_eq!(table.game.present_count(), 1);
}

#[test]
fn who_leaves_the_lobby_is_gone_and_frees_the_name() {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    assert_eq!(
        table.ok(Command::Leave { player: ada }),
        [Effect::Left { player: ada }]
    );
    assert_eq!(table.game.player_count(), 0);
    for command in [
        Command::Present { player: ada },
        Command::Absent { player: ada },
        Command::Leave { player: ada },
        Command::Kick { player: ada },
        Command::HostRename {
            player: ada,
            name: "B".to_owned(),
        },
    ] {
        assert_eq!(table.no(command), Reject::NoSuchPlayer);
    }
    assert_eq!(table.join("Ada"), PlayerId(2));
}

#[test]
fn who_leaves_later_keeps_name_and_points_and_may_come_back() {
    let mut table = Table::new(2);
    let ada = table.join("Ada");
    table.join("Bob");
    table.start();
    table.answer(ada, Q0, &[0]);
    assert_eq!(
        table.ok(Command::Leave { player: ada }),
        [Effect::Left { player: ada }]
    );
    assert_eq!(table.ok(Command::Leave { player: ada }), []);
    assert_eq!(table.ok(Command::Absent { player: ada }), []);
    assert_eq!(table.refused(ada, Q0, &[1]), Reject::NoSuchPlayer);
    assert_eq!(table.no(join("ada")), Reject::NameTaken);
    table.close(Q0);
    assert_eq!((table.total(ada), table.game.player_count()), (1_000, 2));
    assert!(table.game.player(ada).expect("known").left);
    assert_eq!(
        table.ok(Command::Present { player: ada }),
        [Effect::Returned { player: ada }]
    );
    let back = table.game.player(ada).expect("known");
    assert!(back.present && !back.left && back.total == 1_000);
}

#[test]
fn who_is_removed_is_gone_from_roster_ranks_and_results_for_good() {
    let mut table = Table::new(2);
    let ada = table.join("Ada");
    let bob = table.join("Bob");
    table.start();
    table.answer(ada, Q0, &[0]);
    table.answer(bob, Q0, &[1]);
    assert_eq!(table.outcome(bob).rank, 2);
    assert_eq!(
        table.ok(Command::Kick { player: ada }),
        [Effect::Kicked { player: ada }]
    );
    assert_eq!(names(&table), ["Bob"]);
    assert_eq!(table.game.standings().len(), 1);
    assert_eq!((table.outcome(bob).rank, table.outcome(bob).of), (1, 1));
    assert_eq!(table.game.outcome(ada), None);
    assert_eq!(table.game.answer_of(ada, Q0), None);
    assert_eq!(table.game.reveal().expect("shown").histogram, [0, 1, 0, 0]);
    assert_eq!(table.no(Command::Present { player: ada }), Reject::PlayerKicked);
    assert_eq!(table.no(Command::Kick { player: ada }), Reject::NoSuchPlayer);
    assert_eq!(table.refused(ada, Q0, &[0]), Reject::NoSuchPlayer);
    assert!(table.game.player(ada).expect("known").kicked);
    assert_eq!(table.join("Ada"), PlayerId(3), "the name is free, the id is not");
}

#[test]
fn ids_that_were_never_given_are_nobody() {
    let mut table = Table::new(1);
    table.join("Ada");
    for player in [PlayerId(0), PlayerId(2), PlayerId(u32::MAX)] {
        assert_eq!(table.game.player(player), None);
        for command in [
            Command::Present { player },
            Command::Absent { player },
            Command::Leave { player },
            Command::Kick { player },
            Command::Rename {
                player,
                name: "B".to_owned(),
            },
            Command::HostRename {
                player,
                name: "B".to_owned(),
            },
        ] {
            assert_eq!(table.no(command), Reject::NoSuchPlayer);
        }
        assert_eq!(table.refused(player, Q0, &[0]), Reject::NoSuchPlayer);
    }
}

#[test]
fn nobody_in_the_final_places_changes_and_who_comes_late_watches() {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    table.ok(Command::Start);
    table.ok(Command::Close { question: Q0 });
    table.ok(Command::Next { question: Q0 });
    let places = table.game.standings();
    let late = table.join("Late");
    assert_eq!(table.no(Command::Kick { player: ada }), Reject::WrongPhase);
    assert_eq!(table.no(Command::Kick { player: late }), Reject::WrongPhase);
    table.ok(Command::Leave { player: ada });
    assert_eq!(table.game.standings(), places);
    assert_eq!(table.game.player_count(), 2);
}
