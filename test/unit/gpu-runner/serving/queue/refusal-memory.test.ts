import { expect, it } from "vitest";
import type { Waiting } from "../../../../../src/gpu-runner/serving/queue/play-queue.ts";
import { RefusalMemory } from "../../../../../src/gpu-runner/serving/queue/judge-arrival.ts";
import { levelOf } from "../../../../../src/gpu-runner/serving/queue/service-times.ts";
import { scriptLine, scriptRequest } from "./scripted-line.ts";

const line = scriptLine();
const request = (changes: Partial<Waiting> = {}) =>
  scriptRequest(line, "x", 100, { priority: 2, rows: 2, level: levelOf(0.9), ...changes });

it("covers requests no better off than a refused one, and no others", () => {
  const memory = new RefusalMemory();
  expect(memory.covers(request())).toBe(false);
  memory.note(request());
  for (const no of [{}, { deadlineMs: 99 }, { priority: 1 }, { rows: 3 }, { level: levelOf(0.99) }]) {
    expect(memory.covers(request(no))).toBe(true);
  }
  for (const better of [
    { deadlineMs: 101 },
    { priority: 3 },
    { rows: 1 },
    { level: levelOf(0.5) },
    { line: scriptLine() },
  ]) {
    expect(memory.covers(request(better))).toBe(false);
  }
});

it("keeps the refusal of the latest deadline, until it is cleared", () => {
  const memory = new RefusalMemory();
  for (const deadlineMs of [100, 300, 200]) memory.note(request({ deadlineMs }));
  expect(memory.covers(request({ deadlineMs: 300 }))).toBe(true);
  memory.clear();
  expect(memory.covers(request())).toBe(false);
});
