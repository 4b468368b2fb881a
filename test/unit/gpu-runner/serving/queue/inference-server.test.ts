import { describe, expect, it, vi } from "vitest";
import {
  type InferenceBackend,
  InferenceServer,
  type ServerRequest,
} from "../../../../../src/gpu-runner/serving/queue/inference-server.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";
import { ProblemError } from "../../../../../src/protocol/wire/problem.ts";
import { type Tensor, typedView } from "../../../../../src/protocol/wire/tensor.ts";

type Outcome = Awaited<ReturnType<InferenceBackend["infer"]>>;
interface Call {
  readonly modelKey: string;
  readonly tensors: readonly Tensor[];
  readonly requestId: string;
  readonly finish: (tensors?: Tensor[]) => void;
  readonly fail: (error: Error) => void;
}

const row = (...values: number[]): Tensor => ({
  name: "x",
  dtype: "float32",
  shape: [values.length],
  bytes: new Uint8Array(Float32Array.from(values).buffer),
});
const valuesOf = (tensors: readonly Tensor[] | undefined) => Array.from(typedView(tensors![0]!), Number);
const codeOf = (error: unknown) => (error instanceof ProblemError ? error.problem.code : String(error));

/** A backend whose calls end when the test says so, on a clock that the test turns. */
function scriptServer() {
  const clock = { nowMs: 1_000 };
  const calls: Call[] = [];
  /** Ends of the server's waits, in their order. */
  const waits: { readonly end: () => void; readonly signal: AbortSignal }[] = [];
  const server = new InferenceServer(
    {
      infer: (modelKey, tensors, { requestId }) =>
        new Promise<Outcome>((resolve, reject) => {
          const finish = (outputs: Tensor[] = [...tensors]) =>
            resolve({ tensors: outputs, times: { uploadMs: 1, computeMs: 2, readbackMs: 0 } });
          calls.push({ modelKey, tensors, requestId, finish, fail: reject });
        }),
    },
    () => clock.nowMs,
    (_, signal) => new Promise((resolve) => waits.push({ end: () => resolve(null), signal })),
  );
  const serve = (requestId: string, budgetMs: number, changes: Partial<ServerRequest> = {}, tensors = [row(1)]) => {
    const request = { requestId, modelVersionId: "ver_x", variant: "fp32", budgetMs, joins: true, ...changes };
    const answer = server.serve(request, tensors);
    answer.catch(() => undefined);
    return answer;
  };
  /** The call with this number, once it has come. */
  const call = (number: number) => vi.waitFor(() => calls[number] ?? Promise.reject(new Error("no such call")), 10_000);
  /** Ends a call after a time on the clock. */
  const finish = async (number: number, afterMs = 0, outputs?: Tensor[]) => {
    const { finish: end } = await call(number);
    clock.nowMs += afterMs;
    end(outputs);
  };
  /** Teaches the server that requests of one row last this long, and batches of two half as long again. */
  const learn = async (durationMs: number) => {
    for (let time = 0; time < 4; time++) {
      const answer = serve(`one${time}`, 60_000);
      await finish(calls.length - 1, durationMs);
      await answer;
    }
    calls.length = 0;
  };
  return { server, clock, calls, waits, serve, call, finish, learn };
}

