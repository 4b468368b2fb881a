import type { RegistrationInput } from "../../protocol/fleet/runner.ts";
import { challenge, ProblemError } from "../../protocol/wire/problem.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import { checkAddress, noteWrongSecret } from "../http/rate-limiter.ts";
import { openProject } from "../store/database.ts";
import { type RegistrationOutcome, registerRunner, rotateCredential } from "../store/fleet/registration-store.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";
import { isSecretOf } from "../store/secret.ts";
import { runnerNotFound } from "./runner-rights.ts";

const TOKEN_PROBLEMS = {
  unknown: ["unauthorized", "is not a token that was given out"],
  expired: ["token-expired", "has expired: ask for a new one"],
  used: ["token-used", "was used already: ask for a new one"],
} as const satisfies Record<Exclude<RegistrationOutcome["kind"], "registered" | "full">, readonly [string, string]>;

/** Id of a runner with its connection secret, which is shown once. */
export interface Credential {
  readonly runnerId: string;
  readonly credential: string;
}

/**
 * Registers a runner by its token. Throws a problem for an unknown, expired or used token, and `quota-exceeded` where the
 * token's project has as many runners as it may.
 */
export async function registerByToken(env: ProjectEnv, input: RegistrationInput, address: string): Promise<Credential> {
  const outcome = await spendToken(env, input, address);
  if (outcome.kind === "full") throw await quotaExceeded({ ...env, project: outcome.project }, { runners: 1 });
  if (outcome.kind !== "registered") {
    const [code, message] = TOKEN_PROBLEMS[outcome.kind];
    const errors = [{ pointer: "#/token", message }];
    throw new ProblemError(
      code,
      `The token ${message}.`,
      { errors },
      code === "token-used" ? {} : challenge(undefined),
    );
  }
  const { runnerId, credential } = outcome;
  await jobQueue(env).announceRunner(runnerId);
  return { runnerId, credential };
}

/** Spends a registration token. An address that guesses tokens, or repeats spent ones, is blocked for a while. */
async function spendToken(env: ProjectEnv, input: RegistrationInput, address: string): Promise<RegistrationOutcome> {
  if (!isSecretOf("token", input.token)) return { kind: "unknown" };
  checkAddress(address);
  const outcome = await registerRunner(env.DB, input);
  if (outcome.kind !== "registered") noteWrongSecret(address);
  return outcome;
}

/** Replaces a runner's credential. */
export async function renewCredential(env: ProjectEnv, id: string): Promise<Credential> {
  const credential = await rotateCredential(openProject(env), id);
  if (credential === null) throw runnerNotFound(id);
  return { runnerId: id, credential };
}
