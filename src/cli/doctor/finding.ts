/** What one check says. */
export interface Verdict {
  /** `skipped`: what it rests on is not there, which is no fault or is another check's to tell. */
  readonly state: "ok" | "warning" | "failure" | "skipped";
  readonly found: string;
  /** What to do; null where nothing is. */
  readonly advice: string | null;
}

export interface Finding extends Verdict {
  readonly check: string;
}

export function ok(found: string): Verdict {
  return { state: "ok", found, advice: null };
}

export function skip(found: string): Verdict {
  return { state: "skipped", found, advice: null };
}

/** It works, but worse than it could. */
export function warn(found: string, advice: string): Verdict {
  return { state: "warning", found, advice };
}

/** It does not work like this. */
export function fail(found: string, advice: string): Verdict {
  return { state: "failure", found, advice };
}
