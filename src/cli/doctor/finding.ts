import type { Fault } from "../../checkup/fault.ts";

/** Programs of millrace on this machine. */
export interface Installation {
  /** Root of the project, or folder of the packed runner, which has the folders of a checkout. */
  readonly root: string;
  /** A runner alone has no edge, no npm and no Node but its own. */
  readonly kind: "checkout" | "runner";
}

/** An edge as seen from here. */
export interface EdgeSight {
  readonly fetch: typeof fetch;
  readonly environment: NodeJS.ProcessEnv;
  readonly edgeUrl: string;
  /** Null: none was named, and none is kept in the data folder. */
  readonly key: string | null;
}

/** Subject of the examination: this machine, and an edge. */
export interface Patient extends EdgeSight {
  readonly installation: Installation;
  /** Port that `millrace up` would listen on. */
  readonly port: number;
  readonly dataDir: string;
  readonly runnerDir: string;
}

/** Result of one check. */
export interface Verdict {
  /** `skipped`: a prerequisite is missing, which is no fault or is another check's finding. */
  readonly state: "ok" | "warning" | "failure" | "skipped";
  readonly found: string;
  /** Advice; null if there is none. */
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

/** Verdict of a check that found this fault, or else this. */
export function judge(fault: Fault | null, found: string): Verdict {
  if (fault === null) return ok(found);
  return (fault.isMild ? warn : fail)(fault.found, fault.advice);
}

const SIGNS = { ok: "ok", warning: "warning", failure: "FAILURE", skipped: "–" } as const;

/** A finding as a line, and what to do about it. */
export function renderFinding({ check, state, found, advice }: Finding): string {
  const line = `${SIGNS[state].padEnd(8)} ${check.padEnd(16)} ${found}\n`;
  return advice === null ? line : `${line}${" ".repeat(26)}→ ${advice}\n`;
}

/** What follows of the findings. */
export function renderVerdict(findings: readonly Finding[]): string {
  const failures = findings.filter(({ state }) => state === "failure").map(({ check }) => check);
  return failures.length === 0 ? "\nNothing stands in the way.\n" : `\nTo be mended: ${failures.join(", ")}.\n`;
}
