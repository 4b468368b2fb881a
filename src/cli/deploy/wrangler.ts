import { delimiter, join } from "node:path";
import type { Shell } from "../shell.ts";
import { runApart } from "../run-apart.ts";

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
