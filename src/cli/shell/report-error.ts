import { CommanderError } from "commander";
import { createProblem, type Problem, type ProblemCode, ProblemError, PROBLEMS } from "../../protocol/wire/problem.ts";
import type { Shell } from "./shell.ts";

/** Advice on a problem whose own text has none. */
const ADVICE: Partial<Record<ProblemCode, string>> = {
  unauthorized: "name a key by --key, MILLRACE_KEY or `millrace context add`",
  forbidden: "use a key with that scope: `millrace keys create`",
  "no-placement": "look at `millrace runner list` and `millrace models show`",
  "runner-offline": "look at `millrace runner list`",
  "rate-limited": "ask more slowly, or have a key made with a higher `--rate`",
  "queue-full": "look at `millrace jobs list`",
  "quota-exceeded": "look at `millrace projects quotas`",
};

/**
 * Reports an error in one line with advice, or as the problem's JSON. Returns the exit code from the table of problems.
 */
export function reportError(error: unknown, { warn }: Pick<Shell, "warn">, asJson: boolean): number {
  // Help and version are printed by then.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  if (error instanceof CommanderError && error.message === "(outputHelp)") return PROBLEMS["invalid-request"].exitCode;
  const problem = problemOf(error);
  warn(asJson ? `${JSON.stringify(problem)}\n` : `millrace: ${sentenceOf(problem)}\n`);
  return PROBLEMS[problem.code].exitCode;
}

function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (!(error instanceof Error)) return createProblem("internal", String(error));
  if (error instanceof CommanderError) {
    return createProblem("invalid-request", error.message.replace(/^error: /, "").replaceAll("\n", " "));
  }
  // Of files: what the system says names the file.
  if ("syscall" in error && "path" in error) return createProblem("invalid-request", error.message);
  // A local error need not be hidden from its own user.
  return createProblem("internal", error.message);
}

/** The detail, the fields that are wrong where it does not name them, and what to do. */
function sentenceOf({ code, detail, errors = [], retryAfterMs }: Problem): string {
  const fields = errors.filter(({ message }) => !detail.includes(message));
  const advice = [
    ADVICE[code],
    retryAfterMs === undefined ? undefined : `try again in ${(retryAfterMs / 1e3).toFixed(1)} s`,
    code === "internal" && detail.endsWith("cannot be reached")
      ? "is it running? Name another by --edge or `millrace context use`"
      : undefined,
  ].filter((each) => each !== undefined);
  const told =
    fields.length === 0
      ? detail
      : `${detail} (${fields.map(({ pointer, message }) => `${pointer} ${message}`).join("; ")})`;
  return [told, ...advice].join(" – ").replaceAll(/\s*\n\s*/g, " ");
}
