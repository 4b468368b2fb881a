import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import type { Job } from "../../../src/protocol/jobs/job.ts";
import type { KernelInput } from "../../../src/protocol/kernels/submitted-kernel.ts";
import { type LocalStack, waitForJob } from "../local-stack.ts";
import { it, openTenant } from "../shared-stack.ts";

const ENDED = ["succeeded", "failed"] as const;
let stack: LocalStack;
let example: KernelInput;

it.beforeAll(async ({ sharedStack }) => {
  stack = await openTenant(sharedStack);
  const file = join(import.meta.dirname, "../../../kernels/gemm/example-submission.json");
  example = JSON.parse(await readFile(file, "utf8")) as KernelInput;
});
afterAll(() => stack?.stop());

async function submitAndCheck(body: KernelInput): Promise<{ id: string; job: Job }> {
  const { id, state, checkJobId } = await stack.client.call(endpoints.submitKernel, { body });
  expect(state).toBe("unchecked");
  return { id, job: await waitForJob(stack, checkJobId ?? "", ENDED) };
}

const read = (id: string) => stack.client.call(endpoints.getKernel, { params: { id } });

it("a kernel that is submitted is checked, timed and ranked beside ours", async () => {
  const { id, job } = await submitAndCheck(example);
  expect(job).toMatchObject({ state: "succeeded", result: { kernel: id, correctness: { correct: true } } });
  expect(await read(id)).toMatchObject({ state: "valid", problem: null });
  const body = { kind: "benchmark", kernel: "gemm", shape: { m: 96, n: 96, k: 96 }, iterations: 20 } as const;
  const ours = await stack.client.call(endpoints.createJob, { body });
  expect(await waitForJob(stack, ours.id, ENDED)).toMatchObject({ state: "succeeded" });
  const { boards } = await stack.client.call(endpoints.getLeaderboard, {
    params: { kernel: "gemm" },
    query: { shape: "m=96,n=96,k=96", clock: "runner-wall" },
  });
  expect(boards).toHaveLength(1);
  expect(boards[0]?.device.software).toBe(true);
  expect(boards[0]?.entries.map(({ rank }) => rank)).toEqual([1, 2]);
  expect(boards[0]?.entries.map(({ kernel }) => kernel).toSorted()).toEqual(["gemm", id].toSorted());
});

it("one that does not compile is told where, and one that is wrong is not ranked", async () => {
  const broken = await submitAndCheck({ ...example, wgsl: example.wgsl.replace("var sum = 0.0", "var sum = nought") });
  expect(broken.job).toMatchObject({ state: "failed", problem: { code: "kernel-invalid" } });
  const { state, problem } = await read(broken.id);
  expect(state).toBe("invalid");
  expect(problem?.detail).toMatch(/textbook-gemm\.wgsl:10:13: unresolved value 'nought'/);
  const wrong = await submitAndCheck({ ...example, wgsl: example.wgsl.replace("var sum = 0.0", "var sum = 1.0") });
  expect(wrong.job).toMatchObject({ state: "failed", problem: { code: "kernel-incorrect" }, result: null });
  const { boards } = await stack.client.call(endpoints.getLeaderboard, { params: { kernel: "gemm" } });
  const ranked = boards.flatMap(({ entries }) => entries.map(({ kernel }) => kernel));
  expect(ranked).not.toContain(wrong.id);
  expect(ranked).not.toContain(broken.id);
});
