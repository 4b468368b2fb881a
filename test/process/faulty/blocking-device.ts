/**
 * A device's process in which each run of a model goes on until it is let go, and nothing else goes on meanwhile: run
 * number n ends once the folder that `RUNS_FOLDER` names has a file `n`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { OrtBackend } from "../../../src/gpu-runner/devices/ort/ort-backend.ts";

const LOOK_MS = 10;
const folder = process.env["RUNS_FOLDER"]!;
const never = new Int32Array(new SharedArrayBuffer(4));
const { run } = Object.getOwnPropertyDescriptors(OrtBackend.prototype);
let runs = 0;
OrtBackend.prototype.run = async function blockAndRun(...call) {
  const file = join(folder, String(++runs));
  // The runtime takes its turns by itself: what follows one is still of it.
  const outcome = await run.value!.apply(this, call);
  while (!existsSync(file)) Atomics.wait(never, 0, 0, LOOK_MS);
  return outcome;
};
await import("../../../src/gpu-runner/device-program/device-process.ts");
