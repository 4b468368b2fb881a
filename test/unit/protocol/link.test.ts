import { fc } from "../property.ts";
import { describe, expect, it } from "vitest";
import { createId } from "../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { EdgeMessage, parseText, RunnerMessage } from "../../../src/protocol/link.ts";
import {
  createProblem,
  PROBLEMS,
  type ProblemCode,
  ProblemError,
  toProblem,
} from "../../../src/protocol/wire/problem.ts";
import { benchmarkResult, capabilities, memoryReport } from "../../edge/stack/samples.ts";

const lease = { jobId: createId("job"), epoch: 1 };

describe("a message", () => {
  it("of the runner comes back as it was sent", () => {
    const messages: RunnerMessage[] = [
      { type: "hello", capabilities, running: [lease] },
      { type: "heartbeat", running: [] },
      { type: "jobProgress", lease, progress: { phase: "measure", done: 1, total: 2 } },
      {
        type: "jobOutcome",
        lease,
        outcome: { ok: true, result: benchmarkResult(), deviceKey: "gpu0", startedAt: "2026-11-21T09:30:00.000Z" },
      },
      { type: "jobOutcome", lease, outcome: { ok: false, problem: createProblem("device-lost", "It died.") } },
      { type: "inferFailed", requestId: createId("request"), problem: createProblem("backend-failed", "No.") },
      { type: "echo", id: 3 },
      { type: "memoryReport", requestId: createId("request"), report: memoryReport },
    ];
    for (const message of messages)
      expect(parseText(RunnerMessage, JSON.stringify(message))).toEqual({ ok: true, message });
  });

  it("that is not of the protocol is refused with a reason, and nothing throws", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((data) => JSON.stringify({ type: "hello", ...Object(data) })),
        ),
        (text) => {
          for (const schema of [RunnerMessage, EdgeMessage]) {
            const parsed = parseText<unknown>(schema, text);
            if (!parsed.ok) expect(parsed.reason).not.toBe("");
          }
        },
      ),
    );
    expect(parseText(RunnerMessage, "{")).toEqual({ ok: false, reason: "the message is not JSON" });
    expect(parseText(RunnerMessage, '{"type":"heartbeat","running":[{"jobId":"job_1","epoch":1}]}')).toMatchObject({
      ok: false,
      reason: expect.stringContaining("running.0.jobId"),
    });
    expect(parseText(RunnerMessage, JSON.stringify({ type: "heartbeat", running: [{ ...lease, epoch: 0 }] })).ok).toBe(
      false,
    );
    expect(
      parseText(RunnerMessage, JSON.stringify({ type: "heartbeat", running: Array.from({ length: 65 }, () => lease) }))
        .ok,
    ).toBe(false);
  });

  it("that is too large is refused before it is read", () => {
    const text = `"${"x".repeat(LIMITS.socketMessageBytes)}"`;
    expect(parseText(RunnerMessage, text)).toEqual({ ok: false, reason: "the message is too large" });
  });
});

describe("a problem", () => {
  it("has the status and title of its code, whatever the extras hold", () => {
    for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
      const foreign = { ...createProblem("internal", "from afar"), status: 42, retryAfterMs: 5 };
      const problem = createProblem(code, "here", foreign);
      expect(problem).toMatchObject({
        code,
        detail: "here",
        status: PROBLEMS[code].status,
        title: PROBLEMS[code].title,
        retryAfterMs: 5,
      });
    }
  });

  it("of an unknown error reveals nothing of it", () => {
    expect(JSON.stringify(toProblem(new Error("a secret path")))).not.toContain("secret");
    expect(toProblem(new ProblemError("conflict", "taken")).code).toBe("conflict");
  });
});
