//! Plans of random games. A step says roughly what happens; `interpret` makes a command of it that mostly fits the game as
//! it stands, so that games get far, and sometimes does not.

use super::{Arc, Command, Game, Millis, PlayerId, Question, QuestionIndex, Quiz};
use game_core::{Choice, ChoiceSet, QuestionKind, Scoring, Settings};
use proptest::prelude::*;

#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) questions: Vec<Question>,
    pub(crate) settings: Settings,
    pub(crate) steps: Vec<Step>,
}

impl Plan {
    pub(crate) fn game(&self) -> Game {
        let quiz = Quiz::new(self.questions.clone()).expect("generated within bounds");
        Game::new(Arc::new(quiz), self.settings)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    when: When,
    what: What,
}

#[derive(Debug, Clone)]
enum When {
    Wait(u32),
    Back(u32),
    /// To the deadline, less one, plus this.
    Deadline(u64),
    At(Millis),
}

#[derive(Debug, Clone)]
enum What {
    Join(String),
    Present(Who),
    Absent(Who),
    Leave(Who),
    Kick(Who),
    Rename(Who, String),
    HostRename(Who, String),
    Lock(bool),
    Start,
    Answer(Who, Which, Pick),
    Timer(Which),
    Close(Which),
    Skip(Which),
    Next(Which),
    End,
}

#[derive(Debug, Clone)]
enum Who {
    /// One of those who ever joined.
    Known(usize),
    Any(u32),
}

#[derive(Debug, Clone)]
enum Which {
    Current,
    Other(u16),
}

#[derive(Debug, Clone)]
enum Pick {
    One(u8),
    Correct,
    /// The solution with one choice more, or one less.
    Nearly(u8),
    Again,
    Bits(u16),
}

/// The time and the command that a step means in a game as it stands.
pub(crate) fn interpret(step: &Step, now: Millis, game: &Game) -> (Millis, Command) {
    let now = match step.when {
        When::Wait(ms) => now.saturating_add(Millis::from(ms)),
        When::Back(ms) => now.saturating_sub(Millis::from(ms)),
        When::Deadline(past) => game
            .deadline()
            .map_or(now, |deadline| deadline.saturating_sub(1).saturating_add(past)),
        When::At(at) => at,
    };
    let command = match &step.what {
        What::Join(name) => Command::Join { name: name.clone() },
        What::Present(who) => Command::Present { player: who.id(game) },
        What::Absent(who) => Command::Absent { player: who.id(game) },
        What::Leave(who) => Command::Leave { player: who.id(game) },
        What::Kick(who) => Command::Kick { player: who.id(game) },
        What::Rename(who, name) => Command::Rename {
            player: who.id(game),
            name: name.clone(),
        },
        What::HostRename(who, name) => Command::HostRename {
            player: who.id(game),
            name: name.clone(),
        },
        What::Lock(on) => Command::Lock { on: *on },
        What::Start => Command::Start,
        What::Answer(who, which, pick) => {
            let (player, question) = (who.id(game), which.index(game));
            Command::Answer {
                player,
                question,
                choices: pick.set(game, player, question),
            }
        }
        What::Timer(which) => Command::DeadlineReached {
            question: which.index(game),
        },
        What::Close(which) => Command::Close {
            question: which.index(game),
        },
        What::Skip(which) => Command::Skip {
            question: which.index(game),
        },
        What::Next(which) => Command::Next {
            question: which.index(game),
        },
        What::End => Command::End,
    };
    (now, command)
}

impl Who {
    fn id(&self, game: &Game) -> PlayerId {
        match *self {
            Self::Any(id) => PlayerId(id),
            Self::Known(nth) => {
                let ever: Vec<_> = (1..)
                    .map(PlayerId)
                    .take_while(|&id| game.player(id).is_some())
                    .collect();
                ever.get(nth % ever.len().max(1)).copied().unwrap_or(PlayerId(1))
            }
        }
    }
}

impl Which {
    fn index(&self, game: &Game) -> QuestionIndex {
        match *self {
            Self::Current => game.current().unwrap_or(QuestionIndex(0)),
            Self::Other(index) => QuestionIndex(index),
        }
    }
}

impl Pick {
    fn set(&self, game: &Game, player: PlayerId, question: QuestionIndex) -> ChoiceSet {
        let one = |choice| ChoiceSet::from_indices([choice]).expect("below 16");
        let correct = game.quiz().get(question).map_or(one(0), Question::correct);
        match *self {
            Self::One(choice) => one(choice),
            Self::Bits(bits) => ChoiceSet(bits),
            Self::Correct => correct,
            Self::Nearly(choice) => ChoiceSet(correct.0 ^ one(choice).0),
            Self::Again => game
                .answer_of(player, question)
                .map_or(one(1), |answer| answer.choices),
        }
    }
}

/// Plans of games that are mostly played as games are.
pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let players_max = prop_oneof![4 => 3..9_u32, 1 => Just(u32::MAX), 1 => 0..3_u32];
    let steps = prop::collection::vec(step(), 1..120);
    (questions(), scoring(), players_max, opening(), steps).prop_map(
        |(questions, scoring, players_max, mut opening, steps)| {
            opening.extend(steps);
            Plan {
                questions,
                settings: Settings { scoring, players_max },
                steps: opening,
            }
        },
    )
}

