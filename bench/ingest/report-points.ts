import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { startEdge } from "../../src/local/edge-host.ts";
import type { Entry } from "../contest.ts";
import { NEVER_MS } from "../history/prepare-history.ts";
import { findD1File } from "../history/start-d1.ts";
import { ROOT } from "../hop/start-stack.ts";
import { sendReport, toReport } from "./send-report.ts";
import { timeBatches } from "./time-batches.ts";

/** A batch as a report to the product's HTTP API; nothing is rolled up meanwhile. */
export async function reportPoints(size: number): Promise<Entry> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-report-"));
  const key = createBootstrapSecret();
  const edge = await startEdge({ port: 0, dataDir, root: ROOT, bootstrapSecret: key, cronMs: NEVER_MS });
  return timeBatches(
    {
      file: await findD1File(join(dataDir, "edge")),
      async store(index, batch) {
        await sendReport({ url: edge.url, key }, toReport(`report-${index}`, batch));
      },
      async close() {
        await edge.stop();
        await rm(dataDir, { recursive: true, force: true });
      },
    },
    size,
  );
}
