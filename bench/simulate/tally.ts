import type { RequestEnd } from "./sim-isolate.ts";

/** What became of the requests of one tenant. */
export interface TenantCount {
  offered: number;
  inBudget: number;
}

/** Counts how requests ended, those of the warm-up left out. */
export class Tally {
  readonly tenants: readonly TenantCount[];
  /** By result; `late` is an answer behind its budget. */
  readonly results = new Map<RequestEnd["result"] | "late", number>();
  /** Of those that were answered in budget. */
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
