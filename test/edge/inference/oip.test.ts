import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { threadShares } from "../../../src/edge/turns.ts";
import { OipInferReply, OipModel, OipServer, OipStats } from "../../../src/protocol/inference/oip.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import { callEdge, fetchEdge, type Reply, registerRunner } from "../stack/edge-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { calibrationResult } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { stopClock } from "../stack/stopped-clock.ts";
import { cartpole } from "../stack/zoo.ts";

/** The Open Inference Protocol from the caller's side; a scripted runner answers the requests. */

let scripted: ScriptedRunner;
let input = "";
let output = "";

const MODEL = "/v2/models/oip-cartpole";
const VALUES = [0.5, -1.5, 2, 4];
const floats = (values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);
const jsonInput = (changes: object = {}) => ({
  name: input,
  shape: [1, 4],
  datatype: "FP32",
  data: VALUES,
  ...changes,
});
const rawInput = (changes: object = {}) => ({
  name: input,
  shape: [1, 4],
  datatype: "FP32",
  parameters: { binary_data_size: 16 },
  ...changes,
});

function post(body: unknown, headers: Record<string, string> = {}, path = `${MODEL}/infer`): Promise<Reply> {
  return callEdge("POST", path, { body, headers });
}

function binaryBody(header: object, ...raw: Uint8Array[]) {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const body = new Uint8Array([json, ...raw].flatMap((part) => [...part]));
  return { body, headers: { "inference-header-content-length": String(json.byteLength) } };
}

async function pack(bytes: Uint8Array<ArrayBuffer>, encoding: "gzip" | "deflate"): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(
    await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream(encoding))).arrayBuffer(),
  );
}

/** Answers the next request with its input doubled, and returns the request. */
async function answerNext(batch = 1): Promise<{
  tensors: readonly Pick<Tensor, "name" | "dtype" | "shape">[];
  budgetMs: number;
  priority?: number | undefined;
  confidence: number;
  refuseWithinMs?: number | undefined;
}> {
  const { offer, payload } = await scripted.nextInfer();
  const values = new Float32Array(payload.slice().buffer);
  const answer: Tensor = {
    name: output,
    dtype: "float32",
    shape: [1, 2],
    bytes: floats([values[0]! * 2, values[3]! * 2]),
  };
  scripted.answer(offer, [answer], 0, batch);
  return offer;
}

/** Uploads the policy under a name, and has the runner calibrate it. */
async function place(name: string): Promise<Reply> {
  const headers = { "content-type": "application/octet-stream" };
  const uploaded = await callEdge("POST", `/v1/models?name=${name}`, { body: cartpole, headers });
  const isOurs = (id: string) => id === uploaded.json.version.id;
  let offer = await scripted.next("offer");
  while (offer.spec.kind !== "calibration" || !isOurs(offer.spec.modelVersionId)) offer = await scripted.next("offer");
  scripted.succeed(offer, calibrationResult(uploaded.json.version.id));
  expect((await scripted.next("jobSettled")).stored).toBe(true);
  await vi.waitFor(async () => expect((await fetchEdge("GET", `/v2/models/${name}/ready`)).status).toBe(200), BOUND);
  return uploaded;
}

beforeAll(async () => {
  scripted = await ScriptedRunner.online(await registerRunner());
  const uploaded = await place("oip-cartpole");
  input = uploaded.json.version.inputs[0].name;
  output = uploaded.json.version.outputs[0].name;
});

afterEach(() => vi.restoreAllMocks());

