import { beforeEach, describe, expect, it } from "vitest";
import { type Answered, PlacementWatch } from "../../../../src/edge/inference/predict/placement-watch.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";
import { livePlacement } from "./live-placement.ts";

const P99 = 0.99;
/** Of 200 measurements of a millisecond, one took three. */
const measured = summarise([...Array.from({ length: 199 }, () => 1), 3]);
const placement = livePlacement("named", { linkMs: measured, sweep: [{ rows: 1, serviceMs: measured }] });

let watch = new PlacementWatch();
let nowMs = 1_000_000;

const idleMs = (confidence = P99, rows = 1) => {
  const { linkMs, serviceMs } = watch.outlook(placement, rows, confidence, nowMs);
  return linkMs + serviceMs;
};
const begin = (leftMs = 1_000) => watch.begin(placement, 1, watch.outlook(placement, 1, P99, nowMs), leftMs, nowMs);
const pass = (aroundMs: number, computeMs: number): void => {
  const attempt = begin();
  nowMs += aroundMs + computeMs;
  const times = { queueMs: 0, uploadMs: 0, computeMs, readbackMs: 0 };
  const answered: Answered = { times, rows: 1, backlogMs: 0, isMeasured: true };
  watch.answered(attempt, answered, nowMs);
};
const miss = (): void => {
  const attempt = begin();
  nowMs += 30;
  // The device is alive: another request is answered meanwhile.
  pass(1, 1);
  watch.missed(attempt, nowMs);
};
const name = () => watch.nameTimes(placement, 1, P99, nowMs).idleMs;

beforeEach(() => {
  watch = new PlacementWatch();
  nowMs = 1_000_000;
  // The first answer counts as a cold start.
  pass(1, 1);
});

describe("a named budget", () => {
  it("has room for rarer times than an admission", () => {
    expect(idleMs()).toBeCloseTo(2, 1);
    expect(name()).toBeGreaterThan(5.8);
  });

  it("holds for ten seconds, however slow some answers are meanwhile", () => {
    const named = name();
    for (let i = 0; i < 5; i++) pass(20, 20);
    nowMs += 60;
    expect(idleMs()).toBeLessThanOrEqual(named);
    // It was named for these rows and at this confidence.
    expect(idleMs(0.999)).toBeGreaterThan(named);
    expect(idleMs(P99, 2)).toBeGreaterThan(named);
    nowMs += 10_000;
    expect(idleMs()).toBeGreaterThan(named);
  });

  it("holds for requests of its size alone, and misses of another size do not count against it", () => {
    const larger = { ...placement, size: 8 };
    const idleAt = (of: typeof placement) => {
      const { linkMs, serviceMs } = watch.outlook(of, 1, P99, nowMs);
      return linkMs + serviceMs;
    };
    const named = name();
    const slow = { times: { queueMs: 0, uploadMs: 0, computeMs: 40, readbackMs: 0 }, rows: 1, backlogMs: 0 };
    for (let i = 0; i < 5; i++) {
      const attempt = watch.begin(larger, 1, watch.outlook(larger, 1, P99, nowMs), 1_000, nowMs);
      nowMs += 41;
      watch.answered(attempt, { ...slow, isMeasured: true }, nowMs);
    }
    nowMs += 60;
    expect(idleAt(larger)).toBeGreaterThan(named);
    for (let i = 0; i < 3; i++) {
      const attempt = watch.begin(larger, 1, watch.outlook(larger, 1, P99, nowMs), 30, nowMs);
      nowMs += 30;
      pass(20, 20);
      watch.missed(attempt, nowMs);
    }
    nowMs += 60;
    expect(idleAt(placement)).toBeLessThanOrEqual(named);
  });

  it("does not hide a queue", () => {
    name();
    begin();
    expect(watch.outlook(placement, 1, P99, nowMs).queueMs).toBeCloseTo(1, 1);
  });

  it("holds no longer once three answers were missed, until it is named again", () => {
    const named = name();
    miss();
    miss();
    nowMs += 60;
    expect(idleMs()).toBeLessThanOrEqual(named);
    miss();
    nowMs += 60;
    expect(idleMs()).toBeGreaterThan(named);
    const again = name();
    expect(again).toBeGreaterThan(named);
    expect(idleMs()).toBeLessThanOrEqual(again);
  });

  it("holds as long as nine in ten are answered", () => {
    const named = name();
    for (let i = 0; i < 5; i++) {
      for (let answer = 0; answer < 9; answer++) pass(1, 1);
      miss();
      nowMs += 60;
      expect(idleMs()).toBeLessThanOrEqual(named);
    }
    for (let i = 0; i < 2; i++) miss();
    nowMs += 60;
    expect(idleMs()).toBeGreaterThan(named);
  });

  it("counts the requests that one pause of the device held up as one", () => {
    const named = name();
    for (let i = 0; i < 5; i++) {
      const attempt = begin(10);
      nowMs += 10;
      watch.missed(attempt, nowMs);
    }
    pass(40, 40);
    nowMs += 60;
    expect(idleMs()).toBeLessThanOrEqual(named);
    for (let i = 0; i < 2; i++) miss();
    nowMs += 60;
    expect(idleMs()).toBeGreaterThan(named);
  });

  it("has room for the whole: more time before the question leaves less for the rest, up to even chances", () => {
    const totalMs = (spentMs: number) => {
      const { linkMs, serviceMs } = watch.outlook(placement, 1, P99, nowMs, spentMs);
      return spentMs + linkMs + serviceMs;
    };
    for (let i = 0; i < 5; i++) pass(20, 20);
    nowMs += 60;
    // Without a named budget, all of the time before the question is added.
    expect(totalMs(5) - totalMs(1)).toBeCloseTo(4);
    nowMs += 600_000;
    for (let i = 0; i < 50; i++) pass(1, 1);
    const { beforeMs, idleMs: namedMs } = watch.nameTimes(placement, 1, P99, nowMs);
    for (let i = 0; i < 5; i++) pass(20, 20);
    nowMs += 60;
    expect(totalMs(beforeMs)).toBeCloseTo(beforeMs + namedMs);
    expect(totalMs(beforeMs + 2)).toBeCloseTo(beforeMs + namedMs);
    // Most requests take two milliseconds, and that much must be left.
    expect(totalMs(beforeMs + namedMs - 1)).toBeGreaterThan(beforeMs + namedMs + 0.9);
    expect(totalMs(beforeMs + namedMs - 1)).toBeLessThan(beforeMs + namedMs + 2);
    // Another budget is meant.
    expect(totalMs(2_000)).toBeCloseTo(2_000 + namedMs);
  });

  it("stays when a later one is larger, and the least of both counts", () => {
    const named = name();
    nowMs += 100;
    for (let i = 0; i < 30; i++) pass(20, 20);
    nowMs += 60;
    expect(name()).toBeGreaterThan(named);
    expect(idleMs()).toBeLessThanOrEqual(named);
  });

  it("ends when the clock is set back by more than it holds", () => {
    const named = name();
    for (let i = 0; i < 5; i++) pass(20, 20);
    nowMs -= 20_000;
    expect(idleMs()).toBeGreaterThan(named);
  });
});

