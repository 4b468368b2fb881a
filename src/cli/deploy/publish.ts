import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../../protocol/parse-json.ts";
import type { Wrangler } from "./wrangler.ts";

/** A line of the file that wrangler writes where `WRANGLER_OUTPUT_FILE_PATH` names one. */
const Deployed = z.object({ type: z.literal("deploy"), targets: z.array(z.string()) });

/** Deploys what was built, and gives the address at which it answers. */
export async function publish(wrangler: Wrangler): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-deploy-"));
  try {
    const report = join(folder, "output.ndjson");
    await wrangler(["deploy"], { environment: { WRANGLER_OUTPUT_FILE_PATH: report } });
    const lines = (await readFile(report, "utf8")).split("\n");
    const deployed = lines.map((line) => Deployed.safeParse(parseJson(line))).find(({ success }) => success)?.data;
    // Cron triggers are targets, too.
    const address = deployed?.targets.find((target) => /^https?:\/\/\S+$/.test(target));
    if (address === undefined)
      throw new Error("wrangler deployed, but told no address: is `workers_dev` off, without a route?");
    return address;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
