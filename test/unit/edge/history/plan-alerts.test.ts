import { describe, expect, it } from "vitest";
import { changeState, type Findings, type Known, planAlerts } from "../../../../src/edge/history/detect/plan-alerts.ts";
import { findShifts } from "../../../../src/edge/history/detect/find-shifts.ts";
import type { KnownAlert, KnownChange } from "../../../../src/edge/store/history/detection-store.ts";
import type { StoredPoint } from "../../../../src/edge/store/history/point-store.ts";
import type { StoredSeries } from "../../../../src/edge/store/history/series-store.ts";
import { AlertAction, AlertState } from "../../../../src/protocol/history/alert.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";
import { lehmer } from "../../../../src/stats/random/seeded.ts";
import { fc } from "../../property.ts";

function seriesOf(no: number, changes: Partial<StoredSeries> = {}): StoredSeries {
  return {
    no,
    id: `ser_${no}`,
    project: "main",
    subjectKind: "kernel",
    subject: `subject ${no}`,
    metric: "wallMs",
    unit: "ms",
    clock: null,
    direction: "lower",
    configuration: {},
    fingerprint: null,
    software: false,
    label: null,
    fingerprintId: "fpr_one",
    mutedAtMs: null,
    ...changes,
  };
}

function pointsOf(values: readonly number[]): StoredPoint[] {
  return values.map((value, run) => {
    const { count, min, max, sum, sketch } = summarise([value]);
    return { atMs: 1_000 * run, runId: `run_${run}`, revision: null, count, min, max, sum, sketch };
  });
}

function findingsOf(series: StoredSeries, values: readonly number[]): Findings {
  const points = pointsOf(values);
  const shifts = findShifts(points, { direction: series.direction, statistic: "p50", parameters: {} });
  return { series, points, truncated: false, shifts };
}

/** State after a plan, as the next one finds it. */
class Memory {
  #ids = 0;
  readonly #alerts = new Map<string, KnownAlert>();
  readonly #changes = new Map<string, KnownChange>();

