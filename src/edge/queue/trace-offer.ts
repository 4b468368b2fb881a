import type { Job } from "../../protocol/job.ts";
import { addSpan, type SpanScope, traced } from "../../telemetry/span.ts";
import { formatTraceparent } from "../../telemetry/trace-context.ts";

type Delivery = "sent" | "offline" | "failed";

/**
 * Offers a job within the span that it was submitted in: how long it waited, and the way to the runner, whose work is
 * within that.
 */
export async function traceOffer(
  scope: SpanScope | null,
  { id, spec, attempt, createdAt }: Pick<Job, "id" | "spec" | "attempt" | "createdAt">,
  offer: (trace: { readonly traceparent?: string }) => Promise<Delivery>,
): Promise<Delivery> {
  const attributes = { "millrace.job": id, "millrace.job.kind": spec.kind, "millrace.attempt": attempt };
  if (scope !== null && attempt === 1) {
    addSpan(scope, { name: "queue", startMs: Date.parse(createdAt), endMs: scope.now(), attributes });
  }
  const describe = (delivery: Delivery) => (delivery === "sent" ? {} : { error: delivery });
  return traced(scope, "offer", { kind: "client", attributes, describe }, (within) =>
    offer(within === null ? {} : { traceparent: formatTraceparent(within.context) }),
  );
}
