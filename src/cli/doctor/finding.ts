/** What is examined: this machine, and an edge as it is seen from here. */
export interface Patient {
  readonly fetch: typeof fetch;
  readonly environment: NodeJS.ProcessEnv;
  /** Root of the project. */
  readonly root: string;
  readonly edgeUrl: string;
  /** Null: none was named, and none is kept in the data folder. */
  readonly key: string | null;
  /** Where `millrace up` would listen. */
  readonly port: number;
  readonly dataDir: string;
  readonly runnerDir: string;
}

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

const SIGNS = { ok: "ok", warning: "warning", failure: "FAILURE", skipped: "–" } as const;

/** Findings as lines, each with what to do about it, and what follows of them. */
export function renderFindings(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, state, found, advice }) => [
    `${SIGNS[state].padEnd(8)} ${check.padEnd(16)} ${found}`,
    ...(advice === null ? [] : [`${" ".repeat(26)}→ ${advice}`]),
  ]);
  const failures = findings.filter(({ state }) => state === "failure").map(({ check }) => check);
  const verdict = failures.length === 0 ? "Nothing stands in the way." : `To be mended: ${failures.join(", ")}.`;
  return `${lines.join("\n")}\n\n${verdict}\n`;
}
