/**
 * Read by a device's process before its own program: every run of a model sleeps for as many milliseconds as the file
 * says that `SLEEPING_BACKEND_FILE` names, as a slow backend would. Without the file it is a device's process like any
 * other.
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds to sleep; none while there is no such file. */
function readSleepMs(file: string): number {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return 0;
  }
}

const file = process.env.SLEEPING_BACKEND_FILE;
// The runner's own process has the same options, and no backend.
if (file !== undefined && process.argv.includes("--role")) {
  const { OrtBackend } = await import("../../src/gpu-runner/devices/ort/ort-backend.ts");
  const { run } = Object.getOwnPropertyDescriptors(OrtBackend.prototype);
  OrtBackend.prototype.run = async function sleepAndRun(...call) {
    const sleepMs = readSleepMs(file);
    if (sleepMs > 0) await delay(sleepMs);
    const { tensors, times } = await run.value!.apply(this, call);
    return { tensors, times: { ...times, computeMs: times.computeMs + sleepMs } };
  };
}
