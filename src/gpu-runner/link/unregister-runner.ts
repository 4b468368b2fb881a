import type { Logger } from "pino";
import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type EdgeAccess, openEdge } from "./edge-client.ts";

const UNREGISTER_MS = 30_000;

/** Removes this ephemeral runner at its edge; one that cannot be reached removes it by itself later. */
export async function unregisterRunner(access: EdgeAccess, logger: Logger): Promise<void> {
  try {
    await openEdge(access).call(runnerEndpoints.unregisterRunner, { signal: AbortSignal.timeout(UNREGISTER_MS) });
    logger.info("removed at the edge");
  } catch (error) {
    // The edge has removed it already: an earlier try was heard, or an administrator was faster.
    if (error instanceof ProblemError && error.problem.code === "unauthorized") return;
    logger.warn({ error }, "the edge cannot be told that this runner has ended, and will notice");
  }
}