  search(findings: Findings[], nowMs = 0) {
    const plan = planAlerts(findings, this.known, {
      nowMs,
      mayWithdraw: true,
      createId: (kind) => `${kind}_${this.#ids++}`,
    });
    for (const { isNew: _, before: __, ...alert } of plan.alerts) this.#alerts.set(alert.id, alert);
    for (const { isNew: _, series: __, ...change } of plan.changes)
      this.#changes.set(change.id, { ...change, alertState: "open" });
    for (const [id, change] of this.#changes)
      this.#changes.set(id, { ...change, alertState: this.#alerts.get(change.alertId)?.state ?? "open" });
    return plan;
  }

  get known(): Known {
    return { changes: [...this.#changes.values()], alerts: [...this.#alerts.values()] };
  }
}

const stepped = fc.record({
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  before: fc.integer({ min: 12, max: 60 }),
  after: fc.integer({ min: 12, max: 60 }),
  factor: fc.constantFrom(1.1, 1.3, 2),
  noise: fc.constantFrom(0, 0.01, 0.04),
  chunk: fc.integer({ min: 1, max: 9 }),
});

describe("planning alerts", () => {
  it("makes one alert of one change, in whichever portions the points come", () => {
    fc.assert(
      fc.property(stepped, ({ seed, before, after, factor, noise, chunk }) => {
        const draw = lehmer(seed);
        const around = (level: number) => level * (1 + noise * (draw() - 0.5));
        const values = [
          ...Array.from({ length: before }, () => around(10)),
          ...Array.from({ length: after }, () => around(10 * factor)),
        ];
        const memory = new Memory();
        for (let count = chunk; count < values.length + chunk; count += chunk)
          memory.search([findingsOf(seriesOf(1), values.slice(0, count))]);
        const { alerts, changes } = memory.known;
        expect(alerts).toMatchObject([{ state: "open", changes: 1, lasting: 1 }]);
        expect(changes).toMatchObject([{ atMs: 1_000 * before, evidence: { pointsAfter: after } }]);
        // Nothing new: nothing is written.
        expect(memory.search([findingsOf(seriesOf(1), values)])).toEqual({ alerts: [], changes: [] });
      }),
      { numRuns: 60 },
    );
  });

  it("comes to the same groups in whichever order the series are searched", () => {
    const values = [...Array(20).fill(10), ...Array(8).fill(12)];
    const findings = Array.from({ length: 6 }, (_, no) =>
      findingsOf(seriesOf(no, { fingerprintId: no % 2 === 0 ? "fpr_even" : "fpr_odd" }), values),
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(findings, { minLength: 6 }), fc.integer({ min: 1, max: 6 }), (order, portion) => {
        const memory = new Memory();
        for (let at = 0; at < order.length; at += portion) memory.search(order.slice(at, at + portion));
        const groups = memory.known.alerts.map(({ fingerprintId, changes }) => [fingerprintId, changes]);
        expect(groups.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
          ["fpr_even", 3],
          ["fpr_odd", 3],
        ]);
      }),
    );
  });

  it("groups only what may have come at the same time", () => {
    const early = [...Array(20).fill(10), ...Array(20).fill(12)];
    const late = [...Array(30).fill(10), ...Array(10).fill(12)];
    const memory = new Memory();
    memory.search([findingsOf(seriesOf(1), early), findingsOf(seriesOf(2), late)]);
    expect(memory.known.alerts.map(({ atMs, changes }) => [atMs, changes])).toEqual([
      [20_000, 1],
      [30_000, 1],
    ]);
  });

  it("wakes an alert that had ended by itself, if another series that moved with it is still off", () => {
    const [back, off] = [seriesOf(1), seriesOf(2)];
    const memory = new Memory();
    memory.search([findingsOf(back, [...Array(20).fill(10), ...Array(20).fill(12), ...Array(20).fill(10)])]);
    expect(memory.known.alerts.find(({ direction }) => direction === "regression")?.state).toBe("resolved");
    memory.search([findingsOf(off, [...Array(20).fill(10), ...Array(40).fill(12)])]);
    expect(memory.known.alerts.find(({ direction }) => direction === "regression")).toMatchObject({
      state: "open",
      changes: 2,
      lasting: 1,
    });
  });
});

describe("a change that turns out to be none", () => {
  const flips = (times: number) =>
    Array.from({ length: times }, (_, time) => Array<number>(12).fill(time % 2 === 0 ? 10 : 13)).flat();

  it("is withdrawn, and ends its alert, once enough points say so", () => {
    const memory = new Memory();
    memory.search([findingsOf(seriesOf(1), flips(2))]);
    expect(memory.known.alerts).toMatchObject([{ state: "open", lasting: 1 }]);
    // Three crossings of one middle: it flips, and nothing of it is a change.
    const flipping = findingsOf(seriesOf(1), flips(6));
    expect(flipping.shifts).toEqual([]);
    memory.search([flipping]);
    expect(memory.known.alerts).toMatchObject([{ state: "resolved", lasting: 0 }]);
    expect(memory.known.changes).toMatchObject([{ evidence: { returnedAt: null, withdrawnAt: expect.any(String) } }]);
  });

  it("stays where it is too early to say, or where most of what was before it was not read", () => {
    const memory = new Memory();
    memory.search([findingsOf(seriesOf(1), flips(2))]);
    const early = findingsOf(seriesOf(1), flips(4));
    expect(early.shifts).toEqual([]);
    expect(memory.search([early])).toEqual({ alerts: [], changes: [] });
    expect(memory.search([{ ...findingsOf(seriesOf(1), flips(8)), truncated: true }]).changes).toEqual([]);
  });
});

describe("states", () => {
  it("lead from each other by actions, and never to where they are", () => {
    const all = AlertState.options.flatMap((state) =>
      AlertAction.options.map((action) => [state, action, changeState({ kind: "finding", state }, action)] as const),
    );
    for (const [state, , to] of all) expect(to).not.toBe(state);
    expect(
      all
        .filter(([, , to]) => to === null)
        .map(([state, action]) => `${action} ${state}`)
        .toSorted(),
    ).toEqual([
      "acknowledge acknowledged",
      "acknowledge dismissed",
      "acknowledge resolved",
      "dismiss dismissed",
      "dismiss resolved",
      "mute muted",
      "reopen open",
      "resolve dismissed",
      "resolve resolved",
    ]);
    for (const state of AlertState.options) expect(changeState({ kind: "change", state }, "mute")).toBeNull();
  });
});
