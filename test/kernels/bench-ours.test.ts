import { expect, test } from "vitest";
import { checkAgainstReference } from "../../bench/check-against-reference.ts";
import type { KernelCase } from "../../bench/kernel-contest/kernel-case.ts";
import { inProcess } from "../../bench/process-contender.ts";
import { installSoftwareGpu } from "../../src/gpu-runner/devices/gpu/software-gpu.ts";
import { CACHE_DIR } from "./software-gpu-cache.ts";

const OURS = new URL("../../bench/kernel-contest/ours.ts", import.meta.url);

const CASES: readonly KernelCase[] = [
  { kernel: "softmax", shape: { rows: 5, columns: 33 }, mode: "stream", runs: 3 },
  {
    kernel: "mlp",
    shape: { batch: 1, inputs: 7, hidden: 19, outputs: 3, layers: 3, activation: 2 },
    mode: "round-trip",
  },
  { kernel: "consensus-tally", shape: { ballots: 3, voters: 17, options: 5 }, mode: "stream", runs: 2 },
];

test.each(CASES)("our $kernel answers a bench in $mode", async (input) => {
  const entry = await inProcess<KernelCase>(OURS, await installSoftwareGpu(CACHE_DIR))(input);
  try {
    expect(entry.opened.note).toMatch(/^[a-z-]+ \{.*\}$/);
    await checkAgainstReference(input, entry.opened.output);
    expect((await entry.measure())["time"]).toBeGreaterThan(0);
  } finally {
    await entry.close();
  }
});
