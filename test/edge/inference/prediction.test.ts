import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { configOf } from "../../../src/edge/config.ts";
import { admitRequest } from "../../../src/edge/inference/admit-request.ts";
import { answerInference } from "../../../src/edge/inference/answer-inference.ts";
import { probePlacement } from "../../../src/edge/inference/ask-placement.ts";
import { fitRequest } from "../../../src/edge/inference/predict/fit-request.ts";
import { PROBE_MS } from "../../../src/edge/inference/predict/device-watch.ts";
import { placementWatch } from "../../../src/edge/inference/predict/placement-watch.ts";
import { rollUp } from "../../../src/edge/history/rollup/roll-up.ts";
import { attach, attachmentOf } from "../../../src/edge/link/runner-socket.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { type LivePlacement, readLivePlacements } from "../../../src/edge/store/fleet/live-placement-store.ts";
import { InferReply } from "../../../src/protocol/inference/inference.ts";
import type { InferOffer } from "../../../src/protocol/link.ts";
import { PredictionCalibration } from "../../../src/protocol/history/prediction-calibration.ts";
import { encodeFrame } from "../../../src/protocol/wire/frame.ts";
import { createProblem, type ProblemCode, ProblemError } from "../../../src/protocol/wire/problem.ts";
import { callEdge, createToken, mainEnv, pointersOf, problemOf, type RegisteredRunner } from "../stack/edge-client.ts";
import { linkStub } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { calibrationResult } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { stopClock } from "../stack/stopped-clock.ts";
import { cartpole } from "../stack/zoo.ts";

/** Two runners that serve the same model, each selectable by its label. */

interface Site {
  readonly name: string;
  readonly runner: RegisteredRunner;
  scripted: ScriptedRunner;
}

/** A budget that no machine is too slow for, and a queue that is longer. */
const BUDGET_MS = 60_000;
const QUEUE_MS = 600_000;

const sites: Site[] = [];
let input = "";
let output = "";

const infer = (changes: object = {}) =>
  callEdge("POST", "/v1/infer", {
    body: { model: "predicted", budgetMs: BUDGET_MS, inputs: { [input]: { data: [[1, 2, 3, 4]] } }, ...changes },
  });
const at = ({ name }: Site, changes: object = {}) => infer({ labels: { site: name }, ...changes });
const outputs = () => [
  { name: output, dtype: "float32" as const, shape: [1, 2], bytes: new Uint8Array(Float32Array.from([1, 2]).buffer) },
];
const answer = (site: Site, offer: InferOffer, backlogMs = 0) => site.scripted.answer(offer, outputs(), backlogMs);
const answerNext = async (site: Site, backlogMs = 0) =>
  answer(site, (await site.scripted.nextInfer()).offer, backlogMs);
const refuseNext = async (site: Site, code: ProblemCode) => {
  const { offer } = await site.scripted.nextInfer();
  site.scripted.send({ type: "inferFailed", requestId: offer.requestId, problem: createProblem(code, "Not now.") });
  return offer;
};
/** The runner that got the request, and the other one. */
const whoWasAsked = async (): Promise<[Site, Site]> => {
  const index = await vi.waitFor(() => {
    const found = sites.findIndex(({ scripted }) => scripted.frames.length > 0);
    expect(found).toBeGreaterThanOrEqual(0);
    return found;
  }, BOUND);
  return [sites[index]!, sites[1 - index]!];
};
/**
 * Waits until only the budget can refuse: the runner is online, placed, heard and known to this isolate. Answers the
 * edge's own probes while it finds the runner silent, of which an answer may come too late for some.
 */
const isReady = async (site: Site) => {
  let probes = 0;
  await vi.waitFor(async () => {
    for (; site.scripted.frames.length > 0; probes++) await answerNext(site);
    expect(problemOf(await at(site, { budgetMs: 0.1 })).code).toBe("budget-unattainable");
  }, BOUND);
  return { probes };
};
const answerProbes = async (site: Site) => {
  const answered = await isReady(site);
  for (const { scripted } of sites) scripted.frames.length = 0;
  return answered;
};

