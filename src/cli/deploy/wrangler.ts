import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { z } from "zod";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { runApart } from "../shell/run-apart.ts";
import type { Shell } from "../shell/shell.ts";

/** Runs wrangler at the root of the project and gives what it printed; throws with its own words where it fails. */
export type Wrangler = (
  args: readonly string[],
  options?: { readonly input?: string; readonly environment?: Readonly<Record<string, string>> },
) => Promise<string>;

/** The first on the path, which by npm is the project's own; its own also where none is there. */
export function openWrangler(root: string, shell: Pick<Shell, "env">): Wrangler {
  const environment = {
    ...shell.env,
    PATH: [shell.env["PATH"], join(root, "node_modules/.bin")].filter(Boolean).join(delimiter),
    // It asks nothing, and takes the answers that it has for machines.
    CI: "true",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_SEND_METRICS: "false",
  };
  return async (args, options = {}) => {
    const end = await runApart("wrangler", args, {
      cwd: root,
      environment: { ...environment, ...options.environment },
      ...(options.input !== undefined && { input: options.input }),
    });
    if (end.code === 0) return end.stdout;
    const told = `${end.stdout}\n${end.stderr}`.trim().slice(-2_000);
    throw new Error(`wrangler ${args.join(" ")} failed (${end.signal ?? end.code}):\n${told}`);
  };
}

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
