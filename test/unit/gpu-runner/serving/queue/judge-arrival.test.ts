import { describe, expect, it } from "vitest";
import { judgeArrival } from "../../../../../src/gpu-runner/serving/queue/judge-arrival.ts";
import { NOTHING, type Waiting } from "../../../../../src/gpu-runner/serving/queue/play-queue.ts";
import { levelOf } from "../../../../../src/gpu-runner/serving/queue/service-times.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";
import { idsOf, scriptLine, scriptRequest } from "./scripted-line.ts";
import { byUrgency } from "../../../../../src/gpu-runner/serving/queue/urgency.ts";

/** Ten milliseconds a request, one after the other. */
const line = scriptLine({ fixedMs: 10, rowMs: 0, joins: false });
const request = (id: string, deadlineMs: number, changes: Partial<Waiting> = {}) =>
  scriptRequest(line, id, deadlineMs, changes);
const running = { line, rows: 1, startedMs: 0 };

function judge(waiting: readonly Waiting[], newcomer: Waiting, { nowMs = 0, isBusy = false } = {}) {
  const verdict = judgeArrival(waiting.toSorted(byUrgency), newcomer, nowMs, isBusy ? running : null);
  if (verdict.kind !== "admitted") return verdict;
  return { kind: verdict.kind, order: idsOf(verdict.order), pushedOut: idsOf(verdict.pushedOut) };
}

