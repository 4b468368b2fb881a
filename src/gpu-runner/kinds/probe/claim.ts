import { type ProblemCode, ProblemError } from "../../../protocol/wire/problem.ts";
import { ProbedClaim } from "../../../protocol/jobs/probe.ts";

/** Claim and the check for it. */
export interface Claim {
  readonly claim: string;
  readonly claimed: string;
  readonly find: () => Promise<{ readonly found: string; readonly ok: boolean }>;
}

/** Problems of a device that cannot do what it claims; any other problem ends the probe. */
const CANNOT: ReadonlySet<ProblemCode> = new Set([
  "kernel-invalid",
  "kernel-incorrect",
  "out-of-memory",
  "backend-failed",
]);

const { shape: TEXTS } = ProbedClaim;

/** Checks whether a claim holds; a claim that makes the device fail does not. */
export async function checkClaim({ claim, claimed, find }: Claim): Promise<ProbedClaim> {
  const { found, ok } = await find().catch((error: unknown) => {
    if (!(error instanceof ProblemError) || !CANNOT.has(error.problem.code)) throw error;
    // Drivers add their source location on further lines.
    return { found: error.problem.detail.split("\n", 1)[0] ?? "", ok: false };
  });
  return {
    claim: claim.slice(0, TEXTS.claim.maxLength ?? undefined),
    claimed: claimed.slice(0, TEXTS.claimed.maxLength ?? undefined),
    found: found.slice(0, TEXTS.found.maxLength ?? undefined),
    ok,
  };
}
