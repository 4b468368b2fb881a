/** A device's process in which each run of a model takes three seconds, in which nothing else goes on. */
import { OrtBackend } from "../../../src/gpu-runner/devices/ort/ort-backend.ts";

const RUN_MS = 3_000;
const { run } = Object.getOwnPropertyDescriptors(OrtBackend.prototype);
OrtBackend.prototype.run = async function blockAndRun(...call) {
  // The runtime takes its turns by itself: what follows one is still of it.
  const outcome = await run.value!.apply(this, call);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RUN_MS);
  return outcome;
};
await import("../../../src/gpu-runner/device-program/device-process.ts");
