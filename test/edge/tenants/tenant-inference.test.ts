import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { openDatabase } from "../../../src/edge/store/database.ts";
import { savePlacement } from "../../../src/edge/store/fleet/placement-store.ts";
import type { InferOffer } from "../../../src/protocol/link.ts";
import { callEdge, createProject, pointersOf, problemOf, registerRunner } from "../stack/edge-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { calibrationResult } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { cartpole, variantOf } from "../stack/zoo.ts";

/** Two projects that serve a model of the same name, each on its own runner. */

interface Side {
  readonly secret: string;
  readonly runnerId: string;
  readonly scripted: ScriptedRunner;
  readonly modelId: string;
  readonly versionId: string;
  readonly placementId: string;
  readonly input: string;
  readonly output: string;
}

async function open(name: string, seed: number): Promise<Side> {
  const { secret: key } = await createProject(name);
  const runner = await registerRunner(name, key);
  const scripted = await ScriptedRunner.online(runner);
  const upload = (model: string) =>
    callEdge("POST", `/v1/models?name=${model}`, {
      key,
      body: variantOf(cartpole, seed),
      headers: { "content-type": "application/octet-stream" },
    });
  const { model, version } = (await upload("pole")).json;
  const named = (await upload(`only-${name}`)).json;
  for (const { id } of [version, named.version]) {
    const result = calibrationResult(id);
    await savePlacement(openDatabase(env.DB), runner.runnerId, result, result.placements[0]!);
  }
  await callEdge("POST", "/v1/profiles", { key, body: { name: `of-${name}`, requirements: {} } });
  const [placement] = (await callEdge("GET", "/v1/models/pole/placements", { key })).json.items;
  const [input, output] = [version.inputs[0].name, version.outputs[0].name];
  const { runnerId } = runner;
  return {
    secret: key,
    runnerId,
    scripted,
    modelId: model.id,
    versionId: version.id,
    placementId: placement.id,
    input,
    output,
  };
}

/** Longer than any pause of the machine. */
const BUDGET_MS = 60_000;

let left: Side;
let right: Side;
const infer = ({ secret: key, input }: Side, changes: object = {}) =>
  callEdge("POST", "/v1/infer", {
    key,
    body: { model: "pole", budgetMs: BUDGET_MS, inputs: { [input]: { data: [[1, 2, 3, 4]] } }, ...changes },
  });
const act = ({ secret: key }: Side, policy: string) =>
  callEdge("POST", `/v1/policies/${policy}/act`, { key, body: { observation: [1, 2, 3, 4], budgetMs: BUDGET_MS } });
const oip = ({ secret: key, input }: Side, model: string) =>
  callEdge("POST", `/v2/models/${model}/infer`, {
    key,
    body: {
      parameters: { budget_ms: BUDGET_MS },
      inputs: [{ name: input, shape: [1, 4], datatype: "FP32", data: [1, 2, 3, 4] }],
    },
  });
const codeOf = async (side: Side, changes: object) => problemOf(await infer(side, changes)).code;

/** Answers a side's runner's request, which is about its own model. */
async function answer({ scripted, output, versionId }: Side): Promise<InferOffer> {
  const { offer } = await scripted.nextInfer();
  expect(offer.modelVersionId).toBe(versionId);
  const bytes = new Uint8Array(Float32Array.of(0, 1).buffer);
  scripted.answer(offer, [{ name: output, dtype: "float32", shape: [1, 2], bytes }]);
  return offer;
}

beforeAll(async () => {
  left = await open("left", 1);
  right = await open("right", 2);
  for (const side of [left, right]) {
    await vi.waitFor(async () => expect(await codeOf(side, { budgetMs: 0.1 })).toBe("budget-unattainable"), BOUND);
  }
});

describe("a name that two projects have", () => {
  it("means one's own model and runner, in every protocol", async () => {
    for (const ask of [infer, (side: Side) => act(side, "pole"), (side: Side) => oip(side, "pole")]) {
      const replies = [ask(left), ask(right)];
      await Promise.all([answer(left), answer(right)]);
      for (const reply of await Promise.all(replies)) expect(reply.status).toBe(200);
    }
    for (const side of [left, right]) {
      const pending = infer(side);
      await answer(side);
      expect((await pending).json.placement).toMatchObject({ id: side.placementId, runnerId: side.runnerId });
    }
  });

  it("is described as one's own", async () => {
    const versionsOf = async ({ secret: key }: Side) =>
      (await callEdge("GET", "/v2/models/pole", { key })).json.versions;
    await callEdge("POST", "/v1/models?name=pole", {
      key: right.secret,
      body: variantOf(cartpole, 3),
      headers: { "content-type": "application/octet-stream" },
    });
    await expect.poll(() => versionsOf(right), BOUND).toEqual(["1", "2"]);
    expect(await versionsOf(left)).toEqual(["1"]);
  });
});

describe("what another project serves", () => {
  it("is no model, by name or id", async () => {
    for (const model of ["only-right", "only-right@1", right.modelId]) {
      expect(await codeOf(left, { model })).toBe("not-found");
      expect(problemOf(await act(left, model)).code).toBe("not-found");
      const ticket = await callEdge("POST", "/v1/tickets", { key: left.secret, body: { model, budgetMs: 50 } });
      expect(problemOf(ticket).code).toBe("not-found");
    }
    for (const path of ["", "/ready", "/stats", "/versions/1"]) {
      const at = `/v2/models/only-right${path}`;
      const { status, json } = await callEdge("GET", at, { key: left.secret });
      expect([status, json.error]).toEqual([400, expect.stringContaining("unknown model")]);
      expect((await callEdge("GET", at, { key: right.secret })).status).toBe(200);
    }
    expect((await oip(left, "only-right")).status).toBe(400);
    expect(right.scripted.frames).toEqual([]);
  });

  it("is no place for one's own model", async () => {
    expect(await codeOf(left, { runnerId: right.runnerId })).toBe("no-placement");
    expect(await codeOf(left, { placementId: right.placementId })).toBe("no-placement");
    for (const path of ["", "/sweep"]) {
      const found = await callEdge("GET", `/v1/placements/${right.placementId}${path}`, { key: left.secret });
      expect(problemOf(found).code).toBe("not-found");
    }
    const configured = await callEdge("PUT", `/v1/placements/${right.placementId}/configuration`, {
      key: left.secret,
      body: { threads: 1 },
    });
    expect(problemOf(configured).code).toBe("not-found");
  });

  it("is chosen by its own profiles alone", async () => {
    const fitting = infer(right, { profile: "of-right" });
    await answer(right);
    expect((await fitting).status).toBe(200);
    expect(pointersOf(await infer(left, { profile: "of-right" }))).toEqual(["#/profile"]);
  });
});