async function connect(name: string): Promise<Site> {
  const body = { token: await createToken(), name, labels: { site: name } };
  const runner: RegisteredRunner = (await callEdge("POST", "/v1/runners", { key: null, body })).json;
  return { name, runner, scripted: await ScriptedRunner.online(runner) };
}

beforeAll(async () => {
  const uploaded = await callEdge("POST", "/v1/models?name=predicted", {
    body: cartpole,
    headers: { "content-type": "application/octet-stream" },
  });
  input = uploaded.json.version.inputs[0].name;
  output = uploaded.json.version.outputs[0].name;
  for (const name of ["north", "south"]) {
    const site = await connect(name);
    sites.push(site);
    site.scripted.succeed(await site.scripted.next("offer"), calibrationResult(uploaded.json.version.id));
    expect((await site.scripted.next("jobSettled")).stored).toBe(true);
    await isReady(site);
  }
});

afterEach(() => vi.restoreAllMocks());

describe("the wishes of a request", () => {
  it("choose among the runners", async () => {
    for (const site of sites) {
      const wishes = { profile: "memory-constrained", backend: "ort-cpu", minFidelity: 1 };
      const pending = at(site, wishes);
      await answerNext(site);
      expect(InferReply.parse((await pending).json).placement.runnerId).toBe(site.runner.runnerId);
    }
  });

  it("that nothing meets find no placement, and say which they were", async () => {
    for (const wish of [{ labels: { site: "east" } }, { backend: "wgsl" }, { profile: "gpu-accelerated" }]) {
      const problem = problemOf(await infer(wish));
      expect(problem).toMatchObject({ code: "no-placement", status: 503 });
      expect(problem.detail).toContain(JSON.stringify(wish));
    }
  });

  it("name a profile that exists", async () => {
    expect(pointersOf(await infer({ profile: "no-such-profile" }))).toEqual(["#/profile"]);
  });
});

describe("a request that the edge itself held up", () => {
  it("is refused with the time that it was held up for, and no runner is asked", async () => {
    const call = { env: mainEnv, arrivedAtMs: Date.now() - 4_000, waitUntil: () => {}, scope: null };
    // At even chances one pause of this machine does not count as usual.
    const wishes = { confidence: 0.5, refuseWithinMs: 0, minFidelity: 0, priority: 0, onMiss: "reject" as const };
    const tensors = [{ name: input, dtype: "float32" as const, shape: [1, 4], bytes: new Uint8Array(16) }];
    const asked = { ...wishes, model: "predicted", budgetMs: 4_000, tensors, pointerOf: () => "" };
    const { problem } = await admitRequest(call, asked).then(
      () => expect.unreachable(),
      (error: ProblemError) => error,
    );
    expect(problem).toMatchObject({ code: "overloaded", detail: expect.stringContaining("before it could ask") });
    expect(problem.retryAfterMs).toBeGreaterThan(3_000);
    expect(sites.flatMap(({ scripted }) => scripted.frames)).toEqual([]);
  });
});

describe("a queue", () => {
  it("that is in the way refuses with the time it needs, and lets a best effort try", async () => {
    const north = sites[0]!;
    const first = at(north);
    await answerNext(north, QUEUE_MS);
    await first;
    const refused = await at(north);
    const problem = problemOf(refused);
    expect(problem).toMatchObject({ code: "overloaded", status: 503 });
    expect(problem.retryAfterMs).toBeGreaterThan(QUEUE_MS - 2 * BUDGET_MS);
    expect(problem.retryAfterMs).toBeLessThan(QUEUE_MS);
    expect(Number(refused.headers.get("retry-after"))).toBe(Math.ceil(problem.retryAfterMs! / 1_000));
    const tried = at(north, { onMiss: "best-effort" });
    const { offer } = await north.scripted.nextInfer();
    // Otherwise its runner would refuse requests that the edge admitted.
    expect(offer.confidence).toBe(0);
    answer(north, offer);
    const reply = InferReply.parse((await tried).json);
    expect(reply.budgetMet).toBe(true);
    expect(reply.prediction.queueMs).toBeGreaterThan(QUEUE_MS - BUDGET_MS);
  });

  it("of one runner leaves the request to the other", async () => {
    const [north, south] = [sites[0]!, sites[1]!];
    const first = at(north);
    await answerNext(north, QUEUE_MS);
    await first;
    const pending = infer();
    await answerNext(south);
    expect(InferReply.parse((await pending).json).placement.runnerId).toBe(south.runner.runnerId);
    const last = at(north, { onMiss: "best-effort" });
    await answerNext(north);
    await last;
  });
});

