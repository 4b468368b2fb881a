import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openProject } from "../../../src/edge/store/database.ts";
import { addKernel } from "../../../src/edge/store/kernels/kernel-store.ts";
import type { BenchmarkResult } from "../../../src/protocol/jobs/benchmark.ts";
import type { Leaderboard } from "../../../src/protocol/kernels/leaderboard.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { createProblem, type ProblemCode } from "../../../src/protocol/wire/problem.ts";
import { KernelInput } from "../../../src/protocol/kernels/submitted-kernel.ts";
import {
  byNumber,
  callEdge,
  countStored,
  createKey,
  mainEnv,
  missingId,
  pointersOf,
  problemOf,
  type Sent,
} from "../stack/edge-client.ts";
import { competitor, expecting, ownReference } from "../stack/kernel-samples.ts";
import { newOnlineRunner, newRunner, readJob, submitJob } from "../stack/queue-client.ts";
import { benchmarkResult, capabilities, distribution } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

let names = 0;
/** A submission that no other test makes. */
const fresh = <Body extends object>(body: Body) => ({ ...body, name: `kernel-${names++}` });
const submit = (body: object, sent: Sent = {}) => callEdge("POST", "/v1/kernels", { body, ...sent });
const read = async (id: string) => (await callEdge("GET", `/v1/kernels/${id}`)).json;
const samples = (milliseconds: number, count: number = LIMITS.rankedIterations) =>
  distribution(Array.from({ length: count }, (_, index) => milliseconds + index / 1_000));

async function submitted(body: object, sent: Sent = {}) {
  const reply = await submit(body, sent);
  expect(reply.json).toMatchObject({ state: "unchecked" });
  expect(reply.status).toBe(201);
  return reply.json;
}

/** Runs a job of a kernel on a scripted runner, with the result that a test wants. */
async function run(scripted: ScriptedRunner, kernel: string, changes: Partial<BenchmarkResult> = {}): Promise<void> {
  await submitJob({ kernel });
  const offer = await scripted.next("offer");
  const variant = kernel === "triad" ? "plain" : "submitted";
  scripted.succeed(offer, { ...benchmarkResult(), kernel, variant, wallMs: samples(2), ...changes });
  expect(await scripted.next("jobSettled")).toMatchObject({ stored: true });
}

/** Passes the check of a new kernel for the runner. */
async function passCheck(scripted: ScriptedRunner, kernel: string, changes: Partial<BenchmarkResult> = {}) {
  const offer = await scripted.next("offer");
  scripted.succeed(offer, { ...benchmarkResult(), kernel, variant: "submitted", wallMs: samples(9), ...changes });
  await scripted.next("jobSettled");
  return offer;
}

