//! The limits of the verdict, each as (DEGRADED above, INVALID above) where there are two.

/// The generator's lateness, p99, in milliseconds. A lesson's bar is 13 ms at the phone: a generator later than twice that
/// measures itself; a tenth of the 500 ms that players feel would hide nothing, but the bars are finer.
pub(super) const LATE_P99_MS: (f64, f64) = (5.0, 25.0);

/// How late a sleeping thread is woken, p99, in milliseconds. Quiet machines stay below 0.2; a scheduler's turn beside one
/// spinning thread is 3 to 4.
pub(super) const WAKE_P99_MS: (f64, f64) = (5.0, 25.0);

/// The longest that the generator was late or stood still at once, in milliseconds. A percentile of a long run does not see
/// three seconds of it, but every class that was in them did.
pub(super) const STANDSTILL_MS: (f64, f64) = (250.0, 1_000.0);

/// What the wall clock was set by, in milliseconds. Below the first no stamp is wrong by more than the bars are fine; a whole
/// second and more dates samples wrong.
pub(super) const CLOCK_STEPPED_MS: (f64, f64) = (10.0, 1_000.0);

/// Share of the time the generator's busiest thread wanted a core and had none, in percent. On two cores with its servers
/// beside it 40 to 65.
pub(super) const WAITING_PERCENT: (f64, f64) = (50.0, 75.0);

/// Below this mean wait per turn, in milliseconds, that share says nothing: turns of a few microseconds wait as long as
/// they run on any machine that does something else as well. Quiet, it is 0.05 to 0.15.
pub(super) const WAIT_PER_TURN_MS_MIN: f64 = 0.3;

/// Time of the generator's cores that went to programs which are no part of a run, in percent. Even where the scheduler
/// lets the generator in front, caches and clock speed are no longer its own; one of two cores is half.
pub(super) const STRANGERS_PERCENT: (f64, f64) = (10.0, 40.0);

/// Time that the hypervisor took from the machine, in percent.
pub(super) const STOLEN_PERCENT: (f64, f64) = (1.0, 5.0);

/// Share of reads that must carry the kernel's stamp. The first reads of a machine may not: stamping begins a moment
/// after it was asked for.
pub(super) const STAMPED_SHARE_MIN: f64 = 0.99;