describe("the room of a named budget for a cold start", () => {
  const coldMs = (of = placement) => watch.nameTimes(of, 1, P99, nowMs).coldMs;

  it("is there before the first answer of a runner, and at the edge itself never", () => {
    watch = new PlacementWatch();
    expect(coldMs()).toBe(25);
    expect(coldMs({ ...placement, backend: "edge-wasm" })).toBe(0);
  });

  it("is what the first request took more, until the answers show the quantile", () => {
    watch = new PlacementWatch();
    pass(12, 1);
    for (let i = 0; i < 99; i++) {
      pass(1, 1);
      if (i % 33 === 0) expect(coldMs()).toBeCloseTo(11, 0);
    }
    pass(1, 1);
    expect(coldMs()).toBe(0);
    // After a rest it is due again.
    nowMs += 11_000;
    expect(coldMs()).toBeCloseTo(11, 0);
  });
});

describe("the time before the question", () => {
  it("is a step of the clock at least, and what recent requests took", () => {
    expect(watch.spentMs(P99, nowMs)).toBeCloseTo(1, 1);
    for (let i = 0; i < 200; i++) watch.noteSpent(0, nowMs);
    nowMs += 60;
    expect(watch.spentMs(P99, nowMs)).toBeCloseTo(1, 1);
    watch.noteSpent(40, nowMs);
    nowMs += 60;
    expect(watch.spentMs(P99, nowMs)).toBeCloseTo(1, 1);
    for (let i = 0; i < 20; i++) watch.noteSpent(40, nowMs);
    nowMs += 60;
    expect(watch.spentMs(P99, nowMs)).toBeCloseTo(40, 0);
  });
});

describe("a pause", () => {
  it("that held up the service of some requests and the way of others counts once", () => {
    for (let i = 0; i < 300; i++) {
      pass(1, 1);
      if (i % 30 === 0) pass(1, 280);
      if (i % 30 === 1) pass(280, 1);
    }
    nowMs += 60;
    const { linkMs, serviceMs } = watch.outlook(placement, 1, P99, nowMs);
    expect(serviceMs).toBeCloseTo(280, -1);
    expect(linkMs + serviceMs).toBeLessThan(300);
  });
});