describe("a submission", () => {
  it("without a runner waits unchecked, and is checked by the first that can", async () => {
    const body = fresh(ownReference);
    const reply = await submit(body);
    expect(reply.status).toBe(201);
    expect(reply.json).toMatchObject({ state: "unchecked", checkJobId: null, reference: reply.json.id });
    expect(problemOf(await submit(fresh(competitor))).code).toBe("unknown-kernel");
    expect(
      problemOf(await callEdge("POST", "/v1/jobs", { body: { kind: "benchmark", kernel: reply.json.id } })).code,
    ).toBe("unknown-kernel");
    const { scripted } = await newOnlineRunner();
    const again = await submit(body);
    expect(again.status).toBe(200);
    expect(again.json.checkJobId).toMatch(/^job_/);
    expect((await scripted.next("offer")).lease.jobId).toBe(again.json.checkJobId);
  });

  it("is stored once, says where it is, and queues one benchmark that checks it", async () => {
    const { scripted } = await newOnlineRunner();
    const body = fresh(competitor);
    const replies = await Promise.all([1, 2, 3].map(() => submit(body)));
    expect(replies.map(({ status }) => status).toSorted(byNumber)).toEqual([200, 200, 201]);
    const [first] = replies;
    expect(new Set(replies.map(({ json }) => json.id)).size).toBe(1);
    expect(first?.headers.get("location")).toBe(`/v1/kernels/${first?.json.id}`);
    const kernel = await read(first?.json.id);
    expect(kernel).toMatchObject({ state: "unchecked", problem: null, reference: "triad", dtype: "float32" });
    expect(kernel.definition).toMatchObject({ ...body, limits: { timeoutMs: 30_000, maxBytes: LIMITS.kernelBytes } });
    expect(await readJob(kernel.checkJobId)).toMatchObject({
      spec: { kernel: kernel.id, reference: "triad", iterations: LIMITS.rankedIterations, timeoutMs: 30_000 },
    });
    const offer = await scripted.next("offer");
    expect(offer.lease.jobId).toBe(kernel.checkJobId);
    expect(offer.program).toEqual({ id: kernel.id, definition: kernel.definition, reference: null });
    expect(scripted.received.filter(({ type }) => type === "offer")).toEqual([]);
  });

  it("is its key's own: another key gets another kernel", async () => {
    await newOnlineRunner();
    const body = fresh(competitor);
    const keys = await Promise.all([createKey(["submit"]), createKey(["submit"])]);
    const kernels = await Promise.all(keys.map(({ secret }) => submitted(body, { key: secret })));
    expect(kernels.map(({ owner }) => owner)).toEqual(keys.map(({ id }) => id));
    expect(new Set(kernels.map(({ digest }) => digest)).size).toBe(1);
    expect(new Set(kernels.map(({ id }) => id)).size).toBe(2);
  });

  it("beyond what a key may have is a conflict", async () => {
    const { id, secret } = await createKey(["submit"]);
    await env.DB.prepare(
      `insert into kernels (id, project, owner_id, digest, name, description, dtype, dimensions, reference, state, definition, created_at_ms)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
       select 'krn_' || printf('%026d', i) || ?1, 'main', ?1, i, 'x', '', 'float32', '[]', 'triad', 'valid', '{}', 1 from n`,
    )
      .bind(id, LIMITS.kernelsPerKey - 1)
      .run();
    const body = fresh(ownReference);
    expect((await submit(body, { key: secret })).status).toBe(201);
    const beyond = await submit(fresh(ownReference), { key: secret });
    expect(problemOf(beyond).code).toBe("conflict");
    expect((await submit(body, { key: secret })).status).toBe(200);
    await env.DB.prepare("delete from kernels where owner_id = ?").bind(id).run();
  });
});

describe("a submission to compete with a kernel that is deleted meanwhile", () => {
  it("is not stored", async () => {
    const { tolerance: _, reference: __, ...definition } = KernelInput.parse(fresh(ownReference));
    const reference = missingId.kernel;
    const rival = { ...definition, reference: { kind: "kernel", kernel: reference } } as const;
    const before = await countStored();
    expect(
      await addKernel(openProject(mainEnv), { ownerId: "key", definition: rival, dtype: "float32", reference }),
    ).toBeNull();
    expect(await countStored()).toEqual(before);
  });
});

