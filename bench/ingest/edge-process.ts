/** An edge that can be killed: `node edge-process.ts <folder> <port>`, with its administrator's secret in the environment. */
import { startEdge } from "../../src/local/edge-host.ts";
import { ROOT } from "../hop/start-stack.ts";

const [dataDir = "", port = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
const bootstrapSecret = process.env["BENCH_EDGE_SECRET"] ?? "";
const edge = await startEdge({ port: Number(port), dataDir, root: ROOT, bootstrapSecret });
process.send?.(edge.url);
