/**
 * Makes a function that asks for a run of `work`: asks that come in a burst share one run, runs
 * never overlap, and begin at least `gapMs` apart. The first ask runs at once.
 */
export function createRefresher(work: () => Promise<void>, gapMs: number, signal: AbortSignal): () => void {
  let isBusy = false;
  let isAsked = false;

  async function run(): Promise<void> {
    isBusy = true;
    while (isAsked && !signal.aborted) {
      isAsked = false;
      const rest = new Promise((resolve) => setTimeout(resolve, gapMs));
      await work();
      await rest;
    }
    isBusy = false;
  }

  return () => {
    isAsked = true;
    if (!isBusy) void run();
  };
}