describe("a submission that is wrong", () => {
  const dimension = competitor.dimensions[0]!;
  const [b, c, a] = competitor.bindings;
  const pass = (workgroups: unknown) => ({ passes: [{ entryPoint: "main", workgroups }] });
  const cases: [string, object, string[]][] = [
    ["an unknown field", { ...competitor, colour: 1 }, ["#/colour"]],
    ["an unknown field inside", { ...competitor, bindings: [{ ...b, size: 1 }, c, a] }, ["#/bindings/0/size"]],
    ["no WGSL", { ...competitor, wgsl: "" }, ["#/wgsl"]],
    ["too much WGSL", { ...competitor, wgsl: " ".repeat(LIMITS.kernelWgslLength + 1) }, ["#/wgsl"]],
    ["no pass", { ...competitor, passes: [] }, ["#/passes"]],
    ["too many passes", { ...competitor, passes: Array(17).fill(competitor.passes[0]) }, ["#/passes"]],
    ["code for a count", { ...competitor, ...pass(["n / 64"]) }, ["#/passes/0/workgroups/0"]],
    ["an unknown operation", { ...competitor, ...pass([{ power: ["n", 2] }]) }, ["#/passes/0/workgroups/0"]],
    ["one operand", { ...competitor, ...pass([{ min: ["n"] }]) }, ["#/passes/0/workgroups/0/min"]],
    ["an unknown size", { ...competitor, ...pass([{ ceilDiv: ["m", 64] }]) }, ["#/passes/0/workgroups/0"]],
    ["a name of every object", { ...competitor, ...pass(["constructor"]) }, ["#/passes/0/workgroups/0"]],
    ["four counts", { ...competitor, ...pass([1, 1, 1, 1]) }, ["#/passes/0/workgroups"]],
    ["too many workgroups", { ...competitor, ...pass([1, { multiply: ["n", 64] }]) }, ["#/passes/0/workgroups/1"]],
    ["a division by zero", { ...competitor, ...pass([{ ceilDiv: ["n", 0] }]) }, ["#/passes/0/workgroups/0"]],
    [
      "too deep a count",
      { ...competitor, ...pass([{ add: [{ add: [{ add: [{ add: ["n", 1] }, 1] }, 1] }, 1] }]) },
      ["#/passes/0/workgroups/0"],
    ],
    [
      "too many constants",
      { ...competitor, constants: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`c${i}`, i])) },
      ["#/constants"],
    ],
    ["no dimension", { ...competitor, dimensions: [] }, ["#/dimensions"]],
    [
      "bounds in the wrong order",
      { ...competitor, dimensions: [{ ...dimension, min: 9, max: 8 }] },
      ["#/dimensions/0/max"],
    ],
    [
      "a default out of bounds",
      { ...competitor, dimensions: [{ ...dimension, default: 10 ** 6 }] },
      ["#/dimensions/0/default"],
    ],
    ["a dimension twice", { ...competitor, dimensions: [dimension, dimension] }, ["#/dimensions/1/name"]],
    ["a binding twice", { ...competitor, bindings: [b, b, a] }, ["#/bindings/1/name"]],
    ["too many bindings", { ...competitor, bindings: Array(9).fill(a) }, ["#/bindings"]],
    ["nothing written", { ...competitor, bindings: [b, c] }, ["#/bindings"]],
    ["no elements", { ...competitor, bindings: [{ ...b, extents: [0] }, c, a] }, ["#/bindings/0/extents/0"]],
    [
      "an alignment of another rank",
      { ...competitor, bindings: [{ ...b, alignment: [1, 4] }, c, a] },
      ["#/bindings/0/alignment"],
    ],
    [
      "bytes that fill no word",
      { ...competitor, bindings: [{ ...b, dtype: "int8", alignment: [2] }, c, a] },
      ["#/bindings/0/alignment"],
    ],
    ["too little memory", { ...competitor, limits: { maxBytes: 12_287 } }, ["#/limits/maxBytes"]],
    ["too much memory", { ...competitor, limits: { maxBytes: LIMITS.kernelBytes + 1 } }, ["#/limits/maxBytes"]],
    ["too long a time", { ...competitor, limits: { timeoutMs: LIMITS.kernelTimeoutMs + 1 } }, ["#/limits/timeoutMs"]],
    ["a tolerance of its own", { ...competitor, tolerance: { relative: 1, absolute: 1 } }, ["#/tolerance"]],
    [
      "inputs of its own",
      { ...competitor, bindings: ownReference.bindings },
      ["#/bindings/0/fill", "#/bindings/1/fill"],
    ],
    ["no tolerance", { ...ownReference, tolerance: undefined }, ["#/tolerance"]],
    ["no inputs", { ...ownReference, bindings: competitor.bindings }, ["#/bindings/0/fill", "#/bindings/1/fill"]],
    [
      "a filled output",
      {
        ...ownReference,
        bindings: ownReference.bindings.with(2, { ...ownReference.bindings[0]!, name: "a", access: "write" }),
      },
      ["#/bindings/2/fill"],
    ],
    ["outputs of several sizes", { ...expecting, dimensions: [dimension] }, ["#/dimensions/0/max"]],
    [
      "too few outputs",
      { ...expecting, reference: { ...expecting.reference, outputs: { a: [1] } } },
      ["#/reference/outputs/a"],
    ],
    [
      "outputs of nobody",
      { ...expecting, reference: { ...expecting.reference, outputs: { a: [1, 2], z: [1] } } },
      ["#/reference/outputs/z"],
    ],
    [
      "missing inputs",
      { ...expecting, reference: { ...expecting.reference, inputs: { b: [1, 2] } } },
      ["#/reference/inputs/c"],
    ],
    [
      "a number that f32 has not",
      { ...expecting, reference: { ...expecting.reference, inputs: { b: [1, 2], c: [1e39, 1] } } },
      ["#/reference/inputs/c/0"],
    ],
    [
      "too many numbers",
      {
        ...expecting,
        dimensions: [{ name: "n", min: 8_192, max: 8_192, default: 8_192 }],
        reference: {
          kind: "expected",
          inputs: { b: Array(8_192).fill(0), c: Array(8_192).fill(0) },
          outputs: { a: Array(8_192).fill(0) },
        },
      },
      ["#/reference"],
    ],
    [
      "a wider bound than its reference",
      { ...competitor, dimensions: [{ ...dimension, max: 2 ** 30 }] },
      ["#/dimensions/0/max"],
    ],
    [
      "other dimensions than its reference",
      { ...competitor, dimensions: [dimension, { ...dimension, name: "m" }] },
      ["#/dimensions/1/name"],
    ],
    [
      "other bindings than its reference",
      { ...competitor, bindings: [{ ...b, name: "d" }, c, a] },
      ["#/bindings", "#/bindings/0/name"],
    ],
    [
      "another element type than its reference",
      { ...competitor, bindings: [b, c, { ...a, dtype: "int32" }] },
      ["#/bindings/2/dtype"],
    ],
    [
      "another access than its reference",
      { ...competitor, bindings: [b, { ...c, access: "write" }, a] },
      ["#/bindings/1/access"],
    ],
  ];

  it("is refused by the field, and nothing is written", async () => {
    await newOnlineRunner();
    const before = await countStored();
    for (const [what, body, pointers] of cases) {
      const reply = await submit(body);
      expect(problemOf(reply).code, what).toBe("invalid-request");
      expect(pointersOf(reply), what).toEqual(pointers);
    }
    expect(await countStored()).toEqual(before);
  });

  it("is no different for scratch, which is a kernel's own", async () => {
    await newOnlineRunner();
    const scratch = { name: "room", access: "scratch", dtype: "int32", extents: [{ multiply: ["n", 2] }] };
    expect((await submit(fresh({ ...competitor, bindings: [...competitor.bindings, scratch] }))).status).toBe(201);
  });
});

