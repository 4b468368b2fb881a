import { endpoints } from "../protocol/endpoints.ts";
import type { ActReply, ActRequest } from "../protocol/policy.ts";
import type { Sendable } from "./call-options.ts";
import type { Client } from "./client.ts";
import { type BudgetOptions, withinBudget } from "./within-budget.ts";

type ActInput = Pick<ActRequest, "budgetMs"> & Sendable<ActRequest>;

/** Asks a policy, by its model's name or id, what to do; ends with the budget as `infer` does. */
export function act(client: Client, policy: string, request: ActInput, options: BudgetOptions = {}): Promise<ActReply> {
  return withinBudget(request.budgetMs, options, (signal) =>
    client.call(endpoints.actPolicy, { params: { id: policy }, body: request, signal }),
  );
}
