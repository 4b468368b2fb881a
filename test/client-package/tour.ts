import { expect } from "vitest";

/** What the tour finds on a machine that serves `cartpole`. */
export const TOUR = {
  status: "ok",
  // The built-in ones, a page each.
  profiles: expect.toSatisfy((count: number) => count > 1) as number,
  // A machine that is very busy may have to begin again.
  events: expect.toSatisfy(
    ([first, ...rest]: string[]) => first === "queued" && rest.at(-1) === "succeeded",
  ) as string[],
  correct: true,
  budgetMet: true,
  action: expect.toBeOneOf([0, 1]) as number,
  refused: "budget-unattainable",
};
