import { join } from "node:path";
import { z } from "zod";
import { startEdge } from "../../src/local/edge-host.ts";
import { listFaultyModules } from "./faulty-modules.ts";

/** Options from the parent, as the one argument. */
const Options = z.object({ port: z.number(), dataDir: z.string(), bootstrapSecret: z.string() });
/** Often, so that rollups and searches run among the faults. */
const CRON_MS = 5_000;

// The faulty edge as a process of its own: it says by a message that it listens, and killed with its group it leaves no
// workerd.
const root = join(import.meta.dirname, "../..");
const options = Options.parse(JSON.parse(process.argv[2] ?? ""));
const edge = await startEdge({ ...options, root, modules: await listFaultyModules(root), cronMs: CRON_MS });
process.once("SIGTERM", () => void edge.stop().then(() => process.exit(0)));
process.send?.({ url: edge.url });
