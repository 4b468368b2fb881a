/** Requests to a model on two equal devices of one runner, each with a queue of its own, on a clock of the test's own. */
import { expect, it } from "vitest";
import { choosePlacement } from "../../../../src/edge/inference/choose-placement.ts";
import { type Attempt, PlacementWatch } from "../../../../src/edge/inference/predict/placement-watch.ts";
import type { LivePlacement } from "../../../../src/edge/store/fleet/live-placement-store.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";
import { lehmer } from "../../../../src/stats/random/seeded.ts";
import { livePlacement } from "./live-placement.ts";

const LINK_MS = 1;
const REQUESTS = 2_000;
/** Arrivals for each service that both devices together can give. */
const LOAD = 0.8;

const placed = (deviceKey: string, serviceMs: number) =>
  livePlacement(deviceKey, {
    runnerId: "rnr_one",
    deviceKey,
    sweep: [{ rows: 1, serviceMs: summarise([serviceMs]) }],
    linkMs: summarise([LINK_MS]),
  });

type Choose = (freeAtMs: readonly number[], nowMs: number, watch: PlacementWatch) => number;

/** Mean latency in milliseconds of requests to devices with these services, which are taken in the order of arrival. */
function simulate(servicesMs: readonly number[], choose: Choose): number {
  const draw = lehmer(7);
  const watch = new PlacementWatch();
  const placements = servicesMs.map((serviceMs, place) => placed(`gpu${place}`, serviceMs));
  const perMs = servicesMs.reduce((sum, serviceMs) => sum + 1 / serviceMs, 0);
  const freeAtMs = [0, 0];
  let ends: { readonly atMs: number; readonly tell: () => void }[] = [];
  let [nowMs, sumMs] = [1_000, 0];
  for (let request = 0; request < REQUESTS; request++) {
    nowMs += -Math.log(1 - draw()) / (LOAD * perMs);
    for (const { tell } of ends.filter(({ atMs }) => atMs <= nowMs)) tell();
    ends = ends.filter(({ atMs }) => atMs > nowMs);
    const chosen = choose(freeAtMs, nowMs, watch);
    const serviceMs = servicesMs[chosen]! * Math.exp(0.3 * (draw() + draw() + draw() - 1.5));
    const startMs = Math.max(freeAtMs[chosen]!, nowMs + LINK_MS / 2);
    freeAtMs[chosen] = startMs + serviceMs;
    const atMs = startMs + serviceMs + LINK_MS / 2;
    const attempt = begin(watch, placements[chosen]!, nowMs);
    const times = { queueMs: startMs - nowMs - LINK_MS / 2, uploadMs: 0, computeMs: serviceMs, readbackMs: 0 };
    ends.push({
      atMs,
      tell: () => {
        const backlogMs = Math.max(0, freeAtMs[chosen]! - atMs);
        watch.answered(attempt, { times, rows: 1, backlogMs, isMeasured: true }, atMs);
      },
    });
    ends.sort((a, b) => a.atMs - b.atMs);
    sumMs += atMs - nowMs;
  }
  return sumMs / REQUESTS;
}

function begin(watch: PlacementWatch, placement: LivePlacement, nowMs: number): Attempt {
  return watch.begin(placement, 1, watch.outlook(placement, 1, 0.99, nowMs), 10_000, nowMs);
}

/** The product's choice, which knows of the queues what was sent and answered. */
function chooseAsProduct(servicesMs: readonly number[]): Choose {
  const random = lehmer(3);
  const placements = servicesMs.map((serviceMs, place) => placed(`gpu${place}`, serviceMs));
  return (_, nowMs, watch) => {
    const choice = choosePlacement(placements, {
      wishes: { budgetMs: 10_000, refuseWithinMs: 0, minFidelity: 0, onMiss: "reject" },
      spentMs: 0,
      usualSpentMs: 0,
      outlook: (placement) => watch.outlook(placement, 1, 0.99, nowMs),
      calibratedMs: () => 1,
      random,
    });
    return choice.kind === "admitted" ? placements.indexOf(choice.candidate.placement) : expect.unreachable();
  };
}

it.each([
  ["equal", [4, 4]],
  ["unequal", [4, 8]],
])("go to that of %s devices which answers first, nearly as if all were known", (_, servicesMs) => {
  const draw = lehmer(5);
  const productMs = simulate(servicesMs, chooseAsProduct(servicesMs));
  const knownMs = simulate(servicesMs, (freeAtMs, nowMs) => {
    const [first = 0, second = 0] = servicesMs.map((serviceMs, place) => Math.max(freeAtMs[place]!, nowMs) + serviceMs);
    return first <= second ? 0 : 1;
  });
  const blindMs = simulate(servicesMs, () => Number(draw() < servicesMs[0]! / (servicesMs[0]! + servicesMs[1]!)));
  expect(productMs).toBeLessThan(1.1 * knownMs);
  expect(blindMs).toBeGreaterThan(1.3 * knownMs);
});
