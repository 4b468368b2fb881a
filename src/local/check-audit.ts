/**
 * `npm run check:audit`: asks the registry what is known to be wrong with the locked packages, and ends with 1 where
 * that is not explained in `.ci/known-advisories.json`. Without a registry that answers it says so, and ends with 0.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../protocol/wire/parse-json.ts";
import { judgeAudit, KnownAdvisory, runNpm } from "./supply/audit.ts";

const root = join(import.meta.dirname, "../..");
const known = z.array(KnownAdvisory).parse(JSON.parse(await readFile(join(root, ".ci/known-advisories.json"), "utf8")));
const verdict = judgeAudit(parseJson(await runNpm(["audit", "--json", "--fetch-retries=0"], root)), known);
if (verdict.kind === "unknown") {
  process.stdout.write("audit: not checked, the registry cannot be reached or has no audit\n");
} else {
  for (const key of verdict.explained) process.stdout.write(`audit: ${key} is explained\n`);
  for (const key of verdict.stale) process.stdout.write(`audit: ${key} is found no more, its explanation may go\n`);
  for (const finding of verdict.unexplained) process.stderr.write(`audit: ${finding}\n`);
  if (verdict.unexplained.length > 0) process.exit(1);
  process.stdout.write("audit: nothing is known that is not explained\n");
}