describe("a job of a submitted kernel", () => {
  it("is checked against its own dimensions, type and memory", async () => {
    await newOnlineRunner();
    const { id } = await submitted(fresh({ ...competitor, limits: { maxBytes: 12 * 2_048 } }));
    const cases: [object, string[]][] = [
      [{ shape: { n: 2 ** 17 } }, ["#/shape/n"]],
      [{ shape: { m: 1 } }, ["#/shape/m"]],
      [{ shape: { n: 2_049 } }, ["#/shape"]],
      [{ dtype: "int8" }, ["#/dtype"]],
      [{ variant: "plain" }, ["#/variant"]],
      [{ reference: "triad" }, ["#/reference"]],
    ];
    for (const [changes, pointers] of cases) {
      const reply = await callEdge("POST", "/v1/jobs", { body: { kind: "benchmark", kernel: id, ...changes } });
      expect(problemOf(reply).code).toBe("invalid-request");
      expect(pointersOf(reply)).toEqual(pointers);
    }
    const unknown = { kind: "benchmark", kernel: missingId.kernel };
    expect(problemOf(await callEdge("POST", "/v1/jobs", { body: unknown })).code).toBe("unknown-kernel");
  });

  it("waits for a runner that takes such kernels and has the reference", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitted(fresh(competitor));
    await passCheck(scripted, id);
    scripted.socket.close(1000, "bye");
    const { userKernels: _, ...older } = capabilities;
    const without = { ...capabilities, kernels: [{ ...capabilities.kernels[0]!, name: "other" }] };
    for (const hello of [older, without]) {
      const runner = await newRunner();
      const idle = await ScriptedRunner.connect(runner);
      idle.send({ type: "hello", capabilities: hello, running: [] });
      await idle.next("welcome");
      const { id: jobId } = await submitJob({ kernel: id, runnerId: runner.runnerId });
      idle.send({ type: "heartbeat", running: [] });
      idle.send({ type: "echo", id: 1 });
      await idle.next("echoReply");
      expect((await readJob(jobId)).state).toBe("queued");
      expect(idle.received).toEqual([]);
    }
  });

  it("comes with the program of its reference, where that was submitted too", async () => {
    const { scripted } = await newOnlineRunner();
    const reference = await submitted(fresh(ownReference));
    await passCheck(scripted, reference.id);
    const rival = await submitted(fresh({ ...competitor, reference: { kind: "kernel", kernel: reference.id } }));
    expect(rival.reference).toBe(reference.id);
    const { program } = await passCheck(scripted, rival.id);
    expect(program?.reference).toEqual({ id: reference.id, definition: reference.definition });
    const third = await submit(fresh({ ...competitor, reference: { kind: "kernel", kernel: rival.id } }));
    expect(pointersOf(third)).toEqual(["#/reference/kernel"]);
    expect(problemOf(await callEdge("DELETE", `/v1/kernels/${reference.id}`)).code).toBe("conflict");
  });

  it("shows in the kernel's record what is wrong with it, until a run is right", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitted(fresh(competitor));
    const fail = async (code: ProblemCode, detail: string) => {
      const { lease } = await scripted.next("offer");
      scripted.send({ type: "jobOutcome", lease, outcome: { ok: false, problem: createProblem(code, detail) } });
      await scripted.next("jobSettled");
    };
    await fail("device-lost", "It was unplugged.");
    expect(await read(id)).toMatchObject({ state: "unchecked", problem: null });
    await fail("kernel-quarantined", "It failed too often here.");
    expect(await read(id)).toMatchObject({ state: "unchecked", problem: null });
    await fail("kernel-invalid", "mine.wgsl:3:7: unresolved value");
    expect(await read(id)).toMatchObject({
      state: "invalid",
      problem: { code: "kernel-invalid", detail: "mine.wgsl:3:7: unresolved value" },
    });
    await run(scripted, id);
    expect(await read(id)).toMatchObject({ state: "valid", problem: null });
    await submitJob({ kernel: id });
    await fail("kernel-timeout", "It took too long.");
    expect(await read(id)).toMatchObject({ state: "valid", problem: null });
  });
});

