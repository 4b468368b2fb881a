import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import type { ComputeReplyHeader } from "../../protocol/inference/compute.ts";
import { HrrFrameHeader, HrrRequest } from "../../protocol/inference/hrr.ts";
import { FRAME_MEDIA_TYPE } from "../../protocol/inference/inference.ts";
import { encodeFrame } from "../../protocol/wire/frame.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { heavyPlaces } from "../heavy-places.ts";
import { answerTensors } from "../http/write-json.ts";
import { readTensorRequest } from "./inference/read-tensor-request.ts";
import { askCompute, type ComputeAnswer, type ComputeQuestion } from "../services/ask-compute.ts";
import { planHrr, symbolKeys } from "../services/hrr-operations.ts";
import { isLargeSearch, rememberItems, searchItems } from "../services/item-memories.ts";
import { deleteUnnamed } from "../store/artifact-store.ts";
import { openProject } from "../store/database.ts";
import {
  createItemMemory,
  deleteItemMemory,
  describeItemMemory,
  listItemMemories,
  readItemMemory,
} from "../store/kernels/item-memory-store.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";

export function bindItemMemories(app: Hono<AppEnv>): void {
  bind(app, endpoints.createItemMemory, async ({ env, body }) => {
    const created = await createItemMemory(openProject(env), body);
    if (created === "full") throw await quotaExceeded(env, { itemMemories: 1 });
    if (created === "taken") {
      const errors = [{ pointer: "#/name", message: "is taken" }];
      throw new ProblemError("conflict", `There is an item memory ${body.name} already.`, { errors });
    }
    return created;
  });
  bind(app, endpoints.listItemMemories, ({ env, query }) => listItemMemories(openProject(env), query));
  bind(app, endpoints.getItemMemory, async ({ env, params: { name } }) =>
    mustFind(name, await describeItemMemory(openProject(env), name)),
  );
  bind(app, endpoints.deleteItemMemory, async ({ env, params: { name } }) => {
    const digests = mustFind(name, await deleteItemMemory(openProject(env), name));
    await deleteUnnamed(env.DB, env.ARTIFACTS, digests);
    return new Response(null, { status: 204 });
  });

  bind(app, endpoints.addItems, async ({ c, env, params: { name }, body }) => {
    const db = openProject(env);
    await rememberItems(env, mustFind(name, await readItemMemory(db, name)), body, c.get("arrivedAtMs"));
    return mustFind(name, await describeItemMemory(db, name));
  });
  bind(app, endpoints.searchItems, async ({ c, env, params: { name }, body, gone, waitUntil }) => {
    const memory = mustFind(name, await readItemMemory(openProject(env), name));
    const search = () => searchItems(env, memory, body, c.get("arrivedAtMs"));
    if (!isLargeSearch(memory, body)) return search();
    return heavyPlaces.doIn({ project: env.project, gone, waitUntil }, search);
  });
}

function mustFind<Found>(name: string, found: Found | null): Found {
  if (found === null) throw new ProblemError("not-found", `There is no item memory ${name}.`);
  return found;
}

/** Holographic reduced representations: an operation is a kernel of the runners. */
export function bindHrr(app: Hono<AppEnv>): void {
  bind(app, endpoints.encodeSymbols, async ({ c, env, body }) => {
    const { symbols, dimension, seed, ...wishes } = body;
    const shape = { symbols: symbols.length, dimension };
    const tensors = [await symbolKeys(symbols, seed)];
    const question = { ...wishes, kernel: "hrr-encode", shape, seed: 0, resident: [], tensors, key: symbols[0]! };
    const answer = await askCompute(env, question, c.get("arrivedAtMs"));
    return toJson(question, shapeOutputs(answer, [symbols.length, dimension]));
  });

  bind(app, endpoints.computeHrr, async ({ c, env, params: { operation } }) => {
    const { form, input } = await readTensorRequest<Omit<HrrRequest, "inputs">>(c.req.raw, {
      json: HrrRequest,
      frame: HrrFrameHeader,
    });
    const { budgetMs, runnerId, labels, seed } = input;
    const planned = planHrr(operation, input.tensors, input.dimension, input.pointerOf);
    if (!planned.ok) throw invalidRequest(planned.errors);
    const { kernel, shape, tensors, outputShape } = planned.plan;
    const question = {
      budgetMs,
      runnerId,
      labels,
      kernel,
      shape,
      seed,
      resident: [],
      tensors,
      key: crypto.randomUUID(),
    };
    const answer = shapeOutputs(await askCompute(env, question, c.get("arrivedAtMs")), outputShape);
    if (form === "json") return toJson(question, answer);
    const { tensors: outputs, ...computed } = answer;
    const header = { ...computed, kernel, budgetMs } satisfies Omit<ComputeReplyHeader, "tensors">;
    return new Response(encodeFrame(header, outputs), { headers: { "content-type": FRAME_MEDIA_TYPE } });
  });
}

/** Runners send outputs flat. */
function shapeOutputs(answer: ComputeAnswer, shape: readonly number[]): ComputeAnswer {
  return { ...answer, tensors: answer.tensors.map((tensor): Tensor => ({ ...tensor, shape: [...shape] })) };
}

function toJson({ kernel, budgetMs }: Pick<ComputeQuestion, "kernel" | "budgetMs">, answer: ComputeAnswer): Response {
  const { tensors, ...computed } = answer;
  return answerTensors(tensors, (outputs) => ({ ...computed, kernel, budgetMs, outputs }));
}
