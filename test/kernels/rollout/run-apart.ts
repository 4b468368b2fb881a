import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { installSoftwareGpu } from "../../../src/gpu-runner/devices/gpu/software-gpu.ts";
import { CACHE_DIR } from "../software-gpu-cache.ts";

/**
 * Runs a script of this folder on the software GPU and gives its lines of JSON. In a process of its own, as always: Dawn
 * needs its environment from the start and no worker thread.
 */
export async function runApart(script: string): Promise<unknown[]> {
  const env = { ...process.env, ...(await installSoftwareGpu(CACHE_DIR)) };
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, script)], { env });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}