describe("a request that comes", () => {
  it("is let in where all are in time with it, in its place", () => {
    expect(judge([request("a", 20), request("c", 40)], request("b", 30))).toEqual({
      kind: "admitted",
      order: ["a", "b", "c"],
      pushedOut: [],
    });
  });

  it("is refused where the work before it leaves too little time, with the time when the queue is empty", () => {
    expect(judge([request("a", 10)], request("b", 19))).toMatchObject({ kind: "overloaded", backlogMs: 10 });
    expect(judge([], request("b", 19), { isBusy: true })).toMatchObject({ kind: "overloaded", backlogMs: 10 });
    expect(judge([], request("b", 20), { isBusy: true }).kind).toBe("admitted");
  });

  it("is refused where another one would be late with it", () => {
    const reason = expect.stringContaining("others");
    expect(judge([request("a", 15)], request("b", 12))).toMatchObject({ kind: "overloaded", reason });
  });

  it("is not held up by one that will be late anyway", () => {
    const lost = request("lost", 12);
    expect(judge([lost], request("b", 30), { isBusy: true }).kind).toBe("admitted");
  });

  it("pushes out what is less important and would be late with it, and nothing else", () => {
    const waiting = [request("a", 15), request("b", 40)];
    expect(judge(waiting, request("vip", 12, { priority: 1 }))).toEqual({
      kind: "admitted",
      order: ["vip", "b"],
      pushedOut: ["a"],
    });
    const equal = request("equal", 15, { priority: 1 });
    expect(judge([equal], request("vip", 12, { priority: 1 })).kind).toBe("overloaded");
  });

  it("is doomed where the device is too slow for it even if it were idle", () => {
    expect(judge([], request("b", 9), { nowMs: 0 }).kind).toBe("doomed");
    const sure = scriptRequest(scriptLine({ fixedMs: 10, rowMs: 0, tail: 2 }), "sure", 15, { level: levelOf(0.99) });
    expect(judge([], sure).kind).toBe("doomed");
    expect(judge([], { ...sure, level: levelOf(0.9) }).kind).toBe("admitted");
  });

  it("is tried all the same on an idle device without recent measurements", () => {
    expect(judge([], request("b", 1_009), { nowMs: 1_000 }).kind).toBe("trial");
    expect(judge([], request("b", 999), { nowMs: 1_000 }).kind).toBe("doomed");
    expect(judge([], request("b", 109), { nowMs: 100 }).kind).toBe("doomed");
  });

  it("is tried behind other work, too, but more seldom, and one at a time", () => {
    // Ten milliseconds are a twentieth of 200.
    expect(judge([request("a", 2_000)], request("b", 209), { nowMs: 200 }).kind).toBe("doomed");
    expect(judge([request("a", 2_000)], request("b", 210), { nowMs: 201 }).kind).toBe("trial");
    expect(judge([], request("b", 210), { nowMs: 201, isBusy: true }).kind).toBe("trial");
    const trial = { ...request("trial", 1_009), line: scriptLine({ fixedMs: 0, rowMs: 0 }), trialOf: line };
    expect(judge([trial], request("b", 1_009), { nowMs: 1_000 }).kind).toBe("doomed");
    expect(judgeArrival([], request("b", 1_009), 1_000, { ...running, trialOf: line }).kind).toBe("doomed");
    // Another line's trial counts as well: there are as many lines as callers send shapes.
    const other = scriptLine({ fixedMs: 10, rowMs: 0 });
    expect(judge([{ ...trial, trialOf: other }], request("b", 1_009), { nowMs: 1_000 }).kind).toBe("doomed");
    expect(judgeArrival([], request("b", 1_009), 1_000, { ...running, trialOf: other }).kind).toBe("doomed");
  });

  it("is tried only a while after the device's last trial, of whichever line", () => {
    const tryAfter = (lastTrialMs: number, isBusy: boolean) =>
      judgeArrival([], request("b", 1_009), 1_000, isBusy ? running : null, { lastTrialMs }).kind;
    expect([tryAfter(899, false), tryAfter(900, false)]).toEqual(["trial", "doomed"]);
    expect([tryAfter(799, true), tryAfter(800, true)]).toEqual(["trial", "doomed"]);
  });

  it("waits for what is overdue as long again as that is overdue", () => {
    // Begun at 0 and to end at 10: at 30 it is 20 late, and expected at 50.
    expect(judge([], request("b", 60), { nowMs: 30, isBusy: true }).kind).toBe("admitted");
    expect(judge([], request("b", 59), { nowMs: 30, isBusy: true })).toMatchObject({
      kind: "overloaded",
      backlogMs: 20,
    });
  });

  it("behind other batches has room for somewhat more than their spread", () => {
    const wide = scriptLine({ fixedMs: 10, rowMs: 0, tail: 1.5, joins: false });
    const of = (id: string, deadlineMs: number) => scriptRequest(wide, id, deadlineMs, { level: levelOf(0.99) });
    const three = [of("a", 40), of("b", 70), of("c", 90)];
    // Four times ten; own 5, 1.25 times 5 for each of three by itself, and 3 · 6.25/√32 for all.
    const neededMs = 40 + Math.sqrt(5 ** 2 + 3 * 6.25 ** 2 + (18.75 / Math.sqrt(32)) ** 2);
    expect(judge(three, of("d", neededMs + 50)).kind).toBe("admitted");
    expect(judge([of("a", 40), of("b", 50), of("c", 52)], of("d", neededMs - 0.01)).kind).toBe("overloaded");
    expect(judge([of("a", 40), of("b", 50), of("c", 52)], of("d", neededMs + 0.01)).kind).toBe("admitted");
  });

  it("may not make one later that was less safe than it should be, but was expected in time", () => {
    const wide = scriptLine({ fixedMs: 10, rowMs: 0, tail: 1.5, joins: false });
    const of = (id: string, deadlineMs: number) => scriptRequest(wide, id, deadlineMs, { level: levelOf(0.99) });
    expect(judge([of("risky", 12)], of("before", 15)).kind).toBe("overloaded");
    expect(judge([of("risky", 24), of("first", 22)], of("before", 23)).kind).toBe("overloaded");
    expect(judge([of("risky", 12)], of("behind", 60)).kind).toBe("admitted");
  });
});

