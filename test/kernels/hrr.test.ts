import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { installSoftwareGpu } from "../../src/gpu-runner/devices/gpu/software-gpu.ts";
import { CACHE_DIR } from "./software-gpu-cache.ts";

interface Findings {
  readonly checked: readonly (readonly number[])[];
  readonly recalls: readonly { readonly pairs: number; readonly cosine: number }[];
  readonly errors: readonly number[];
}

let findings: Findings;

// In a process of its own, as always: Dawn needs its environment from the start and no worker thread.
beforeAll(async () => {
  const env = { ...process.env, ...(await installSoftwareGpu(CACHE_DIR)) };
  const script = path.join(import.meta.dirname, "hrr/run-hrr.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  findings = JSON.parse(stdout) as Findings;
});

test("[1, 2, 3, 4] bound to [5, 6, 7, 8] is [66, 68, 66, 60]", () => {
  expect(findings.checked).toHaveLength(2);
  for (const values of findings.checked) {
    for (const [index, value] of [66, 68, 66, 60].entries()) expect(values[index]).toBeCloseTo(value, 4);
  }
});

test("one of k superposed pairs comes back with a cosine of 1/√(k + 1)", () => {
  expect(findings.recalls).toHaveLength(3);
  // A cosine of 8192 random values is off by 1/√8192 = 0.011; this is three of them.
  for (const { pairs, cosine } of findings.recalls)
    expect(Math.abs(cosine - 1 / Math.sqrt(pairs + 1))).toBeLessThan(0.033);
});

test("a binding of 8192 values is off by no more than a millionth of its length", () => {
  expect(findings.errors).toHaveLength(2);
  for (const error of findings.errors) expect(error).toBeLessThan(1e-6);
});
