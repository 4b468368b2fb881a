import { describe, expect, it } from "vitest";
import { heavyPlaces } from "../../../src/edge/heavy-places.ts";
import type { Endpoint } from "../../../src/protocol/endpoint.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { callEdge, createProject, problemOf } from "../stack/edge-client.ts";

const { working, waiting } = heavyPlaces;
const QUESTION = "/v1/history/query?subject=none&metric=wallMs";

let opened = 0;
const open = () => createProject(`asker-${opened++}`);

/** Takes all places that a holder may have. */
function fill(places: typeof working, holder: string, atMs = Date.now()): object[] {
  const taken: object[] = [];
  for (;;) {
    const place = places.enter(holder, atMs);
    if (place === null) return taken;
    taken.push(place);
  }
}

/** Whether a turn of the project comes before a new one. */
function isWaiting(project: string): boolean {
  const mine = waiting.enter(project, Date.now())!;
  const isFirst = waiting.takeTurn(mine, Date.now(), (holder) => holder === project);
  waiting.leave(mine);
  return !isFirst;
}

describe("heavy questions of a project", () => {
  it("wait for each other, and not those of another project", async () => {
    const [{ project, secret }, { secret: stranger }] = [await open(), await open()];
    const taken = fill(working, project);
    const asked = callEdge("GET", QUESTION, { key: secret });
    await expect.poll(() => isWaiting(project)).toBe(true);
    expect((await callEdge("GET", QUESTION, { key: stranger })).status).toBe(200);
    // After a pause of the machine it takes its turn anew.
    await expect.poll(() => isWaiting(project)).toBe(true);
    for (const place of taken) working.leave(place);
    expect((await asked).status).toBe(200);
  });

  it("take turns with those of another project, which came after all of them", async () => {
    const [first, second] = [await open(), await open()];
    const taken = Array.from({ length: 6 }, (_, index) => working.enter(`holder-${index}`, Date.now())!);
    const answered: string[] = [];
    const ask = ({ project, secret }: typeof first) =>
      callEdge("GET", QUESTION, { key: secret }).then(() => answered.push(project));
    const asked = [ask(first), ask(first), ask(first)];
    await expect.poll(() => isWaiting(first.project)).toBe(true);
    asked.push(ask(second));
    await expect.poll(() => isWaiting(second.project)).toBe(true);
    working.leave(taken.pop()!);
    await Promise.all(asked);
    for (const place of taken) working.leave(place);
    expect(answered.indexOf(second.project)).toBeLessThan(2);
  });

  it("are refused where too many wait, and light ones are not", async () => {
    const { project, secret } = await open();
    // As if a minute later: their leases of five seconds outlast a pause of the machine.
    const taken = fill(waiting, project, Date.now() + 60_000);
    const refused = await callEdge("GET", QUESTION, { key: secret });
    const { code, retryAfterMs } = problemOf(refused);
    expect([refused.status, code, retryAfterMs]).toEqual([503, "overloaded", 1_000]);
    expect((await callEdge("GET", "/v1/jobs", { key: secret })).status).toBe(200);
    for (const turn of taken) waiting.leave(turn);
    expect((await callEdge("GET", QUESTION, { key: secret })).status).toBe(200);
  });

  it("give their places back, also where they fail", async () => {
    const { project, secret } = await open();
    const paths = ["/v1/history/compare?a=label:a&b=label:b", "/v1/runs/run_none/plots/front.svg", QUESTION];
    for (const path of [...paths, ...paths])
      expect((await callEdge("GET", path, { key: secret })).status).toBeLessThan(500);
    const free = fill(working, project);
    expect(free).toHaveLength(2);
    for (const place of free) working.leave(place);
  });

  it("are those that read or compute much", () => {
    const all: Endpoint[] = Object.values(endpoints as never);
    const heavy = all.filter(({ isHeavy }) => isHeavy).map(({ path }) => path);
    expect(heavy).toEqual(expect.arrayContaining(all.map(({ path }) => path).filter((path) => path.endsWith(".svg"))));
    for (const name of ["compareSeries", "detectChanges", "getProject", "queryHistory", "readHeatmap"] as const) {
      expect(heavy).toContain(endpoints[name].path);
    }
  });
});
