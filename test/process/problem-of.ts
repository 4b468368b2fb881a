import { expect } from "vitest";
import { type Problem, ProblemError } from "../../src/protocol/wire/problem.ts";

/** The problem that work fails with, as it has to. */
export async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const outcome = await work.then(
    () => "succeeded",
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(ProblemError);
  return (outcome as ProblemError).problem;
}
