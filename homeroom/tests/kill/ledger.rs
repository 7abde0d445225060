//! What one phone was told, to be held against the report.

use std::collections::BTreeMap;

use serde_json::Value;

/// What one phone was told.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) id: u64,
    pub(crate) name: String,
    /// Choices acked as saved, by question.
    pub(crate) saved: BTreeMap<u16, u8>,
    /// Points told by results, by question.
    pub(crate) points: BTreeMap<u16, u64>,
    /// Points so far, as told last.
    pub(crate) total: u64,
    /// Times it resumed.
    pub(crate) resumes: u32,
    /// Times it resumed into an open question with its time checked.
    pub(crate) times_checked: u32,
}

impl Ledger {
    /// A result or an outcome inside a state.
    pub(crate) fn result(&mut self, outcome: &Value) {
        let q = u16::try_from(outcome["q"].as_u64().unwrap()).unwrap();
        let points = outcome["points"].as_u64().unwrap();
        let before = self.points.insert(q, points);
        assert!(before.is_none_or(|before| before == points), "{outcome}");
        self.total = outcome["total"].as_u64().unwrap();
    }

    /// The state after a resume must know all that was told before.
    pub(crate) fn state(&mut self, state: &Value) {
        assert_eq!(state["name"], self.name.as_str(), "a name was lost: {state}");
        let total = state["total"].as_u64().unwrap();
        assert!(
            total >= self.total,
            "points were lost: {} then {state}",
            self.total
        );
        self.total = total;
        if let Some(outcome) = state.get("outcome") {
            self.result(outcome);
        }
    }

    /// Holds it against the player's lines of the report; returns how many answers were compared.
    pub(crate) fn settle(&self, report: &Value) -> usize {
        let players = report["result"]["players"].as_array().unwrap();
        let mut mine = players.iter().filter(|player| player["id"] == self.id);
        let player = mine.next().expect("a player is missing from the report");
        assert!(mine.next().is_none(), "a player stands in the report twice");
        assert_eq!(player["name"], self.name.as_str());
        assert_eq!(player["total"], self.total);
        let answers = player["answers"].as_array().unwrap();
        for (q, choice) in &self.saved {
            let of_question: Vec<_> = answers.iter().filter(|answer| answer["q"] == *q).collect();
            assert_eq!(of_question.len(), 1, "question {q} of {}: {answers:?}", self.name);
            assert_eq!(
                of_question[0]["choices"],
                serde_json::json!([choice]),
                "{}",
                self.name
            );
        }
        let mut total = 0;
        for answer in answers {
            let q = u16::try_from(answer["q"].as_u64().unwrap()).unwrap();
            let points = answer["points"].as_u64().unwrap();
            let elapsed = answer["elapsed_ms"].as_u64().unwrap();
            let earned = if answer["correct"] == true {
                1_000 - 500 * elapsed / crate::class::TIME_MS
            } else {
                0
            };
            assert_eq!(points, earned, "{answer}");
            if let Some(told) = self.points.get(&q) {
                assert_eq!(points, *told, "question {q} of {}", self.name);
            }
            total += points;
        }
        assert_eq!(total, self.total, "{}", self.name);
        self.saved.len()
    }
}