describe("the server of a device", () => {
  it("runs one batch at a time, the earliest deadline first", async () => {
    const { serve, calls, finish } = scriptServer();
    const alone = { joins: false };
    const answers = [
      serve("first", 60_000, alone),
      serve("late", 50_000, alone),
      serve("early", 10_000, alone),
      serve("middle", 20_000, alone),
    ];
    for (const number of [0, 1, 2, 3]) {
      await finish(number);
      expect(calls.length).toBe(number + 1);
    }
    await Promise.all(answers);
    expect(calls.map(({ requestId }) => requestId)).toEqual(["first", "early", "middle", "late"]);
    expect(calls[0]?.modelKey).toBe("ver_x/fp32");
  });

  it("joins what waits, by rows, and gives each its own", async () => {
    const { serve, calls, finish, learn } = scriptServer();
    await learn(10);
    const running = serve("running", 60_000);
    const [one, two] = [serve("a", 60_000, {}, [row(5)]), serve("b", 60_000, {}, [row(7)])];
    await finish(0, 10);
    expect(await running).toMatchObject({ rows: 1, backlogMs: 20 });
    await finish(1, 15);
    expect(calls[1]?.tensors).toMatchObject([{ name: "x", shape: [2] }]);
    const [first, second] = await Promise.all([one, two]);
    expect([valuesOf(first.tensors), valuesOf(second.tensors)]).toEqual([[5], [7]]);
    expect(first).toMatchObject({ rows: 2, backlogMs: 0 });
    expect(first.times).toEqual({ queueMs: 10, uploadMs: 1, computeMs: 2, readbackMs: 12 });
    expect(first.faults).toBeUndefined();
  });

  it("joins nothing but requests of one variant that are alike but for their rows, and may be joined", async () => {
    const { serve, calls, finish, learn } = scriptServer();
    await learn(10);
    void serve("running", 60_000);
    const wide: Tensor = { name: "x", dtype: "float32", shape: [1, 2], bytes: new Uint8Array(8) };
    const others = [
      serve("a", 60_000),
      serve("b", 60_000, { variant: "int8" }),
      serve("c", 60_000, {}, [wide]),
      serve("d", 60_000, { joins: false }),
      serve("e", 60_000, {}, [wide, { ...row(1, 2), name: "y" }]),
    ];
    for (let number = 0; number <= others.length; number++) await finish(number, 10);
    expect((await Promise.all(others)).map(({ rows }) => rows)).toEqual([1, 1, 1, 1, 1]);
    expect(calls).toHaveLength(6);
  });

  it("refuses at once what would be late, and says when to come again", async () => {
    const { serve, calls, finish, learn } = scriptServer();
    await learn(10);
    const running = serve("running", 60_000);
    const refused = await serve("tight", 15).catch((error: ProblemError) => error.problem);
    expect(refused).toMatchObject({ code: "overloaded", retryAfterMs: 10 });
    await finish(0, 10);
    await running;
    expect(await serve("hopeless", 5).then(String, codeOf)).toBe("overloaded");
    expect(calls).toHaveLength(1);
  });

  it("refuses at once a request no better off than a refused one, until the next batch begins", async () => {
    const { serve, clock, finish, learn } = scriptServer();
    await learn(10);
    const running = serve("running", 60_000);
    expect(await serve("tight", 15).then(String, codeOf)).toBe("overloaded");
    clock.nowMs += 4;
    const refused = await serve("tighter", 11).catch((error: ProblemError) => error.problem);
    expect(refused).toMatchObject({ code: "overloaded", retryAfterMs: 6 });
    const longer = serve("longer", 40);
    const important = serve("important", 16, { priority: 1 });
    await finish(0, 6);
    await running;
    const next = serve("next", 40);
    await finish(1, 10);
    await finish(2, 10);
    await Promise.all([longer, important, next]);
  });

  it("tries after a silence what it refused before, and learns from it", async () => {
    const { serve, clock, finish, learn } = scriptServer();
    await learn(10);
    expect(await serve("early", 5).then(String, codeOf)).toBe("overloaded");
    clock.nowMs += 101;
    const trial = serve("trial", 5);
    await finish(0, 1);
    expect((await trial).rows).toBe(1);
  });

  it("tries one line after the other, whatever shapes callers send", async () => {
    const { serve, clock, calls, finish, learn } = scriptServer();
    await learn(10);
    const first = serve("known", 60_000, { variant: "int8" });
    await finish(0, 10);
    await first;
    clock.nowMs += 101;
    const trial = serve("trial", 5);
    await finish(1, 1);
    await trial;
    expect(await serve("at once", 5, { variant: "int8" }).then(String, codeOf)).toBe("overloaded");
    clock.nowMs += 101;
    const later = serve("later", 5, { variant: "int8" });
    await finish(2, 1);
    await later;
    expect(calls).toHaveLength(3);
  });

  it("decides late about a request that can wait for a refusal", async () => {
    const { server, serve, clock, calls, waits, finish, learn } = scriptServer();
    await learn(10);
    const patient = { refuseWithinMs: 14 };
    const running = serve("running", 60_000);
    const lucky = serve("lucky", 15, patient);
    expect(await serve("firm", 15).then(String, codeOf)).toBe("overloaded");
    expect(server.waiting).toBe(1);
    // The batch ends five milliseconds before the time that is expected of it.
    await finish(0, 5);
    await running;
    await finish(1, 10);
    expect(await lucky).toMatchObject({ rows: 1 });
    expect(server.waiting).toBe(0);

    const late = serve("late", 60_000);
    const refused = serve("refused", 15, patient);
    const cancelled = serve("cancelled", 15, patient);
    server.cancel("cancelled");
    expect(await cancelled.then(String, codeOf)).toBe("budget-exceeded");
    clock.nowMs += 14;
    for (const { end } of waits) end();
    expect(await refused.then(String, codeOf)).toBe("overloaded");
    await finish(calls.length - 1, 1);
    await late;
  });

  it("ends the timer of a request that is decided or cancelled before", async () => {
    const { server, serve, waits, finish, learn } = scriptServer();
    await learn(10);
    const patient = { refuseWithinMs: 14 };
    void serve("running", 60_000);
    const lucky = serve("lucky", 15, patient);
    void serve("cancelled", 15, patient);
    expect(waits.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    server.cancel("cancelled");
    expect(waits.map(({ signal }) => signal.aborted)).toEqual([false, true]);
    await finish(0, 5);
    await finish(1, 10);
    await lucky;
    expect(waits.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  it("leaves no device idle while one waits undecided that could be answered, however many others cannot", async () => {
    const { server, serve, finish, learn } = scriptServer();
    await learn(10);
    const patient = { refuseWithinMs: 14 };
    const running = serve("running", 60_000);
    for (let number = 0; number < 40; number++) void serve(`tight${number}`, 15, patient);
    const loose = serve("loose", 18, patient);
    await finish(0, 7);
    await running;
    expect([server.computing, server.waiting]).toEqual([1, 0]);
    await finish(1, 10);
    expect(await loose).toMatchObject({ rows: 1 });
  });

  it("gives the places of those whose budget ran out to those that wait undecided", async () => {
    const { server, serve, finish, learn } = scriptServer();
    await learn(10);
    const capped = { variant: "int8", maxInFlight: 1 };
    const running = serve("running", 60_000);
    const over = serve("over", 100, capped);
    const patient = serve("patient", 1_000, { ...capped, refuseWithinMs: 1_000 });
    expect(server.waiting).toBe(2);
    await finish(0, 101);
    await running;
    expect(await over.then(String, codeOf)).toBe("budget-exceeded");
    expect(server.computing).toBe(1);
    await finish(1, 10);
    await patient;
  });

  it("decides once more where the time for a refusal is over", async () => {
    const { server, serve, clock, waits, finish, learn } = scriptServer();
    await learn(10);
    const alone = { joins: false };
    const running = serve("running", 60_000);
    void serve("before", 20, alone);
    const patient = serve("patient", 25, { ...alone, refuseWithinMs: 5 });
    expect(waits).toHaveLength(1);
    server.cancel("before");
    clock.nowMs += 5;
    waits[0]!.end();
    await finish(0, 5);
    await running;
    await finish(1, 10);
    expect(await patient).toMatchObject({ rows: 1 });
  });

  it("answers what turned out to be doomed before anything is computed", async () => {
    const { serve, calls, finish, learn } = scriptServer();
    await learn(10);
    const running = serve("running", 60_000);
    const doomed = serve("doomed", 100);
    await finish(0, 95);
    await running;
    expect(await doomed.then(String, codeOf)).toBe("budget-exceeded");
    expect(calls).toHaveLength(1);
  });

  it("refuses what is less important where something else needs its place", async () => {
    const { serve, calls, finish, learn } = scriptServer();
    await learn(10);
    const alone = { joins: false };
    const running = serve("running", 60_000);
    const plain = serve("plain", 25, alone);
    const important = serve("important", 24, { ...alone, priority: 1 });
    expect(await plain.then(String, codeOf)).toBe("overloaded");
    await finish(0, 10);
    await finish(1, 10);
    await Promise.all([running, important]);
    expect(calls.map(({ requestId }) => requestId)).toEqual(["running", "important"]);
  });

  it("drops what was cancelled while it waits, and finishes what runs", async () => {
    const { server, serve, calls, finish } = scriptServer();
    const running = serve("running", 60_000);
    const waiting = serve("waiting", 60_000);
    server.cancel("waiting");
    server.cancel("running");
    server.cancel("unknown");
    expect(await waiting.then(String, codeOf)).toBe("budget-exceeded");
    await finish(0);
    expect(valuesOf((await running).tensors)).toEqual([1]);
    expect(calls).toHaveLength(1);
  });
});

describe("a batch that fails", () => {
  const broken = new ProblemError("backend-failed", "It cannot.");
  const lost = (detail: string) => new ProblemError("device-lost", detail);

  it("alone is refused, and the next goes on", async () => {
    const { serve, call, finish } = scriptServer();
    const first = serve("first", 60_000);
    const next = serve("next", 60_000);
    (await call(0)).fail(broken);
    expect(await first.then(String, codeOf)).toBe("backend-failed");
    await finish(1);
    expect((await next).faults).toBeUndefined();
  });

  /** A batch of two under way. */
  async function runTwo() {
    const scripted = scriptServer();
    await scripted.learn(10);
    void scripted.serve("running", 60_000);
    const two = [scripted.serve("a", 50_000), scripted.serve("b", 60_000)] as const;
    await scripted.finish(0, 10);
    await scripted.call(1);
    return { ...scripted, two };
  }

  it("is computed again one by one, so that only the one to blame fails", async () => {
    const { two, call, calls, finish } = await runTwo();
    (await call(1)).fail(broken);
    (await call(2)).fail(broken);
    await finish(3);
    expect(await two[0].then(String, codeOf)).toBe("backend-failed");
    expect(await two[1]).toMatchObject({ rows: 1 });
    expect(calls.slice(1).map(({ tensors }) => tensors[0]?.shape)).toEqual([[2], [1], [1]]);
  });

  it("is computed one by one, too, where its outputs were not rows", async () => {
    const { two, finish } = await runTwo();
    await finish(1, 10, [row(1)]);
    await finish(2);
    await finish(3);
    expect(await Promise.all(two)).toMatchObject([{ rows: 1 }, { rows: 1 }]);
  });

  it("for want of the device is run once more, one by one, and says so", async () => {
    const { two, call, finish } = await runTwo();
    (await call(1)).fail(lost("It died."));
    await finish(2);
    (await call(3)).fail(lost("It died again."));
    expect((await two[0]).faults).toEqual([{ code: "device-lost", detail: "It died.", action: "retried" }]);
    expect(await two[1].then(String, codeOf)).toBe("device-lost");
  });

  it("is not computed again for a caller that has left", async () => {
    const { serve, call, calls, finish } = scriptServer();
    const caller = new AbortController();
    const left = serve("left", 60_000, { signal: caller.signal });
    const next = serve("next", 60_000);
    const running = await call(0);
    caller.abort();
    running.fail(lost("It died."));
    expect(await left.then(String, codeOf)).toBe("device-lost");
    await finish(1);
    await next;
    expect(calls.map(({ requestId }) => requestId)).toEqual(["left", "next"]);
  });
});

describe("a probe", () => {
  const probe = { isProbe: true };

  it("goes behind all that wait, by itself, and pushes out none", async () => {
    const { serve, calls, finish, learn } = scriptServer();
    await learn(10);
    const answers = [
      serve("running", 60_000),
      serve("probe", 1_000, probe),
      serve("one", 60_000),
      serve("two", 60_000),
    ];
    for (const number of [0, 1, 2]) await finish(number, 10);
    await Promise.all(answers);
    // Two waited together; the probe's earlier deadline helped it nothing.
    expect(calls.map(({ requestId }) => requestId)).toEqual(["running", "one", "probe"]);
    expect(calls.map(({ tensors }) => tensors[0]?.shape[0])).toEqual([1, 2, 1]);
  });

  it("leaves its place in a full queue to a request, and gets none there", async () => {
    const { server, clock, serve } = scriptServer();
    for (let number = 0; number < LIMITS.deviceQueueRequests; number++) void serve(`request${number}`, 60_000);
    const probing = serve("probe", 60_000, probe);
    void serve("last", 60_000);
    await expect(probing).rejects.toThrow("more important");
    await expect(serve("another", 60_000, probe)).rejects.toThrow("As much waits");
    expect(server.meter.cut(clock.nowMs)).toMatchObject({ requests: LIMITS.deviceQueueRequests + 1, refused: 0 });
  });

  it("counts nowhere and teaches nothing", async () => {
    const { server, clock, serve, calls, finish, learn } = scriptServer();
    await learn(10);
    server.meter.cut(clock.nowMs);
    for (let number = 0; number < 8; number++) {
      const probing = serve(`probe${number}`, 60_000, probe);
      expect(server.waiting).toBe(0);
      await finish(number, 500);
      await probing;
    }
    // Ten milliseconds are expected as before.
    const answer = serve("request", 20);
    await finish(8, 10);
    await answer;
    expect(calls).toHaveLength(9);
    const { queueMs, ...counted } = server.meter.cut(clock.nowMs);
    expect(queueMs.count).toBe(1);
    expect(counted).toEqual({
      requests: 1,
      refused: 0,
      errors: 0,
      batches: 1,
      rows: 1,
      busyMs: 10,
      computeMs: 2,
      transferMs: 1,
      longestWaiting: 0,
    });
  });

  it("takes no place of those that a model's cap leaves", async () => {
    const { serve, finish } = scriptServer();
    const probing = serve("probe", 60_000, probe);
    const answer = serve("request", 60_000, { maxInFlight: 1 });
    await finish(0);
    await finish(1);
    await expect(Promise.all([probing, answer])).resolves.toHaveLength(2);
  });
});

describe("what is counted of a queue", () => {
  it("is who came, was refused and failed, and how long they waited", async () => {
    const { server, clock, serve, call, finish, learn } = scriptServer();
    await learn(10);
    server.meter.cut(clock.nowMs);
    const alone = { joins: false };
    const running = serve("running", 60_000, alone);
    const waiting = [serve("one", 60_000, alone), serve("two", 60_000, alone)];
    await expect(serve("hopeless", 1)).rejects.toThrow("longer here now");
    expect(server.waiting).toBe(2);
    clock.nowMs += 5;
    // The batch that is under way counts by its part.
    expect(server.meter.cut(clock.nowMs)).toMatchObject({
      requests: 4,
      refused: 1,
      batches: 0,
      busyMs: 5,
      longestWaiting: 2,
    });
    await finish(0, 5);
    await running;
    (await call(1)).fail(new ProblemError("backend-failed", "broken"));
    await finish(2, 10);
    await Promise.allSettled(waiting);
    clock.nowMs += 100;
    const { queueMs, ...counted } = server.meter.cut(clock.nowMs);
    expect(counted).toMatchObject({
      requests: 0,
      errors: 1,
      batches: 2,
      rows: 2,
      busyMs: 15,
      computeMs: 4,
      longestWaiting: 0,
    });
    expect(queueMs).toMatchObject({ count: 2, min: 0, max: 10 });
  });
});

describe("a configuration", () => {
  it("has its model asked for under its threads, and its batches no larger than its rows", async () => {
    const { serve, calls, finish, learn } = scriptServer();
    await learn(10);
    const configuration = { maxRows: 1, maxInFlight: null };
    const answers = ["running", "a", "b"].map((id) => serve(id, 60_000, configuration));
    const threaded = serve("c", 60_001, { threads: 4 });
    for (let number = 0; number <= answers.length; number++) await finish(number, 10);
    // Without the cap the two that waited would have been one batch.
    expect((await Promise.all([...answers, threaded])).map(({ rows }) => rows)).toEqual([1, 1, 1, 1]);
    expect(calls.map(({ modelKey }) => modelKey)).toEqual([
      "ver_x/fp32",
      "ver_x/fp32",
      "ver_x/fp32",
      "ver_x/fp32/threads-4",
    ]);
  });

  it("lets no more requests of a model wait and run than it says, until one is answered", async () => {
    const { serve, finish, learn } = scriptServer();
    await learn(10);
    const configuration = { maxInFlight: 2 };
    const running = serve("running", 60_000, configuration);
    const waiting = serve("waiting", 60_000, configuration);
    const refused = await serve("third", 60_000, configuration).catch((error: ProblemError) => error.problem);
    expect(refused).toMatchObject({ code: "overloaded", retryAfterMs: 20 });
    // Another model, and the same under other threads, have nothing to do with it.
    const others = [serve("other", 60_000, { variant: "int8" }), serve("threads", 60_000, { threads: 2 })];
    await finish(0, 10);
    await running;
    const next = serve("next", 60_000, configuration);
    expect(await serve("fifth", 60_000, configuration).then(String, codeOf)).toBe("overloaded");
    const all = Promise.all([waiting, next, ...others]);
    for (let number = 1; number <= 3; number++) await finish(number, 10);
    expect((await all).map(({ rows }) => rows)).toEqual([2, 2, 1, 1]);
  });

  it("that is left is waited for until nothing of its model waits or runs", async () => {
    const { server, serve, finish } = scriptServer();
    let isSettled = false;
    const answers = [serve("running", 60_000), serve("waiting", 60_000, { joins: false })];
    const other = serve("other", 70_000, { threads: 2 });
    const settled = server.settled("ver_x/fp32").then(() => (isSettled = true));
    await finish(0, 10);
    await answers[0];
    await new Promise(setImmediate);
    expect(isSettled).toBe(false);
    await finish(1, 10);
    await settled;
    await finish(2, 10);
    await other;
    await server.settled("ver_x/fp32/threads-2");
  });
});
