/** So long polling alone is quickest. */
const POLL_MS = 0.2;
/** Asked for; the system makes some 60 µs of it. */
const REST_MS = 0.01;

const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits for what Dawn polls for, and rests for a moment between its polls once it takes longer. A thread that
 * polls without rest holds its core for a whole slice of the scheduler, milliseconds, even where the threads of a
 * software device wait for that core. Rests block this process, but never for long.
 */
export function shareCoreUntil<Result>(pending: Promise<Result>): Promise<Result> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  pending.then(settle, settle);
  const startedAt = performance.now();
  const rest = () => {
    if (settled) return;
    if (performance.now() - startedAt > POLL_MS) Atomics.wait(NEVER, 0, 0, REST_MS);
    setImmediate(rest);
  };
  setImmediate(rest);
  return pending;
}
