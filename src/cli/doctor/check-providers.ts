import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { reasonOf, runApart } from "../shell/run-apart.ts";
import { fail, ok, type Patient, skip, type Verdict, warn } from "./finding.ts";

/** Output of `src/gpu-runner/providers/main.ts`. */
const Listed = z.array(
  z.object({
    provider: z.string(),
    state: z.enum(["working", "failing", "unused"]),
    found: z.string(),
    advice: z.array(z.string()),
  }),
);
const WITHIN_MS = 120_000;

/** ONNX Runtime's providers on GPUs, as the runner would start them. */
export async function checkProviders({ installation: { root }, environment, runnerDir }: Patient): Promise<Verdict> {
  const program = join(root, "src/gpu-runner/providers/main.ts");
  const args = [program, "list", `--data-dir=${runnerDir}`, "--json"];
  const end = await runApart(process.execPath, args, { environment, timeoutMs: WITHIN_MS });
  const listed = Listed.safeParse(parseJson(end.stdout));
  if (!listed.success) {
    const how = end.isTimedOut ? "they hang" : (reasonOf(end.stderr) ?? "they show nothing");
    return fail(`ONNX Runtime's providers cannot be listed: ${how}`, "See `millrace runner providers`.");
  }
  return judgeProviders(listed.data);
}

export function judgeProviders(listed: z.infer<typeof Listed>): Verdict {
  const failing = listed.filter(({ state }) => state === "failing");
  const describe = ({ provider, found }: (typeof listed)[number]) => `${provider}: ${found}`;
  if (failing.length > 0) {
    const advice = failing.flatMap((each) => each.advice).join(" ");
    return fail(
      failing.map(describe).join("; "),
      advice || "See `millrace runner providers`; another driver may help.",
    );
  }
  const lacking = listed.filter(({ advice }) => advice.length > 0);
  if (lacking.length > 0) {
    return warn(lacking.map(describe).join("; "), lacking.flatMap(({ advice }) => advice).join(" "));
  }
  const working = listed.filter(({ state }) => state === "working");
  return working.length > 0 ? ok(working.map(describe).join("; ")) : skip("none has a device here");
}
