//! The statements that count games. Both databases run the same ones: they are plain SQL, and the plan that makes them fast is
//! kept in a test on PostgreSQL.

/// What the games came to, quiz by quiz, and all of them together in every row. Grouped by quiz first, which an index alone answers; the teacher's id in the join keeps the second step to this
/// teacher's quizzes.
pub(super) const USAGE: &str = "
    WITH played AS (
        SELECT quiz_id, count(*) AS games, sum(players) AS players, sum(answers) AS answers,
               sum(right_answers) AS right_answers, max(ended_ms) AS last_ms
        FROM games WHERE teacher_id = $1 AND ended_ms >= $2
        GROUP BY quiz_id)
    SELECT p.quiz_id, q.title, p.games, p.players, p.answers, p.right_answers, p.last_ms,
           CAST(sum(p.games) OVER () AS BIGINT) AS all_games, CAST(sum(p.players) OVER () AS BIGINT) AS all_players,
           CAST(sum(p.answers) OVER () AS BIGINT) AS all_answers,
           CAST(sum(p.right_answers) OVER () AS BIGINT) AS all_right_answers
    FROM played p LEFT JOIN quizzes q ON q.teacher_id = $1 AND q.id = p.quiz_id
    ORDER BY p.games DESC, p.last_ms DESC, p.quiz_id LIMIT $3";

/// Quizzes of the library. A statement of its own: there may be no games.
pub(super) const QUIZZES: &str = "SELECT count(*) AS quizzes FROM quizzes WHERE teacher_id = $1";

/// Day by day; 86,400,000 ms are one.
pub(super) const USAGE_BY_DAY: &str = "
    SELECT ended_ms / 86400000 AS day, count(*) AS games, sum(players) AS players, sum(answers) AS answers,
           sum(right_answers) AS right_answers
    FROM games WHERE teacher_id = $1 AND ended_ms >= $2
    GROUP BY ended_ms / 86400000 ORDER BY day DESC";