describe("a request whose runner fails under it", () => {
  it.each(["overloaded", "budget-exceeded", "device-lost", "runner-lost"] as const)(
    "with %s is tried elsewhere once, and says so",
    async (code) => {
      const pending = infer();
      const [lost, other] = await whoWasAsked();
      const offer = await refuseNext(lost, code);
      const { offer: second } = await other.scripted.nextInfer();
      expect(second.requestId).not.toBe(offer.requestId);
      expect(second.budgetMs).toBeLessThanOrEqual(offer.budgetMs);
      // A late answer to the first attempt does not answer the request.
      answer(lost, offer);
      answer(other, second);
      const reply = InferReply.parse((await pending).json);
      expect(reply.placement.runnerId).toBe(other.runner.runnerId);
      expect(reply.requestId).toBe(second.requestId);
      expect(reply.faults).toMatchObject([{ code, action: "retried-elsewhere" }]);
      // Corrects what the edge learned from the refusal, for the next test.
      const repair = at(lost, { onMiss: "best-effort" });
      await answerNext(lost);
      await repair;
    },
  );

  it("is not tried a third time, nor where it said which runner", async () => {
    const pending = infer();
    const [first, second] = await whoWasAsked();
    await refuseNext(first, "device-lost");
    await refuseNext(second, "device-lost");
    expect(problemOf(await pending).code).toBe("device-lost");
    for (const site of sites) {
      const alone = at(site);
      await refuseNext(site, "device-lost");
      expect(problemOf(await alone).code).toBe("device-lost");
    }
    expect(sites.flatMap(({ scripted }) => scripted.frames)).toEqual([]);
  });

  it("for a reason that is its own is not tried again", async () => {
    const pending = infer();
    const [first] = await whoWasAsked();
    await refuseNext(first, "backend-failed");
    expect(problemOf(await pending).code).toBe("backend-failed");
    expect(sites.flatMap(({ scripted }) => scripted.frames)).toEqual([]);
  });

  it("by dying goes elsewhere, and so does what comes after", async () => {
    const pending = infer();
    const [dead, other] = await whoWasAsked();
    await dead.scripted.nextInfer();
    dead.scripted.socket.close();
    await answerNext(other);
    expect(InferReply.parse((await pending).json).faults).toMatchObject([
      { code: "runner-lost", action: "retried-elsewhere" },
    ]);
    for (let i = 0; i < 4; i++) {
      const next = infer();
      await answerNext(other);
      expect(InferReply.parse((await next).json)).not.toHaveProperty("faults");
    }
    dead.scripted = await ScriptedRunner.online(dead.runner);
    await answerProbes(dead);
  });

  it.each([
    [
      "another socket takes over",
      async (lost: Site) => {
        const successor = await ScriptedRunner.online(lost.runner);
        return () => (lost.scripted = successor);
      },
    ],
    [
      "it falls silent",
      async (lost: Site) => {
        const link = linkStub(lost.runner.runnerId);
        // Just dead: an alarm that comes later than that judges at the next one.
        const acceptedAtMs = Date.now() - configOf(mainEnv).silentMs;
        await runInDurableObject(link, (_, state) => {
          for (const socket of state.getWebSockets()) attach(socket, { ...attachmentOf(socket), acceptedAtMs });
        });
        await runDurableObjectAlarm(link);
        return async () => (lost.scripted = await ScriptedRunner.online(lost.runner));
      },
    ],
  ] as const)("because %s goes elsewhere at once, and gets one answer", async (_, lose) => {
    const pending = infer();
    const [lost, other] = await whoWasAsked();
    await lost.scripted.nextInfer();
    const recover = await lose(lost);
    const { offer: second } = await other.scripted.nextInfer();
    answer(other, second);
    const reply = InferReply.parse((await pending).json);
    expect(reply).toMatchObject({ requestId: second.requestId, placement: { runnerId: other.runner.runnerId } });
    expect(reply.faults).toMatchObject([{ code: "runner-lost", action: "retried-elsewhere" }]);
    await recover();
    await answerProbes(lost);
  });
});

