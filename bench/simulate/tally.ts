import type { RequestEnd } from "./sim-isolate.ts";

/** Requests of one tenant. */
export interface TenantCount {
  offered: number;
  inBudget: number;
}

/** Counts requests by result, without those of the warm-up. */
export class Tally {
  readonly tenants: readonly TenantCount[];
  /** Number of requests by result; `late` is an answer after its budget. */
  readonly results = new Map<RequestEnd["result"] | "late", number>();
  /** Latencies of answers in budget. */
  readonly latenciesMs: number[] = [];
  offered = 0;
  retried = 0;
  readonly #fromMs: number;

  constructor(tenants: number, fromMs: number) {
    this.tenants = Array.from({ length: tenants }, () => ({ offered: 0, inBudget: 0 }));
    this.#fromMs = fromMs;
  }

  note(tenant: number, arrivalMs: number, budgetMs: number, { result, totalMs, isRetried }: RequestEnd): void {
    if (arrivalMs < this.#fromMs) return;
    const told = result === "answered" && totalMs > budgetMs ? "late" : result;
    this.offered++;
    this.results.set(told, (this.results.get(told) ?? 0) + 1);
    if (isRetried) this.retried++;
    const count = this.tenants[tenant]!;
    count.offered++;
    if (told !== "answered") return;
    count.inBudget++;
    this.latenciesMs.push(totalMs);
  }
}
