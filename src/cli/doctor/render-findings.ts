import type { Finding } from "./finding.ts";

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
