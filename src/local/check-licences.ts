/** `npm run check:licences`: ends with 1 where the run-time needs what is under a licence that nobody allowed. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { judgeLicences } from "./supply/judge-licences.ts";
import { readLockfile } from "./supply/lockfile.ts";

const root = join(import.meta.dirname, "../..");
const lockfile = await readLockfile(join(root, "package-lock.json"));
const wrong = judgeLicences(lockfile, await readFile(join(root, "THIRD_PARTY.md"), "utf8"));
for (const sentence of wrong) process.stderr.write(`licence: ${sentence}\n`);
if (wrong.length > 0) process.exit(1);
