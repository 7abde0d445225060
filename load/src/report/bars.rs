//! The numbers to reach. A bar fails a run; a target is where we are going and only reported.

/// Players of the room that bytes are judged with.
pub const FULL_ROOM: u32 = 500;
/// Bar: payload of the reference quiz to 500 players, in 10^6 bytes.
pub const ROOM_MB_MAX: f64 = 5.0;
/// Target of the same.
pub const ROOM_MB_TARGET: f64 = 4.5;
/// Bar: exponent of payload bytes over the number of players.
pub const EXPONENT_MAX: f64 = 1.05;
/// Target: from the host's click to the last of 500 phones, p95, in milliseconds. A bar on quiet machines only.
pub const LAST_PHONE_MS_MAX: f64 = 15.0;
/// Bar: resident memory of the server per idle socket, in KiB.
pub const IDLE_KIB_MAX: f64 = 12.0;
/// Target of the same: the bar of a later stage.
pub const IDLE_KIB_TARGET: f64 = 6.0;
/// The harness's own memory per simulated player, in bytes: the bar of the harness and where it should go. Both are
/// reported and fail no run, which is about servers; so are the next two pairs.
pub const HARNESS_BYTES_MAX: f64 = 2_000.0;
/// Where it should go.
pub const HARNESS_BYTES_TARGET: f64 = 1_000.0;
/// The harness's own CPU per join, in microseconds.
pub const HARNESS_JOIN_US_MAX: f64 = 80.0;
/// Where it should go.
pub const HARNESS_JOIN_US_TARGET: f64 = 50.0;
/// The harness's own CPU per message received, in microseconds, at the rates of a measured run.
pub const HARNESS_MESSAGE_US_MAX: f64 = 15.0;
/// Where it should go.
pub const HARNESS_MESSAGE_US_TARGET: f64 = 10.0;
/// Bar: from the host's click to the phones, p95, while classes play, in milliseconds: what the published system promised.
pub const FAN_OUT_MS_MAX: f64 = 500.0;
/// Target of the same: what the published system reached with 30,000 players.
pub const FAN_OUT_MS_TARGET: f64 = 13.0;
/// Classes, and the bar for the bytes that the store receives of them in a second at a lesson's pace; fewer have their share.
pub const STORE_CLASSES: u32 = 960;
/// The bar.
pub const STORE_BYTES_PER_S_MAX: f64 = 300_000.0;
/// Players and questions of the class whose bytes to the store are judged, from its creation to its end.
pub const STORE_CLASS_SIZE: u32 = 30;
/// Its questions.
pub const STORE_QUESTIONS: u16 = 3;
/// Bar for them.
pub const STORE_BYTES_PER_CLASS_MAX: f64 = 25_000.0;
/// Target.
pub const STORE_BYTES_PER_CLASS_TARGET: f64 = 15_000.0;
/// From the loss of a socket to being back in play, p99, in milliseconds: the bar for a killed server.
pub const BACK_MS_MAX: f64 = 2_000.0;
/// Where the same should go when the server is not started again.
pub const BACK_MS_TARGET: f64 = 1_000.0;
/// The same after the network of a server was cut without a word, from the cut on: nobody may take its games before its lease has ended.
pub const BACK_AFTER_CUT_MS_MAX: f64 = 10_000.0;
/// Where it should go.
pub const BACK_AFTER_CUT_MS_TARGET: f64 = 7_000.0;
/// Bar for the last one of all who are sent on by a server that stops.
pub const BACK_AFTER_STOP_MS_MAX: f64 = 3_000.0;
/// Bar: the longest time that a game was without service when it was moved, in milliseconds.
pub const WITHOUT_SERVICE_MS_MAX: f64 = 1_000.0;
/// Bar: what goodput may lack to its peak at 1.5 to 10 times the ceiling, in percent.
pub const GOODPUT_BELOW_PEAK_PERCENT_MAX: f64 = 5.0;
/// The same at the ceiling itself, where chance alone leaves some of it unused.
pub const GOODPUT_BELOW_PEAK_AT_CEILING_PERCENT_MAX: f64 = 10.0;
/// Bar: a call that is admitted under any load, p99, in milliseconds.
pub const ADMITTED_MS_MAX: f64 = 250.0;
/// Bar: a call that is refused for want of capacity, p99, in milliseconds.
pub const REFUSED_MS_MAX: f64 = 50.0;
/// Bar: calls of game servers that are not served under any load, in percent.
pub const URGENT_UNSERVED_PERCENT_MAX: f64 = 0.1;
/// Bar: a liveness probe under any load, p99, in milliseconds.
pub const LIVENESS_MS_MAX: f64 = 50.0;
/// Bar: the longest of them.
pub const LIVENESS_LONGEST_MS_MAX: f64 = 500.0;
/// Bar: after an overload every call is served, and in time, after so many seconds.
pub const NORMAL_AFTER_S_MAX: f64 = 5.0;
/// The ceiling that an overload is measured at, in calls a second, and how far off it may be.
pub const CEILING_PER_S: f64 = 350.0;
/// How far off.
pub const CEILING_APART_PER_S: f64 = 50.0;
/// Bar: a route of the dashboard below the ceiling, p95, in milliseconds.
pub const PAGE_MS_MAX: f64 = 50.0;
/// Bar: calls a second that one API answers from its database.
pub const UNCACHED_PER_S_MIN: f64 = 3_000.0;
/// Target of the same.
pub const UNCACHED_PER_S_TARGET: f64 = 4_000.0;
/// Bar: calls a second that one API answers from its memory.
pub const CACHED_PER_S_MIN: f64 = 10_000.0;
/// Target of the same.
pub const CACHED_PER_S_TARGET: f64 = 15_000.0;
/// Bar: a join at nine o'clock, p95, in milliseconds.
pub const NINE_JOIN_MS_MAX: f64 = 18.0;
/// Bar: the slowest of fifty starts behind one address, in milliseconds.
pub const NINE_START_MS_MAX: f64 = 300.0;
/// Bar: the longest that a call hangs while the database is gone, or stands still, in milliseconds.
pub const DATABASE_HANG_MS_MAX: f64 = 2_000.0;