describe("a runner that stops answering", () => {
  it("is left for others, refuses at once where it is alone, and comes back with a probe", async () => {
    const [north, south] = [sites[0]!, sites[1]!];
    // Longer than the edge waits for a probe. A best effort is sent even if slow answers before it predict a miss.
    const missed = at(north, { budgetMs: 2 * PROBE_MS, onMiss: "best-effort" });
    await north.scripted.nextInfer();
    expect(problemOf(await missed).code).toBe("budget-exceeded");
    for (let i = 0; i < 4; i++) {
      const pending = infer();
      await answerNext(south);
      expect(InferReply.parse((await pending).json).placement.runnerId).toBe(south.runner.runnerId);
    }
    const refused = problemOf(await at(north));
    expect(refused).toMatchObject({ code: "runner-offline", retryAfterMs: 1_000 });
    expect((await answerProbes(north)).probes).toBeGreaterThan(0);
    // The next silence is probed at once, although the last probe was a moment ago.
    const again = at(north, { budgetMs: PROBE_MS / 2, onMiss: "best-effort" });
    await north.scripted.nextInfer();
    expect(problemOf(await again).code).toBe("budget-exceeded");
    await answerNext(north);
    await answerProbes(north);
    const back = at(north);
    await answerNext(north);
    expect((await back).status).toBe(200);
  });
});

describe("the history", () => {
  it("counts what was refused by reason", async () => {
    const refusals = async () => {
      const { items } = (await callEdge("GET", "/v1/history/series?subject=predicted@1&limit=200")).json;
      return items
        .map(({ metric }: { metric: string }) => metric)
        .filter((metric: string) => metric.startsWith("refused."));
    };
    await vi.waitFor(
      async () =>
        expect((await refusals()).toSorted()).toEqual([
          "refused.backend-failed",
          "refused.budget-exceeded",
          "refused.budget-unattainable",
          "refused.device-lost",
          "refused.no-placement",
          "refused.overloaded",
          "refused.runner-offline",
        ]),
      BOUND,
    );
  });

  it("says how many predictions held, by placement and confidence", async () => {
    const [north] = sites;
    for (const confidence of [0.9, 0.92]) {
      const pending = at(north!, { confidence });
      await answerNext(north!);
      expect((await pending).status).toBe(200);
    }
    const read = async (query = "") =>
      PredictionCalibration.parse((await callEdge("GET", `/v1/history/calibration${query}`)).json).items;
    const nine = await vi.waitFor(async () => {
      const found = (await read("?model=predicted@1")).find(({ confidence }) => confidence === 0.9);
      expect(found?.requests).toBe(2);
      return found!;
    }, BOUND);
    expect(nine).toMatchObject({ variant: "fp32", backend: "ort-cpu", inTime: 2 });
    expect(nine.steps.reduce((sum, { requests }) => sum + requests, 0)).toBe(2);
    // However many points an hour has, it is one step.
    for (const { at: begin } of nine.steps) expect(Date.parse(begin) % 3_600_000).toBe(0);
    expect(nine.steps.length).toBeLessThanOrEqual(2);
    const ofMinutes = async () => (await read("?model=predicted@1&step=1m")).find((one) => one.confidence === 0.9);
    const unrolled = await ofMinutes();
    expect(unrolled).toMatchObject({ requests: 2 });
    while (!(await rollUp(mainEnv.DB, 10)).isDone);
    expect(await ofMinutes()).toEqual(unrolled);
    const others = await read(`?placement=${nine.placementId}&confidence=0.99`);
    expect(others).toMatchObject([{ placementId: nine.placementId, confidence: 0.99 }]);
    // Some attempts were refused by the runner; the best efforts are not judged.
    expect(others[0]!.inTime).toBeLessThan(others[0]!.requests);
    expect(await read("?model=nobody@1")).toEqual([]);
    expect(await read("?from=2099-01-01T00:00:00Z&to=2099-01-02T00:00:00Z")).toEqual([]);
    const reversed = await callEdge("GET", "/v1/history/calibration?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z");
    expect(pointersOf(reversed)).toEqual(["query/to"]);
  });
});

