import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Alert } from "../../src/protocol/history/alert.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import type { Diagnosis, FindingKind } from "../../src/protocol/fleet/health.ts";
import { hogCpu } from "../plants/hog-cpu.ts";
import { type PlantedSleep, plantSleep } from "../plants/plant-sleep.ts";
import { type LocalStack, placeModel, startLocalStack, waitFor } from "./local-stack.ts";

/** A tenth of the default: a test is no place to wait. */
const WATCH_MS = 1_000;

let stack: LocalStack;
let sleep: PlantedSleep;
beforeAll(async () => {
  stack = await startLocalStack({
    // Reports are judged by what was measured here.
    edgeVariables: { WATCH_MS: String(WATCH_MS), CALIBRATION_ITERATIONS: "300" },
    runnerVariables: (dataDir) => {
      sleep = plantSleep(dataDir);
      return { ...sleep.environment, MILLRACE_GPU: "none" };
    },
  });
  await placeModel(stack, "lenet5");
  await waitFor("probes", async () => {
    const { report } = await diagnose();
    return report.placements.some(({ serviceMs }) => serviceMs !== null) ? true : undefined;
  });
});
afterAll(() => stack.stop());

function diagnose(): Promise<Diagnosis> {
  return stack.client.call(endpoints.getRunnerDiagnosis, { params: { id: stack.runnerId } });
}

async function alertsOf(): Promise<Alert[]> {
  const query = { kind: "finding", runner: stack.runnerId } as const;
  return (await stack.client.call(endpoints.listAlerts, { query })).items;
}

/** The alert of a kind of finding, once it is in this state. */
function waitForAlert(kind: FindingKind, state: Alert["state"]): Promise<Alert> {
  return waitFor(`${kind} to be ${state}`, async () =>
    (await alertsOf()).find((alert) => alert.finding?.kind === kind && alert.state === state),
  );
}

describe("the watch", () => {
  it("opens no alert where nothing is planted", async () => {
    // Five reports: more than it takes.
    await delay(5 * WATCH_MS);
    const { checks } = await waitFor("an answer of the runner", async () => {
      const diagnosis = await diagnose();
      return diagnosis.online && diagnosis.fresh ? diagnosis : undefined;
    });
    // What runs beside this test may hold the cores, or all of the machine stand still; of that the runner is right to
    // tell, until it is over.
    const listOpen = async () => {
      const open = (await alertsOf()).filter(({ state }) => state === "open").map(({ finding }) => finding);
      return [...(await diagnose()).findings, ...open].filter((finding) => finding?.kind !== "host-contention");
    };
    await expect.poll(listOpen, { timeout: 120_000, interval: WATCH_MS }).toEqual([]);
    expect(new Set(checks.map(({ check }) => check)).size).toBe(10);
    expect(checks.filter(({ outcome }) => outcome === "pass").every(({ advice }) => advice === null)).toBe(true);
  });

  it("finds and names processes that take the cores", async () => {
    const hogs = hogCpu();
    try {
      const { finding } = await waitForAlert("host-contention", "open");
      expect(finding).toMatchObject({ deviceKey: null, placementId: null });
      expect(finding?.measured).toBeGreaterThan(finding?.expected ?? 1);
    } finally {
      await hogs.stop();
    }
  });

  it("finds and names a backend that sleeps, and resolves the alert when it wakes", async () => {
    await sleep.sleepMs(150);
    const { finding, summary } = await waitForAlert("slow-backend", "open");
    expect(finding).toMatchObject({ deviceKey: "cpu", unit: "ms", subject: "lenet5@1 fp32 on cpu by ort-cpu" });
    expect(finding?.measured).toBeGreaterThan(150);
    expect(finding?.expected).toBeLessThan(50);
    expect(summary).toContain("Slow backend");
    expect((await diagnose()).findings.map(({ kind }) => kind)).toContain("slow-backend");
    await sleep.sleepMs(0);
    expect((await waitForAlert("slow-backend", "resolved")).note).toContain("Resolved by itself");
  });
});
