import type { Hono } from "hono";
import { type ComputeReply, type ComputeReplyHeader } from "../../protocol/compute.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { encodeFrame } from "../../protocol/frame.ts";
import { HrrFrameHeader, HrrRequest } from "../../protocol/hrr.ts";
import { FRAME_MEDIA_TYPE } from "../../protocol/inference.ts";
import { type Tensor, tensorToJson } from "../../protocol/tensor.ts";
import { askCompute, type ComputeAnswer, type ComputeQuestion } from "../compute/ask-compute.ts";
import { planHrr } from "../compute/hrr-operations.ts";
import { symbolKeys } from "../compute/symbol-keys.ts";
import { type AppEnv, bind, invalidRequest } from "../http/bind.ts";
import { readTensorRequest } from "./read-tensor-request.ts";

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

function toJson(
  { kernel, budgetMs }: Pick<ComputeQuestion, "kernel" | "budgetMs">,
  answer: ComputeAnswer,
): ComputeReply {
  const { tensors, ...computed } = answer;
  const outputs = Object.fromEntries(tensors.map((tensor) => [tensor.name, tensorToJson(tensor)]));
  return { ...computed, kernel, budgetMs, outputs };
}
