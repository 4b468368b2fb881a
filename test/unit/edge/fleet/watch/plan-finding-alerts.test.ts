import { describe, expect, it } from "vitest";
import { planFindingAlerts } from "../../../../../src/edge/fleet/watch/plan-finding-alerts.ts";
import type { OpenFinding } from "../../../../../src/edge/fleet/watch/watch-rule.ts";
import type { FindingAlert, PlannedFindingAlert } from "../../../../../src/edge/store/history/finding-store.ts";
import { plant } from "./watch-reports.ts";

const MINUTE_MS = 60_000;
const [found] = plant() as [OpenFinding];
const SINCE_MS = Date.parse(found.finding.since);

/** Alerts as stored, and a plan's changes to them. */
class Alerts {
  stored: FindingAlert[] = [];
  #ids = 0;

  plan(findings: readonly OpenFinding[], minute: number): (PlannedFindingAlert["event"] | "quiet")[] {
    const planned = planFindingAlerts(findings, this.stored, SINCE_MS + minute * MINUTE_MS, () => `alt_${++this.#ids}`);
    for (const { alert, version } of planned) {
      const before = this.stored.find(({ id }) => id === alert.id);
      expect(version).toBe(before?.version ?? null);
      expect(alert.version).toBe((version ?? 0) + 1);
      this.stored = [...this.stored.filter(({ id }) => id !== alert.id), alert];
    }
    return planned.map(({ event }) => event ?? "quiet");
  }

  set(state: FindingAlert["state"], minute: number): void {
    const times = { updatedAtMs: SINCE_MS + minute * MINUTE_MS };
    this.stored = this.stored.map((alert) => ({ ...alert, ...times, state, version: alert.version + 1 }));
  }
}

/** The finding as it is in some minute. */
function inMinute(minute: number, sinceMinute = 0): OpenFinding[] {
  const at = (of: number) => new Date(SINCE_MS + of * MINUTE_MS).toISOString();
  return [{ ...found, finding: { ...found.finding, since: at(sinceMinute), at: at(minute) } }];
}

describe("alerts of findings", () => {
  it("open once, are brought up to date every five minutes, and end", () => {
    const alerts = new Alerts();
    expect(alerts.plan(inMinute(1), 1)).toEqual(["alert.opened"]);
    expect(alerts.plan(inMinute(2), 2)).toEqual([]);
    expect(alerts.plan(inMinute(6), 6)).toEqual(["quiet"]);
    expect(alerts.stored[0]?.finding.at).toBe(inMinute(6)[0]?.finding.at);
    expect(alerts.plan([], 8)).toEqual(["alert.resolved"]);
    expect(alerts.plan([], 9)).toEqual([]);
    expect(alerts.stored).toHaveLength(1);
  });

  it("open again within an hour, and anew after it", () => {
    const alerts = new Alerts();
    alerts.plan(inMinute(1), 1);
    alerts.plan([], 2);
    expect(alerts.plan(inMinute(60, 59), 60)).toEqual(["alert.opened"]);
    expect(alerts.stored).toMatchObject([{ state: "open", version: 3 }]);
    alerts.plan([], 61);
    expect(alerts.plan(inMinute(200, 199), 200)).toEqual(["alert.opened"]);
    expect(alerts.stored.map(({ state }) => state)).toEqual(["resolved", "open"]);
  });

  it("stay ended for five minutes after a user resolved them, and no longer while it lasts", () => {
    const alerts = new Alerts();
    alerts.plan(inMinute(1), 1);
    alerts.set("resolved", 2);
    expect(alerts.plan(inMinute(6), 6)).toEqual([]);
    expect(alerts.plan(inMinute(8), 8)).toEqual(["alert.opened"]);
    expect(alerts.stored[0]?.note).toContain("still there");
  });

  it("that are dismissed stay so while it lasts or soon comes back; later it is another one", () => {
    const alerts = new Alerts();
    alerts.plan(inMinute(1), 1);
    alerts.set("dismissed", 2);
    for (const minute of [3, 8, 100, 150]) expect(alerts.plan(inMinute(minute), minute)).not.toContain("alert.opened");
    expect(alerts.plan([], 151)).toEqual([]);
    expect(alerts.plan(inMinute(190, 188), 190)).toEqual(["quiet"]);
    expect(alerts.stored).toMatchObject([{ state: "dismissed" }]);
    expect(alerts.plan(inMinute(400, 399), 400)).toEqual(["alert.opened"]);
    expect(alerts.stored).toHaveLength(2);
  });

  it("report coming and going once each, however often", () => {
    const alerts = new Alerts();
    alerts.plan(inMinute(1), 1);
    alerts.stored = alerts.stored.map((alert) => ({ ...alert, note: "Known." }));
    for (let minute = 2; minute < 200; minute += 2) {
      alerts.plan([], minute);
      alerts.plan(inMinute(minute + 1, minute + 1), minute + 1);
    }
    expect(alerts.stored).toHaveLength(1);
    expect(alerts.stored[0]?.note?.split("\n")).toEqual([
      "Known.",
      "Resolved by itself: it is gone.",
      "Opened again: it came back.",
    ]);
  });

  it("that are muted say nothing ever again, and those that are acknowledged end", () => {
    const alerts = new Alerts();
    alerts.plan(inMinute(1), 1);
    alerts.set("muted", 2);
    expect(alerts.plan(inMinute(3), 3)).toEqual([]);
    expect(alerts.plan([], 4)).toEqual([]);
    expect(alerts.plan(inMinute(9_000, 8_999), 9_000)).toEqual(["quiet"]);
    expect(alerts.stored).toMatchObject([{ state: "muted" }]);
    alerts.set("acknowledged", 9_001);
    expect(alerts.plan([], 9_002)).toEqual(["alert.resolved"]);
  });
});
