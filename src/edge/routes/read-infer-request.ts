import { decodeFrame, splitTensors } from "../../protocol/frame.ts";
import { FRAME_MEDIA_TYPE, InferFrameHeader, InferRequest } from "../../protocol/inference.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type FieldError, toPointerPart } from "../../protocol/problem.ts";
import { type Tensor, tensorFromJson } from "../../protocol/tensor.ts";
import { invalidRequest, parseInput, unsupportedMediaType } from "../http/bind.ts";
import { mediaTypeOf, parseJson, readBody } from "../http/read-body.ts";
import type { InferInput } from "./admit-request.ts";

export type InferForm = "json" | "frame";

/** Reads an inference request from its body; every mistake is an `invalid-request` that names its place. */
export async function readInferRequest(request: Request): Promise<{ form: InferForm; input: InferInput }> {
  const mediaType = mediaTypeOf(request);
  const body = await readBody(request, LIMITS.inferBodyBytes);
  if (mediaType === FRAME_MEDIA_TYPE) return { form: "frame", input: readFrameForm(body) };
  if (mediaType === "application/json") return { form: "json", input: readJsonForm(parseJson(body)) };
  throw unsupportedMediaType(mediaType, ["application/json", FRAME_MEDIA_TYPE]);
}

function readJsonForm(json: unknown): InferInput {
  const { inputs, ...wishes } = parseInput(InferRequest, json);
  const errors: FieldError[] = [];
  const tensors: Tensor[] = [];
  const pointerOf = (name: string) => (name === "" ? "#/inputs" : `#/inputs/${toPointerPart(name)}`);
  for (const [name, input] of Object.entries(inputs)) {
    const read = tensorFromJson(name, input);
    if (read.ok) tensors.push(read.tensor);
    else errors.push({ pointer: pointerOf(name), message: read.message });
  }
  if (errors.length > 0) throw invalidRequest(errors);
  return { ...wishes, tensors, pointerOf };
}

function readFrameForm(body: Uint8Array): InferInput {
  const decoded = decodeFrame(body);
  if (!decoded.ok) throw invalidRequest([{ pointer: "#", message: decoded.message }]);
  const { tensors: headers, ...wishes } = parseInput(InferFrameHeader, decoded.header);
  const split = splitTensors(headers, decoded.payload);
  if (!split.ok) throw invalidRequest([{ pointer: "#/tensors", message: split.message }]);
  const pointerOf = (name: string) => {
    const index = headers.findIndex((tensor) => tensor.name === name);
    return index < 0 ? "#/tensors" : `#/tensors/${index}`;
  };
  return { ...wishes, tensors: split.tensors, pointerOf };
}