describe("what is there", () => {
  it("is readable without a key where it is of the server", async () => {
    for (const path of ["/v2/health/live", "/v2/health/ready"]) {
      const reply = await fetchEdge("GET", path, { key: null });
      expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/plain"]);
    }
    const server = OipServer.parse((await callEdge("GET", "/v2", { key: null })).json);
    expect(server.extensions).toEqual(["binary_tensor_data", "model_configuration", "statistics", "model_repository"]);
  });

  it("is readable for a model and for its versions", async () => {
    const model = OipModel.parse((await callEdge("GET", MODEL)).json);
    expect(model).toMatchObject({ name: "oip-cartpole", versions: ["1"], inputs: [{ name: input, datatype: "FP32" }] });
    expect(model.inputs[0]?.shape).toEqual([-1, 4]);
    expect((await callEdge("GET", `${MODEL}/versions/1`)).json).toEqual(model);
    expect((await fetchEdge("GET", `${MODEL}/versions/1/ready`)).status).toBe(200);
  });

  it("is 400 in the protocol's words where there is no such model, and 405 for a wrong verb", async () => {
    const message = "Request for unknown model: 'nobody' is not found";
    for (const path of ["", "/ready", "/stats"]) {
      expect(await callEdge("GET", `/v2/models/nobody${path}`)).toMatchObject({
        status: 400,
        json: { error: message },
      });
    }
    expect(await post({ inputs: [jsonInput()] }, {}, "/v2/models/nobody/infer")).toMatchObject({ status: 400 });
    expect(await callEdge("GET", `${MODEL}/versions/7`)).toMatchObject({ status: 400 });
    expect(await callEdge("GET", `${MODEL}/versions/x`)).toMatchObject({ status: 400 });
    const wrongVerb = await callEdge("DELETE", `${MODEL}/infer`);
    expect(wrongVerb.status).toBe(405);
    expect(wrongVerb.json.error).toContain("takes POST");
    expect((await callEdge("GET", MODEL, { key: null })).status).toBe(401);
  });
});