/// Plans in which any value may be anything.
pub(crate) fn wild_plan() -> impl Strategy<Value = Plan> {
    let when = prop_oneof![
        4 => any::<u64>().prop_map(When::At),
        2 => (0..700_000_u64).prop_map(|back| When::At(u64::MAX - back)),
        1 => prop::sample::select(vec![0, 1, u64::MAX]).prop_map(When::At),
        2 => any::<u32>().prop_map(When::Wait),
        2 => (0..3_u64).prop_map(When::Deadline),
    ];
    let what = prop_oneof![3 => what(), 2 => wild_what()];
    let steps = prop::collection::vec((when, what).prop_map(|(when, what)| Step { when, what }), 1..60);
    (questions(), scoring(), any::<u32>(), opening(), steps).prop_map(
        |(questions, scoring, players_max, mut opening, steps)| {
            opening.extend(steps);
            Plan {
                questions,
                settings: Settings { scoring, players_max },
                steps: opening,
            }
        },
    )
}

fn scoring() -> impl Strategy<Value = Scoring> {
    prop::sample::select(vec![Scoring::Speed, Scoring::Accuracy])
}

fn questions() -> impl Strategy<Value = Vec<Question>> {
    let kind = prop::sample::select(vec![
        QuestionKind::Single,
        QuestionKind::Multiple,
        QuestionKind::TrueFalse,
    ]);
    let flags = prop::collection::vec(any::<bool>(), 2..=10);
    let question = (kind, flags, 5_000..=600_000_u32).prop_map(|(kind, flags, time_ms)| {
        let count = if kind == QuestionKind::TrueFalse {
            2
        } else {
            flags.len()
        };
        let choices = (0..count)
            .map(|n| Choice {
                text: format!("choice {n}"),
                correct: false,
            })
            .collect();
        let mut question = Question {
            kind,
            text: "stem".to_owned(),
            choices,
            time_ms,
        };
        resolve(&mut question, &flags);
        question
    });
    prop::collection::vec(question, 1..=3)
}

/// Gives a question the solution that `flags` say, as far as its kind allows it.
pub(crate) fn resolve(question: &mut Question, flags: &[bool]) {
    for (choice, &flag) in question.choices.iter_mut().zip(flags) {
        choice.correct = flag;
    }
    if question.kind == QuestionKind::TrueFalse {
        question.choices[1].correct = !question.choices[0].correct;
    }
    if question.correct().is_empty() {
        question.choices[0].correct = true;
    }
}

