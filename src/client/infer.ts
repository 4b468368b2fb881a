import { endpoints } from "../protocol/endpoints.ts";
import type { InferReply, InferRequest } from "../protocol/inference.ts";
import type { Sendable } from "./call-options.ts";
import type { Client } from "./client.ts";
import { type BudgetOptions, withinBudget } from "./within-budget.ts";

type InferInput = Pick<InferRequest, "model" | "budgetMs"> & Sendable<InferRequest>;

/**
 * Runs a model on numbers in JSON, and gives up once no reply can come within the budget any more. Throws ProblemError
 * with the edge's refusal; `budget-unattainable` has in `fits` what would do.
 */
export function infer(client: Client, request: InferInput, options: BudgetOptions = {}): Promise<InferReply> {
  return withinBudget(request.budgetMs, options, (signal) => client.call(endpoints.infer, { body: request, signal }));
}