describe("a probe behind a request of another size than was measured", () => {
  it("counts at the measured size, of which its inputs are", async () => {
    const [north] = sites;
    const { runnerId } = north!.runner;
    const measured = (await readLivePlacements(openProject(mainEnv))).find((each) => each.runnerId === runnerId)!;
    const [larger] = fitRequest([measured], { rows: 1, elements: 64 });
    // No budget was named at this confidence, which would limit the times.
    const serviceMsAt = (placement: LivePlacement, nowMs = Date.now()) =>
      placementWatch.outlook(placement, 1, 0.995, nowMs).serviceMs;
    const before = [serviceMsAt(measured), serviceMsAt(larger!)];
    const inputs = [{ name: input, dtype: "float32" as const, shape: [-1, 4] }];
    const works: Promise<unknown>[] = [];
    const call = { env: mainEnv, waitUntil: (work: Promise<unknown>) => works.push(work) };
    const clock = stopClock();
    for (let sent = 0; sent < 6; sent++) {
      // Another probe of so slow a placement is due.
      clock.pass(5_000);
      probePlacement(call, larger!, inputs, "slow");
      expect(works).toHaveLength(sent + 1);
      const { offer } = await north!.scripted.nextInfer();
      const { requestId } = offer;
      const times = { queueMs: 0, uploadMs: 0, computeMs: 400, readbackMs: 0 };
      north!.scripted.socket.send(
        encodeFrame({ type: "inferResult", requestId, times, rows: 1, backlogMs: 0 }, outputs()),
      );
      await works[sent];
    }
    const laterMs = Date.now() + 60;
    expect(serviceMsAt(measured, laterMs)).toBeGreaterThan(2 * before[0]!);
    expect(serviceMsAt(larger!, laterMs)).toBeLessThan(1.5 * before[1]!);
  });
});

// Last: late answers change the predictions.
describe("a runner that is drained under a request", () => {
  it("answers it, and gets no other", async () => {
    const pending = infer();
    const [drained, other] = await whoWasAsked();
    const { offer } = await drained.scripted.nextInfer();
    await callEdge("POST", `/v1/runners/${drained.runner.runnerId}/drain`);
    await vi.waitFor(
      async () => expect(problemOf(await at(drained, { budgetMs: 0.1 })).code).toBe("runner-offline"),
      BOUND,
    );
    const next = infer();
    await answerNext(other);
    expect(InferReply.parse((await next).json).placement.runnerId).toBe(other.runner.runnerId);
    answer(drained, offer);
    expect(InferReply.parse((await pending).json).placement.runnerId).toBe(drained.runner.runnerId);
    await callEdge("POST", `/v1/runners/${drained.runner.runnerId}/resume`);
    await isReady(drained);
  });
});

// After all others, which would count as less late than usual.
describe("the time before the question", () => {
  it("is what requests took, so that a named budget has room for it", async () => {
    const call = { env: mainEnv, waitUntil: () => {}, scope: null };
    const wishes = { confidence: 0.99, refuseWithinMs: 0, minFidelity: 0, priority: 0, onMiss: "reject" as const };
    const tensors = [{ name: input, dtype: "float32" as const, shape: [1, 4], bytes: new Uint8Array(16) }];
    const asked = { ...wishes, model: "predicted", budgetMs: 2_000, tensors, pointerOf: () => "" };
    // As many as it takes beside the polls before. An admission that comes too late goes on behind the refusal.
    await vi.waitFor(async () => {
      const late = answerInference({ ...call, arrivedAtMs: Date.now() - 2_000 }, asked);
      expect(await late.catch((error: unknown) => error)).toBeInstanceOf(ProblemError);
      expect(placementWatch.spentMs(0.995, Date.now() + 60)).toBeGreaterThan(1_900);
    }, BOUND);
    expect(sites.flatMap(({ scripted }) => scripted.frames)).toEqual([]);
  });
});