/// Nothing, or three players and a start: half of the games should not have to find that by chance.
fn opening() -> impl Strategy<Value = Vec<Step>> {
    let wait = |what| Step {
        when: When::Wait(10),
        what,
    };
    let played = ["10", "9", "007"]
        .map(|name| wait(What::Join(name.to_owned())))
        .into_iter();
    let played: Vec<_> = played.chain([wait(What::Start)]).collect();
    prop_oneof![Just(Vec::new()), Just(played)]
}

fn step() -> impl Strategy<Value = Step> {
    let when = prop_oneof![
        40 => (0..3_000_u32).prop_map(When::Wait),
        4 => (0..60_000_u32).prop_map(When::Wait),
        3 => (0..3_u64).prop_map(When::Deadline),
        2 => any::<u32>().prop_map(When::Back),
    ];
    (when, what()).prop_map(|(when, what)| Step { when, what })
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        8 => name().prop_map(What::Join),
        4 => who().prop_map(What::Present),
        4 => who().prop_map(What::Absent),
        1 => who().prop_map(What::Leave),
        1 => who().prop_map(What::Kick),
        1 => (who(), name()).prop_map(|(who, name)| What::Rename(who, name)),
        1 => (who(), name()).prop_map(|(who, name)| What::HostRename(who, name)),
        1 => prop::bool::weighted(0.3).prop_map(What::Lock),
        3 => Just(What::Start),
        28 => (who(), which(), pick()).prop_map(|(who, which, pick)| What::Answer(who, which, pick)),
        3 => which().prop_map(What::Timer),
        1 => which().prop_map(What::Close),
        1 => which().prop_map(What::Skip),
        8 => which().prop_map(What::Next),
        1 => prop::option::weighted(0.4, Just(What::End)).prop_map(|end| end.unwrap_or(What::Start)),
    ]
}

fn wild_what() -> impl Strategy<Value = What> {
    let who = || any::<u32>().prop_map(Who::Any);
    let which = || any::<u16>().prop_map(Which::Other);
    prop_oneof![
        any::<String>().prop_map(What::Join),
        who().prop_map(What::Present),
        who().prop_map(What::Absent),
        who().prop_map(What::Leave),
        who().prop_map(What::Kick),
        (who(), any::<String>()).prop_map(|(who, name)| What::Rename(who, name)),
        (self::who(), any::<String>()).prop_map(|(who, name)| What::HostRename(who, name)),
        (who(), which(), any::<u16>()).prop_map(|(who, which, bits)| What::Answer(
            who,
            which,
            Pick::Bits(bits)
        )),
        which().prop_map(What::Timer),
        which().prop_map(What::Close),
        which().prop_map(What::Skip),
        which().prop_map(What::Next),
    ]
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![
        30 => (0..8_usize).prop_map(Who::Known),
        1 => any::<u32>().prop_map(Who::Any),
        1 => Just(Who::Any(0)),
    ]
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![
        12 => Just(Which::Current),
        1 => (0..4_u16).prop_map(Which::Other),
        1 => any::<u16>().prop_map(Which::Other),
    ]
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        4 => (0..4_u8).prop_map(Pick::One),
        4 => Just(Pick::Correct),
        2 => (0..10_u8).prop_map(Pick::Nearly),
        2 => Just(Pick::Again),
        1 => any::<u16>().prop_map(Pick::Bits),
    ]
}

fn name() -> impl Strategy<Value = String> {
    let some = vec![
        "10",
        "9",
        "007",
        "Ada",
        "ADA",
        " Ada  ",
        "Bob",
        "สมชาย",
        "👨‍👩‍👧‍👦",
        "<b>",
        "",
        "\u{200B}",
        "a\u{202E}b",
        "a name of more than twenty graphemes",
    ];
    prop_oneof![
        6 => prop::sample::select(some).prop_map(str::to_owned),
        3 => "[a-z]{1,3}",
        1 => any::<String>(),
    ]
}
