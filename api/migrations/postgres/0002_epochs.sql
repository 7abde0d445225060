-- The epoch that a server reserved which goes on with a game that another one may still hold. Results of lower epochs are refused. Gone
-- with the result.
CREATE TABLE game_epochs (
    game_id UUID   NOT NULL PRIMARY KEY,
    epoch   BIGINT NOT NULL
);
