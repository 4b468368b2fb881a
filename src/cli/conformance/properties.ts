import type { Judgement } from "./judgement.ts";
import { measureExpiry, measureRecovery, measureRefusal } from "./measure-overload.ts";
import { measureBarging, measureCancellation, measureRetries, measureWork } from "./measure-rounds.ts";
import type { Suite } from "./suite.ts";

/** The properties in the order of their measurement; docs/conformance.md defines them. */
export const PROPERTIES = {
  expiry: { title: "expiry on time", measure: measureExpiry },
  refusal: { title: "refusal against queueing", measure: measureRefusal },
  work: { title: "no work after the deadline", measure: measureWork },
  cancellation: { title: "cancellation frees the slot", measure: measureCancellation },
  barging: { title: "no barging", measure: measureBarging },
  recovery: { title: "recovery after overload", measure: measureRecovery },
  retries: { title: "retries do not double work", measure: measureRetries },
} as const satisfies Record<string, { title: string; measure: (suite: Suite) => Promise<Judgement> }>;

export type Property = keyof typeof PROPERTIES;
