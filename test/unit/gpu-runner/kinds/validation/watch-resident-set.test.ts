import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import {
  peakOf,
  readStatus,
  watchResidentSet,
} from "../../../../../src/gpu-runner/kinds/validation/watch-resident-set.ts";

const { signal } = new AbortController();
const refuse = () => Promise.reject(new Error("a process is not asked where the system reports it"));
const GROW = `
  console.log("started");
  process.stdin.once("data", () => {
    globalThis.held = Buffer.alloc(Number(process.argv[1]), 1);
    console.log("grown");
  });`;

it("reads what Linux says of a process, in kibibytes", () => {
  const status = "Name:\tnode\nVmPeak:\t  900 kB\nVmHWM:\t  300 kB\nVmRSS:\t  200 kB\nThreads:\t1\n";
  expect(readStatus(status)).toEqual({ nowBytes: 204_800, peakBytes: 307_200 });
  expect(readStatus("Name:\tnode\nVmRSS:\t  200 kB\n")).toEqual({ nowBytes: 204_800, peakBytes: null });
  expect(readStatus("Name:\tkthreadd\n")).toBeNull();
});

it("believes the system's peak only where it rose meanwhile", () => {
  const at = (nowBytes: number, peakBytes: number | null) => ({ nowBytes, peakBytes });
  expect(peakOf(at(5, 9), at(6, 12), 7)).toBe(12);
  expect(peakOf(at(5, 9), at(6, 9), 7)).toBe(7);
  expect(peakOf(at(5, null), at(6, null), 7)).toBe(7);
  expect(peakOf(null, null, null)).toBeNull();
});

it("sees a process grow, and keep a peak that is over", async () => {
  const grownBy = 96 * 2 ** 20;
  // A separate process: memory freed meanwhile by other tests of this one would hide it.
  const grower = spawn(process.execPath, ["-e", GROW, String(grownBy)], { stdio: ["pipe", "pipe", "inherit"] });
  const told = createInterface(grower.stdout)[Symbol.asyncIterator]();
  try {
    expect(await told.next()).toMatchObject({ value: "started" });
    const watched = await watchResidentSet({ pid: grower.pid ?? null, readResidentSet: refuse }, signal);
    grower.stdin.write("grow");
    expect(await told.next()).toMatchObject({ value: "grown" });
    const { peakBytes, grownBytes } = await watched.stop();
    expect(grownBytes).toBeGreaterThan(grownBy / 2);
    expect(peakBytes).toBeGreaterThan(grownBy / 2);
    expect(await watched.stop()).toEqual({ peakBytes, grownBytes });
  } finally {
    grower.kill("SIGKILL");
  }
});

it("asks the process where the system does not report it, and knows nothing where neither does", async () => {
  const told = [100, 250];
  const readResidentSet = async () => told.shift() ?? 0;
  const watched = await watchResidentSet({ pid: null, readResidentSet }, signal);
  expect(await watched.stop()).toEqual({ peakBytes: 250, grownBytes: 150 });
  const unknown = await watchResidentSet({ pid: null, readResidentSet: refuse }, signal);
  expect(await unknown.stop()).toEqual({ peakBytes: null, grownBytes: null });
});
