/** `npm run sbom`: writes what the run-time is made of to `dist/sbom.cdx.json`. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describePackages } from "./supply/describe-packages.ts";
import { readLockfile } from "./supply/lockfile.ts";

const root = join(import.meta.dirname, "../..");
const bill = describePackages(await readLockfile(join(root, "package-lock.json")));
const file = join(root, "dist/sbom.cdx.json");
await mkdir(join(root, "dist"), { recursive: true });
await writeFile(file, `${JSON.stringify(bill, null, 2)}\n`);
process.stdout.write(`${file}: ${bill.components.length} packages\n`);
