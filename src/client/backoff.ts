const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/** How long to wait before the attempt after `failures` failed ones: doubling, with jitter of a half. */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return ceiling * (0.5 + random() / 2);
}

/** Waits; resolves early, without an error, when the signal aborts. */
export function waitMs(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, durationMs);
    signal?.addEventListener("abort", finish);
  });
}