describe("an inference", () => {
  it("as JSON is answered as JSON, with its id and version", async () => {
    const pending = post({ id: "42", inputs: [jsonInput({ data: [VALUES] })], outputs: [{ name: output }] });
    expect((await answerNext()).tensors).toMatchObject([{ name: input, dtype: "float32", shape: [1, 4] }]);
    const { json } = await pending;
    expect(OipInferReply.parse(json)).toMatchObject({
      model_name: "oip-cartpole",
      model_version: "1",
      id: "42",
      outputs: [{ name: output, datatype: "FP32", shape: [1, 2], data: [1, 8] }],
    });
  });

  it.each([
    ["asked for all outputs", { parameters: { binary_data_output: true } }, true],
    ["asked for this output", { outputs: [{ name: "OUT", parameters: { binary_data: true } }] }, true],
    ["not asked for", {}, false],
  ])("in raw bytes is answered so where that was %s", async (_, changes, isBinary) => {
    const named = JSON.parse(JSON.stringify(changes).replace("OUT", output)) as object;
    const { body, headers } = binaryBody({ inputs: [rawInput()], ...named }, floats(VALUES));
    const pending = fetchEdge("POST", `${MODEL}/versions/1/infer`, { body, headers });
    await answerNext();
    const response = await pending;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const headerLength = Number(response.headers.get("inference-header-content-length") ?? bytes.byteLength);
    const [found] = OipInferReply.parse(JSON.parse(new TextDecoder().decode(bytes.slice(0, headerLength)))).outputs;
    if (!isBinary) return expect(found).toMatchObject({ data: [1, 8] });
    expect(found).toEqual({ name: output, datatype: "FP32", shape: [1, 2], parameters: { binary_data_size: 8 } });
    expect(bytes.slice(headerLength)).toEqual(floats([1, 8]));
  });

  it("of a raw body alone takes its shape from the model", async () => {
    const headers = { "inference-header-content-length": "0", "content-type": "application/octet-stream" };
    const pending = fetchEdge("POST", `${MODEL}/infer`, { body: floats([...VALUES, ...VALUES]), headers });
    expect((await answerNext()).tensors).toMatchObject([{ name: input, shape: [2, 4] }]);
    expect((await pending).status).toBe(200);
  });

  it.each(["gzip", "deflate"] as const)("may be packed by %s, and so may its answer", async (encoding) => {
    const { body, headers } = binaryBody({ inputs: [rawInput()] }, floats(VALUES));
    const packed = { ...headers, "content-encoding": encoding, "accept-encoding": encoding };
    const pending = fetchEdge("POST", `${MODEL}/infer`, { body: await pack(body, encoding), headers: packed });
    await answerNext();
    const response = await pending;
    expect(response.status).toBe(200);
    const bytes = new Uint8Array(await response.arrayBuffer());
    // The runtime's own client unpacks gzip by itself.
    const isPlain = bytes[0] === "{".charCodeAt(0);
    expect(response.headers.get("content-encoding")).toBe(encoding);
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(encoding));
    const plain = isPlain ? bytes : unpacked;
    expect(await new Response(plain).json()).toMatchObject({ outputs: [{ data: [1, 8] }] });
  });

  it.each([
    ["as JSON", {}, {}],
    ["as packed JSON", {}, { "accept-encoding": "deflate" }],
    ["in raw bytes", { parameters: { binary_data_output: true } }, {}],
  ])("with long outputs %s has all of them", async (_, wishes, headers) => {
    const values = Float32Array.from({ length: 40_000 }, (_value, at) => at / 3);
    const body = { inputs: [jsonInput()], ...wishes };
    const pending = fetchEdge("POST", `${MODEL}/infer`, { body, headers });
    const { offer } = await scripted.nextInfer();
    scripted.answer(offer, [{ name: output, dtype: "float32", shape: [20_000, 2], bytes: floats([...values]) }]);
    const response = await pending;
    const encoding = response.headers.get("content-encoding") as "deflate" | null;
    const unpacked = encoding === null ? response.body : response.body?.pipeThrough(new DecompressionStream(encoding));
    const bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
    const headerLength = response.headers.get("inference-header-content-length");
    if (headerLength !== null) return expect(bytes.slice(Number(headerLength))).toEqual(floats([...values]));
    expect(JSON.parse(new TextDecoder().decode(bytes)).outputs[0].data).toEqual([...values]);
  });

  it("has its latency in parts", async () => {
    const pending = post({ inputs: [jsonInput()] });
    await answerNext();
    const { parameters } = OipInferReply.parse((await pending).json);
    const { total_ms: totalMs, predicted_ms: _, ...parts } = parameters as Record<string, number>;
    expect(Object.keys(parts)).toEqual(["edge_ms", "link_ms", "queue_ms", "upload_ms", "compute_ms", "readback_ms"]);
    expect(Object.values(parts).every((part) => part >= 0 && Number.isFinite(part))).toBe(true);
    expect(totalMs).toBeGreaterThanOrEqual(parts["edge_ms"]!);
  });

  it("is bound by timeout in microseconds or by budget_ms, and 503 when that ends", async () => {
    const bounded = post({ inputs: [jsonInput()], parameters: { timeout: 90_000_000, priority: 1 } });
    const { budgetMs, priority } = await answerNext();
    expect(budgetMs).toBeLessThanOrEqual(90_000);
    // More than where none is named.
    expect(budgetMs).toBeGreaterThan(LIMITS.oipBudgetMs);
    expect(priority).toBe(LIMITS.maxPriority);
    await bounded;
    // A best effort is sent even if slow answers before it predict a miss.
    const late = post({ inputs: [jsonInput()], parameters: { budget_ms: 900, on_miss: "best-effort" } });
    await scripted.nextInfer();
    expect(await late).toMatchObject({ status: 503, json: { error: expect.stringContaining("budget") } });
    const shortest = () => post({ inputs: [jsonInput()], parameters: { timeout: 100 } });
    expect((await shortest()).status).toBe(503);
    // The edge probes a runner that let a request end, until an answer comes in time.
    await answerNext();
    await vi.waitFor(async () => {
      while (scripted.frames.length > 0) await answerNext();
      expect((await shortest()).json.error).toContain("the budget is 0.1 ms");
    }, BOUND);
  });

  it("has the confidence, the patience and the best effort that it asks for", async () => {
    const wishes = { budget_ms: 60_000, confidence: 0.75, refuse_within_ms: 40_000 };
    const sure = post({ inputs: [jsonInput()], parameters: wishes });
    const { confidence, refuseWithinMs } = await answerNext();
    expect(confidence).toBe(0.75);
    expect(refuseWithinMs).toBeGreaterThan(0);
    expect(refuseWithinMs).toBeLessThanOrEqual(40_000);
    expect((await sure).status).toBe(200);
    const trying = post({ inputs: [jsonInput()], parameters: { budget_ms: 60_000, on_miss: "best-effort" } });
    expect((await answerNext()).confidence).toBe(0);
    expect((await trying).status).toBe(200);
  });

  it("is counted in the statistics with its rows, batches and times, and calibrations are not", async () => {
    await place("oip-counted");
    const path = "/v2/models/oip-counted";
    let totalNs = 0;
    for (const [rows, batch] of [
      [1, 4],
      [3, 4],
      [1, 1],
    ] as const) {
      const data = Array.from({ length: rows }, () => VALUES);
      const pending = post({ inputs: [jsonInput({ shape: [rows, 4], data })] }, {}, `${path}/infer`);
      await answerNext(batch);
      totalNs += 1e6 * Number(OipInferReply.parse((await pending).json).parameters?.["total_ms"]);
    }
    const failing = post({ inputs: [jsonInput()] }, {}, `${path}/infer`);
    const { requestId } = (await scripted.nextInfer()).offer;
    scripted.send({ type: "inferFailed", requestId, problem: createProblem("backend-failed", "It broke.") });
    expect((await failing).status).toBe(503);
    const stats = OipStats.parse((await callEdge("GET", `${path}/stats`)).json).model_stats[0]!;
    const { success, fail, compute_infer } = stats.inference_stats;
    expect([success.count, fail.count, compute_infer.count]).toEqual([3, 1, 3]);
    // The first two were one batch.
    expect(stats).toMatchObject({ name: "oip-counted", version: "1", inference_count: 5, execution_count: 2 });
    const part = (ms: number) => ({ count: 3, ns: 3 * 1e6 * ms });
    expect(stats.inference_stats).toMatchObject({
      success: { count: 3, ns: totalNs },
      queue: part(0.1),
      compute_input: part(0.1),
      compute_infer: { count: 3, ns: expect.closeTo(6e5, -1) },
      compute_output: part(0.1),
    });
  });
});

