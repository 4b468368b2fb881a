export const DEADLINE = "deadline";

/** The work's result, or word that the budget ended first. */
export function beforeDeadline<Result>(
  work: Promise<Result>,
  { budgetMs }: { readonly budgetMs: number },
  arrivedAtMs: number,
): Promise<Result | typeof DEADLINE> {
  const leftMs = Math.max(0, budgetMs - (Date.now() - arrivedAtMs));
  return Promise.race([work, scheduler.wait(leftMs).then((): typeof DEADLINE => DEADLINE)]);
}
