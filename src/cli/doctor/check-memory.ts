import { totalmem } from "node:os";
import { ok, type Verdict, warn } from "./finding.ts";

const GiB = 2 ** 30;
/** Edge, runner and two processes of devices, as they settle under load. */
const WANTED_BYTES = 2 * GiB;

/** Memory that may still be taken, as the operating system or the container tells. */
export async function checkMemory(): Promise<Verdict> {
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return judgeMemory(process.availableMemory(), total);
}

export function judgeMemory(freeBytes: number, totalBytes: number): Verdict {
  const found = `${(freeBytes / GiB).toFixed(1)} of ${(totalBytes / GiB).toFixed(1)} GiB free`;
  if (freeBytes >= WANTED_BYTES) return ok(found);
  return warn(found, "Edge and runner take about 2 GiB: end something else, or run them on different machines.");
}