describe("the list", () => {
  it("has the announced kernels first, then the submitted ones, newest first, by pages", async () => {
    await newOnlineRunner();
    const first = await submitted(fresh(competitor));
    const second = await submitted(fresh(ownReference));
    const page = (await callEdge("GET", "/v1/kernels?limit=1")).json;
    expect(page.items).toMatchObject([
      { name: "halves", source: "announced" },
      { name: "triad", source: "announced", variants: ["plain"] },
      { id: second.id, source: "submitted", reference: second.id, state: "unchecked", variants: ["submitted"] },
    ]);
    expect(JSON.stringify(page)).not.toContain("workgroup_size");
    const next = (await callEdge("GET", `/v1/kernels?limit=1&cursor=${encodeURIComponent(page.nextCursor)}`)).json;
    expect(next.items).toMatchObject([{ id: first.id, name: first.definition.name, owner: "bootstrap" }]);
  });
});

describe("deleting", () => {
  it("is for the owner and for admins, and takes the standings along", async () => {
    const { scripted } = await newOnlineRunner();
    const [owner, other] = [await createKey(["submit"]), await createKey(["submit"])];
    const { id } = await submitted(fresh(competitor), { key: owner.secret });
    await passCheck(scripted, id, { shape: { n: 77 } });
    const remove = (key?: string) => callEdge("DELETE", `/v1/kernels/${id}`, key === undefined ? {} : { key });
    expect(problemOf(await remove(other.secret)).code).toBe("forbidden");
    expect((await remove(owner.secret)).status).toBe(204);
    expect(problemOf(await remove(owner.secret)).code).toBe("not-found");
    expect((await callEdge("GET", "/v1/kernels/triad/leaderboard?shape=n=77")).json.boards).toEqual([]);
    const theirs = await submitted(fresh(competitor), { key: other.secret });
    expect((await callEdge("DELETE", `/v1/kernels/${theirs.id}`)).status).toBe(204);
  });

  it("leaves a job that waits without its program", async () => {
    const runner = await newOnlineRunner();
    await callEdge("POST", `/v1/runners/${runner.runnerId}/drain`);
    const { id, checkJobId } = await submitted(fresh(competitor));
    await callEdge("DELETE", `/v1/kernels/${id}`);
    await callEdge("POST", `/v1/runners/${runner.runnerId}/resume`);
    const offer = await runner.scripted.next("offer");
    expect(offer.lease.jobId).toBe(checkJobId);
    expect(offer.program).toBeUndefined();
  });
});

