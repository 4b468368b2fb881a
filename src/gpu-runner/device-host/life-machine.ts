/** Past lives of a device's process. Pure: every function returns new lives. */
export interface Lives {
  /** Number of short lives in a row that answered nothing. */
  readonly short: number;
  /** Number of restarts of the process. */
  readonly restarts: number;
  /** Whether the process has died and no new one is ready yet. */
  readonly isDown: boolean;
}

export const FIRST_LIFE: Lives = { short: 0, restarts: 0, isDown: false };

/** Waits before the next life, by the number of preceding short lives that answered nothing. */
const BACKOFF_MS = [0, 100, 500, 2_000, 5_000, 15_000] as const;
const SHORT_LIFE_MS = 5_000;
/** Number of new lives that may end while they load a model, before it is given up. */
const MAX_FATAL_RELOADS = 3;
/** Number of pipelines that a new life compiles before it accepts calls: the last used ones. */
const WARM_PIPELINES = 4;

/** Notes that the process answered: if it dies now, its work killed it, and a new one need not be delayed. */
export function noteServed(lives: Lives): Lives {
  return lives.short === 0 ? lives : { ...lives, short: 0 };
}

export function noteDeath(lives: Lives, livedMs: number): Lives {
  return { ...lives, short: livedMs >= SHORT_LIFE_MS ? 0 : lives.short, isDown: true };
}

/** Plans the next attempt at a life, and the wait before it. */
export function planLife(lives: Lives): { readonly waitMs: number; readonly lives: Lives } {
  const waitMs = BACKOFF_MS[Math.min(lives.short, BACKOFF_MS.length - 1)]!;
  return { waitMs, lives: { ...lives, short: lives.short + 1 } };
}

export function noteStart(lives: Lives): Lives {
  return { ...lives, restarts: lives.restarts + 1 };
}

export function noteReady(lives: Lives): Lives {
  return { ...lives, isDown: false };
}

/** Decides about a model that a new life could not load, after `fatalReloads` earlier lives that ended so. */
export function judgeReload(
  fatalReloads: number,
  isAlive: boolean,
): { readonly fatalReloads: number; readonly isGivenUp: boolean } {
  const fatal = isAlive ? fatalReloads : fatalReloads + 1;
  return { fatalReloads: fatal, isGivenUp: isAlive || fatal >= MAX_FATAL_RELOADS };
}

/** The last used pipelines, with this one as the latest. */
export function rememberUsed<Pipeline>(used: readonly Pipeline[], pipeline: Pipeline): Pipeline[] {
  const text = JSON.stringify(pipeline);
  return [...used.filter((each) => JSON.stringify(each) !== text), pipeline].slice(-WARM_PIPELINES);
}
