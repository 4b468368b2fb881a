import { describe, expect, it } from "vitest";
import {
  actionsOf,
  describeKind,
  describeLevels,
  describeMove,
  describeNeighbours,
  describeSureness,
  nameAlert,
  orderAlerts,
} from "../../../src/words/alerts.ts";
import { changeState } from "../../../src/edge/history/detect/plan-alerts.ts";
import { type Alert, AlertAction, AlertKind, AlertState } from "../../../src/protocol/history/alert.ts";
import { aChange, instant } from "./sample-change.ts";

function anAlert(id: string, state: AlertState, createdAtS: number): Alert {
  return { id, state, createdAt: instant(createdAtS), leading: aChange(1) } as Alert;
}

describe("the words of an alert", () => {
  it.each(AlertState.options)("offer for one that is %s what the edge would do", (state) => {
    for (const kind of AlertKind.options) {
      const possible = AlertAction.options.filter((action) => changeState({ kind, state }, action) !== null);
      expect(new Set(actionsOf({ kind, state }))).toEqual(new Set(possible));
    }
  });

  it("put the open ones first, then the latest, each once", () => {
    const [old, late, shut] = [anAlert("a", "open", 1), anAlert("b", "open", 2), anAlert("c", "resolved", 3)];
    expect(orderAlerts([shut, old, late, old]).map(({ id }) => id)).toEqual(["b", "a", "c"]);
  });

  it("name the other changes beside it, and the machine as the cause", () => {
    const told = describeNeighbours({ scope: "machine", changes: 5, subjects: 3 });
    expect(told).toBe("5 changes of 3 subjects on the same device: the machine, more likely than your code");
    expect(describeNeighbours({ scope: "subject", changes: 2, subjects: 1 })).toMatch(/^2 changes of the same subject/);
    expect(describeNeighbours({ scope: "series", changes: 1, subjects: 1 })).toBeNull();
  });

  it("name the change, its size and its confidence", () => {
    const change = aChange(1);
    expect(nameAlert({ leading: change, finding: null })).toBe("gemm wallMs on main");
    expect(describeLevels(change, "ms")).toBe("p50 from 10 ms to 11 ms");
    expect(describeMove(change)).toBe("+10%");
    expect(describeMove({ relativeChange: null, from: 0, to: -2 })).toBe("−2");
    expect(describeSureness(change)).toBe(
      "more than 99.9% sure, between +9% and +11%, from 40 points before and 20 after",
    );
    expect(describeSureness({ ...change, confidence: null, interval: null })).toMatch(/^not rated, from/);
    const limits = { threshold: "budget", test: "static", baseline: null, lowerLimit: null, upperLimit: 1 } as const;
    expect(describeKind({ kind: "threshold", limits })).toBe("limit broken (budget)");
  });
});