it.each([
  ["long text ends the turn before it is parsed", "", 1],
  ["a long tensor in binary form, which is not parsed, ends none", "bytes", 0],
] as const)("%s", async (_, form, turns) => {
  const endedBy = vi.spyOn(threadShares, "isInference");
  const filler = new Uint8Array(LIMITS.jsonBodyBytes + 1);
  const text = { inputs: [{ ...jsonInput(), data: "x".repeat(filler.byteLength) }] };
  const { body, headers } = binaryBody({ inputs: [rawInput()] }, filler);
  // A turn that ends later asks for no inference that began a moment ago.
  stopClock();
  const refused = await (form === "bytes" ? post(body, headers) : post(text));
  expect(refused.status).toBe(400);
  const ended = endedBy.mock.calls.filter(([request]) => request instanceof Request);
  endedBy.mockRestore();
  expect(ended.length > 0 ? 1 : 0).toBe(turns);
});

describe("what is refused with 400", () => {
  const askedFor = (parameters: object) => ({ name: output, parameters });
  const cases = (): [string, unknown, Record<string, string>, string][] => [
    ["no JSON", "{", {}, "JSON"],
    ["no inputs", { inputs: [] }, {}, "#/inputs"],
    ["an unknown input", { inputs: [jsonInput({ name: "z" })] }, {}, "is not an input"],
    ["an unknown type", { inputs: [jsonInput({ datatype: "BF16" })] }, {}, "#/inputs/0/datatype"],
    ["another type", { inputs: [jsonInput({ datatype: "INT32", data: [1, 2, 3, 4] })] }, {}, "must be float32"],
    ["another shape", { inputs: [jsonInput({ shape: [4] })] }, {}, "must have the shape"],
    ["too few elements", { inputs: [jsonInput({ data: [1] })] }, {}, "#/inputs/0/data"],
    ["no number", { inputs: [jsonInput({ data: [1, 2, 3, "x"] })] }, {}, "element 3"],
    ["an unknown output", { inputs: [jsonInput()], outputs: [{ name: "z" }] }, {}, "unexpected inference output 'z'"],
    ["neither data nor bytes", { inputs: [jsonInput({ data: undefined })] }, {}, "either data or"],
    ["bytes that are not there", { inputs: [rawInput()] }, {}, "binary_data_size"],
    ["shared memory", { inputs: [jsonInput({ parameters: { shared_memory_region: "r" } })] }, {}, "shared memory"],
    [
      "shared memory",
      { inputs: [jsonInput()], outputs: [askedFor({ shared_memory_region: "r" })] },
      {},
      "shared memory",
    ],
    ["classes", { inputs: [jsonInput()], outputs: [askedFor({ classification: 2 })] }, {}, "classified"],
    ["a priority that is none", { inputs: [jsonInput()], parameters: { priority: -1 } }, {}, "priority"],
    [
      "more objects than would fit a memory",
      `{"inputs": [{"data": [${"{},".repeat(2 ** 21)}{}]}]}`,
      {},
      "objects, arrays and fields",
    ],
    ["a sequence", { inputs: [jsonInput()], parameters: { sequence_id: 3 } }, {}, "sequence"],
    [
      "a confidence that is none",
      { inputs: [jsonInput()], parameters: { confidence: 1 } },
      {},
      "#/parameters/confidence",
    ],
    [
      "a patience that is none",
      { inputs: [jsonInput()], parameters: { refuse_within_ms: -1 } },
      {},
      "refuse_within_ms",
    ],
    ["a miss that is none", { inputs: [jsonInput()], parameters: { on_miss: "wait" } }, {}, "#/parameters/on_miss"],
    ["a budget that is none", { inputs: [jsonInput()], parameters: { budget_ms: "fast" } }, {}, "budget_ms"],
    [
      "a header length that lies",
      { inputs: [jsonInput()] },
      { "inference-header-content-length": "99999" },
      "content-length",
    ],
    [
      "a header length that is none",
      { inputs: [jsonInput()] },
      { "inference-header-content-length": "-1" },
      "content-length",
    ],
    ["what is not gzip", { inputs: [jsonInput()] }, { "content-encoding": "gzip" }, "gzip"],
  ];

  it("names its place each time, and reaches no runner", async () => {
    for (const [what, body, headers, text] of cases()) {
      const reply = await post(body, headers);
      expect(reply.status, what).toBe(400);
      expect(reply.json.error, what).toContain(text);
      expect(Object.keys(reply.json)).toEqual(["error"]);
    }
    expect(scripted.frames).toEqual([]);
  });

  it("is raw bytes of another length, and bytes behind the last tensor", async () => {
    for (const [size, raw] of [
      [16, 12],
      [12, 12],
      [16, 20],
      [2 ** 40, 16],
    ] as const) {
      const { body, headers } = binaryBody(
        { inputs: [rawInput({ parameters: { binary_data_size: size } })] },
        new Uint8Array(raw),
      );
      expect((await post(body, headers)).status).toBe(400);
    }
    const huge = { inputs: [rawInput({ shape: [2 ** 40, 4], parameters: { binary_data_size: 16 } })] };
    const { body, headers } = binaryBody(huge, floats(VALUES));
    expect((await post(body, headers)).status).toBe(400);
  });

  it("is 415 for an encoding that is not known, which names those that are", async () => {
    const reply = await post({ inputs: [jsonInput()] }, { "content-encoding": "br" });
    expect([reply.status, reply.headers.get("accept-encoding")]).toEqual([415, "gzip, deflate, identity"]);
    expect(reply.json.error).toContain("not br");
  });

  it("is not a parameter of the query, which other servers may know", async () => {
    expect((await callEdge("GET", `${MODEL}?surprise=1&surprise=2`)).status).toBe(200);
  });

  it("names an input that is missing", async () => {
    const reply = await post({ inputs: [{ ...jsonInput(), name: "other" }] });
    expect(reply.status).toBe(400);
    expect(reply.json.error).toContain("lacks the input observation, float32 [-1, 4]");
  });

  it("is 413 for what unpacks to more than a body may hold", async () => {
    const packed = await pack(new Uint8Array(LIMITS.inferBodyBytes + 1), "gzip");
    expect((await post(packed, { "content-encoding": "gzip" })).status).toBe(413);
  });
});
