import { type ProblemCode, ProblemError } from "../../../protocol/wire/problem.ts";
import { ProbedClaim } from "../../../protocol/jobs/probe.ts";

/** What is claimed, and how it is found out. */
export interface Claim {
  readonly claim: string;
  readonly claimed: string;
  readonly find: () => Promise<{ readonly found: string; readonly ok: boolean }>;
}

/** What a device does that cannot do what is claimed; everything else ends the probe. */
const CANNOT: ReadonlySet<ProblemCode> = new Set([
  "kernel-invalid",
  "kernel-incorrect",
  "out-of-memory",
  "backend-failed",
]);

const { shape: TEXTS } = ProbedClaim;

/** Finds out whether a claim holds: one that the device fails at does not. */
export async function checkClaim({ claim, claimed, find }: Claim): Promise<ProbedClaim> {
  const { found, ok } = await find().catch((error: unknown) => {
    if (!(error instanceof ProblemError) || !CANNOT.has(error.problem.code)) throw error;
    // Drivers tell on further lines from where in their sources they do.
    return { found: error.problem.detail.split("\n", 1)[0] ?? "", ok: false };
  });
  return {
    claim: claim.slice(0, TEXTS.claim.maxLength ?? undefined),
    claimed: claimed.slice(0, TEXTS.claimed.maxLength ?? undefined),
    found: found.slice(0, TEXTS.found.maxLength ?? undefined),
    ok,
  };
}