describe("a request that may have to give way to later ones", () => {
  const expected = (share: number) => ({ ...NOTHING, shareAbove: () => share });
  const judgeWith = (share: number, waiting: readonly Waiting[], newcomer: Waiting) =>
    judgeArrival(waiting, newcomer, 0, null, { expected: expected(share) }).kind;

  it("needs room for the share of the device that is kept for them", () => {
    const waiting = [request("a", 40), request("b", 45)];
    expect(judgeWith(0, waiting, request("c", 47))).toBe("admitted");
    expect(judgeWith(0.5, waiting, request("c", 59))).toBe("overloaded");
    expect(judgeWith(0.5, waiting, request("c", 60))).toBe("admitted");
  });

  it("needs none where it begins at once, since nothing interrupts it", () => {
    const slow = scriptLine({ fixedMs: 100, rowMs: 0 });
    expect(judgeWith(0.7, [], scriptRequest(slow, "c", 300))).toBe("admitted");
  });

  it("pushes out none that is late only if those come", () => {
    const verdict = judgeArrival([request("a", 25)], request("c", 20, { priority: 1 }), 0, null, {
      expected: expected(0.5),
    });
    expect(verdict).toMatchObject({ kind: "admitted", pushedOut: [], order: [{ id: "c" }, { id: "a" }] });
  });

  it("leaves that room to the others, too, and never makes one late that has none", () => {
    expect(judgeWith(0, [request("a", 29)], request("c", 20))).toBe("admitted");
    expect(judgeWith(0.5, [request("a", 29)], request("c", 20))).toBe("overloaded");
    expect(judgeWith(0.5, [request("a", 30)], request("c", 20))).toBe("admitted");
    expect(judgeWith(0.5, [request("a", 15)], request("c", 14))).toBe("overloaded");
  });
});

describe("where more waits than one batch takes", () => {
  const joining = scriptLine({ fixedMs: 4, rowMs: 1, maxRows: 8 });
  const crowd = (count: number) =>
    Array.from({ length: count }, (_, index) => scriptRequest(joining, `r${index}`, 1_000 + index));
  const judgeAt = (count: number, deadlineMs: number) =>
    judge(crowd(count), scriptRequest(joining, "x", deadlineMs)).kind;

  it("a request needs room for a batch beyond its own, and more of it the more waits", () => {
    // It leads the first batch, which is done at 12; the room is the time of a full one, 12, or a part of it.
    expect(judgeAt(8, 12)).toBe("admitted");
    expect(judgeAt(16, 17.9)).toBe("overloaded");
    expect(judgeAt(16, 18)).toBe("admitted");
    expect(judgeAt(24, 23.9)).toBe("overloaded");
    expect(judgeAt(24, 24)).toBe("admitted");
    expect(judgeAt(80, 24)).toBe("admitted");
  });

  it("but not where it is computed by itself", () => {
    const alone = scriptLine({ fixedMs: 1, rowMs: 0, maxRows: 8, joins: false });
    const waiting = Array.from({ length: 24 }, (_, index) => scriptRequest(alone, `r${index}`, 1_000));
    expect(judge(waiting, scriptRequest(alone, "x", 1)).kind).toBe("admitted");
  });
});

describe("a queue that is full", () => {
  const fast = scriptLine({ fixedMs: 0, rowMs: 0, joins: false });
  const full = Array.from({ length: LIMITS.deviceQueueRequests }, (_, index) =>
    scriptRequest(fast, `r${index}`, 1_000 + index),
  );

  it("takes nothing more but what is more important, for which the least urgent goes", () => {
    expect(judge(full, scriptRequest(fast, "x", 500))).toMatchObject({ kind: "overloaded" });
    expect(judge(full.slice(1), scriptRequest(fast, "x", 500)).kind).toBe("admitted");
    const verdict = judge(full, scriptRequest(fast, "x", 500, { priority: 1 }));
    expect(verdict).toMatchObject({ kind: "admitted", pushedOut: [`r${LIMITS.deviceQueueRequests - 1}`] });
  });

  it("is full of bytes, too", () => {
    const large = scriptRequest(fast, "large", 100, { sizeBytes: LIMITS.deviceQueueBytes - 4 });
    expect(judge([large], scriptRequest(fast, "x", 500)).kind).toBe("admitted");
    expect(judge([large], scriptRequest(fast, "x", 500, { sizeBytes: 5 })).kind).toBe("overloaded");
  });
});
