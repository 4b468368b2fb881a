import { useCallback, useEffect, useRef, useState } from "preact/hooks";

/**
 * Makes a function that asks for a run of `work`: asks that come in a burst share one run, runs
 * never overlap, and begin at least `gapMs` apart. The first ask runs at once.
 */
function createRefresher(work: () => Promise<void>, gapMs: number, signal: AbortSignal): () => void {
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

/** Something read from the edge. The last value stays while it is read again, and when that fails. */
export interface Resource<Value> {
  readonly value: Value | null;
  readonly error: Error | null;
  readonly refresh: () => void;
}

/**
 * Reads something, and again on `refresh`, at most once per `gapMs`. `load` must be memoised: another
 * `load` begins from nothing.
 */
export function useResource<Value>(load: (signal: AbortSignal) => Promise<Value>, gapMs = 300): Resource<Value> {
  const [outcome, setOutcome] = useState<{ value: Value | null; error: Error | null }>({ value: null, error: null });
  const ask = useRef<() => void>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    const read = async () => {
      try {
        const value = await load(abort.signal);
        if (!abort.signal.aborted) setOutcome({ value, error: null });
      } catch (error) {
        if (!abort.signal.aborted) setOutcome(({ value }) => ({ value, error: error as Error }));
      }
    };
    setOutcome({ value: null, error: null });
    ask.current = createRefresher(read, gapMs, abort.signal);
    ask.current();
    return () => abort.abort();
  }, [load, gapMs]);
  const refresh = useCallback(() => ask.current?.(), []);
  return { ...outcome, refresh };
}