describe("a leaderboard", () => {
  const board = async (query: string): Promise<Leaderboard> =>
    (await callEdge("GET", `/v1/kernels/triad/leaderboard?${query}`)).json;

  it("ranks each kernel's best run beside ours, by median and with its interval", async () => {
    const { scripted } = await newOnlineRunner();
    const shape = { n: 501 };
    const [fast, slow] = [await submitted(fresh(competitor)), await submitted(fresh(competitor))];
    await passCheck(scripted, fast.id, { shape, wallMs: samples(5) });
    await passCheck(scripted, slow.id, { shape, wallMs: samples(3) });
    await run(scripted, "triad", { shape, wallMs: samples(2) });
    await run(scripted, fast.id, { shape, wallMs: samples(1) });
    await run(scripted, fast.id, { shape, wallMs: samples(4) });
    await run(scripted, "triad", { shape, wallMs: samples(0.1, LIMITS.rankedIterations - 1) });
    const { boards, truncated } = await board("shape=n=501");
    expect(truncated).toBe(false);
    expect(boards).toHaveLength(1);
    expect(boards[0]).toMatchObject({ shape, dtype: "float32", clock: "runner-wall", device: { software: true } });
    expect(boards[0]?.entries.map(({ rank, kernel, name, variant }) => [rank, kernel, name, variant])).toEqual([
      [1, fast.id, fast.definition.name, "submitted"],
      [2, "triad", "triad", "plain"],
      [3, slow.id, slow.definition.name, "submitted"],
    ]);
    for (const { medianMs, interval, iterations, runId } of boards[0]?.entries ?? []) {
      expect(interval.lowMs).toBeLessThanOrEqual(medianMs * 1.005);
      expect(interval.highMs).toBeGreaterThanOrEqual(medianMs * 0.995);
      expect(iterations).toBe(LIMITS.rankedIterations);
      expect(runId).toMatch(/^run_/);
    }
    const cut = await board("shape=n=501&limit=2");
    expect(cut.truncated).toBe(true);
    expect(cut.boards[0]?.entries).toHaveLength(2);
  });

  it("is the same by the id of a kernel that competes", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitted(fresh(competitor));
    await passCheck(scripted, id, { shape: { n: 551 } });
    const ofRival = await callEdge("GET", `/v1/kernels/${id}/leaderboard?shape=n=551`);
    expect(ofRival.json).toEqual(await board("shape=n=551"));
    expect(ofRival.json.boards).toHaveLength(1);
  });

  it("shows each run's share of the roof on the board of the clock that it was measured by", async () => {
    const { scripted } = await newOnlineRunner();
    const roofline = {
      arithmeticIntensity: 2,
      roof: 100,
      unit: "GFLOP/s",
      shareOfRoof: 0.31,
      bound: "memory",
      peakGflops: 400,
      peakGigabytesPerSecond: 50,
      measuredAt: null,
      note: null,
    } as const;
    await run(scripted, "triad", { shape: { n: 621 }, gpuMs: samples(0.5), clock: "gpu-timestamp", roofline });
    await run(scripted, "triad", { shape: { n: 622 } });
    const { boards } = await board("shape=n=621");
    expect(boards.map(({ clock, entries }) => [clock, entries[0]?.shareOfRoof])).toEqual([
      ["gpu-timestamp", 0.31],
      ["runner-wall", null],
    ]);
    expect((await board("shape=n=622")).boards[0]?.entries[0]?.shareOfRoof).toBeNull();
  });

  it("is full without kernels that were deleted while they ran", async () => {
    const { scripted } = await newOnlineRunner();
    const shape = { n: 571 };
    await run(scripted, "triad", { shape, wallMs: samples(9) });
    const { id } = await submitted(fresh(competitor));
    const offer = await scripted.next("offer");
    await callEdge("DELETE", `/v1/kernels/${id}`);
    scripted.succeed(offer, { ...benchmarkResult(), kernel: id, variant: "submitted", wallMs: samples(1), shape });
    await scripted.next("jobSettled");
    const { boards, truncated } = await board("shape=n=571&limit=1");
    expect(boards[0]?.entries.map(({ rank, kernel }) => [rank, kernel])).toEqual([[1, "triad"]]);
    expect(truncated).toBe(false);
  });

  it("keeps devices, shapes and clocks apart", async () => {
    const { scripted } = await newOnlineRunner();
    const { environment } = benchmarkResult();
    const real = { ...environment, software: false, fingerprint: { ...environment.fingerprint, adapter: "real" } };
    const timed = { gpuMs: samples(0.5), clock: "gpu-timestamp" } as const;
    await run(scripted, "triad", { shape: { n: 601 } });
    await run(scripted, "triad", { shape: { n: 601 }, environment: real, ...timed });
    await run(scripted, "triad", { shape: { n: 602 }, gpuMs: samples(0.5) });
    const { boards } = await board("shape=n=601");
    expect(boards.map(({ clock, device }) => `${clock} ${device.software}`).toSorted()).toEqual([
      "gpu-timestamp false",
      "runner-wall false",
      "runner-wall true",
    ]);
    const device = boards.find((candidate) => candidate.device.software)?.device.id;
    expect((await board(`shape=n=601&device=${device}`)).boards).toHaveLength(1);
    expect((await board("shape=n=601&clock=gpu-timestamp")).boards).toHaveLength(1);
    // Timestamps that the result did not trust give no ranks.
    expect((await board("shape=n=602")).boards.map(({ clock }) => clock)).toEqual(["runner-wall"]);
  });

  it("of an unknown kernel is not there, of a new one empty", async () => {
    await newOnlineRunner();
    for (const kernel of ["nobody", missingId.kernel]) {
      expect(problemOf(await callEdge("GET", `/v1/kernels/${kernel}/leaderboard`)).code).toBe("not-found");
    }
    const { id } = await submitted(fresh(ownReference));
    expect((await callEdge("GET", `/v1/kernels/${id}/leaderboard`)).json).toEqual({
      kernel: id,
      boards: [],
      truncated: false,
    });
  });
});
