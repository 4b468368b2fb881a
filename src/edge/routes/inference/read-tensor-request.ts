import type { z } from "zod";
import { decodeFrame, splitTensors } from "../../../protocol/wire/frame.ts";
import { FRAME_MEDIA_TYPE } from "../../../protocol/inference/inference.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { invalidRequest, parseInput, unsupportedMediaType } from "../../../protocol/wire/parse-input.ts";
import { type FieldError, toPointerPart } from "../../../protocol/wire/problem.ts";
import { type JsonTensor, type Tensor, type TensorHeader, tensorFromJson } from "../../../protocol/wire/tensor.ts";
import { mediaTypeOf, parseLongJson, readBody } from "../../http/read-body.ts";

/** Format of a request and of its reply. */
export type TensorForm = "json" | "frame";

/** A request with its tensors, and the place of each in the request ("" for all of them). */
export type TensorInput<Wishes> = Wishes & {
  readonly tensors: Tensor[];
  readonly pointerOf: (name: string) => string;
};

/** Reads a request with tensors, as JSON or as a frame; each error is an `invalid-request` with its place. */
export async function readTensorRequest<Wishes>(
  request: Request,
  schemas: {
    readonly json: z.ZodType<Wishes & { inputs: Record<string, JsonTensor> }>;
    readonly frame: z.ZodType<Wishes & { tensors: TensorHeader[] }>;
  },
): Promise<{ form: TensorForm; input: TensorInput<Wishes> }> {
  const mediaType = mediaTypeOf(request);
  const body = await readBody(request, LIMITS.inferBodyBytes);
  if (mediaType === FRAME_MEDIA_TYPE) return { form: "frame", input: readFrameForm(schemas.frame, body) };
  if (mediaType === "application/json") {
    const json = await parseLongJson(request, body);
    return { form: "json", input: readJsonForm(schemas.json, json) };
  }
  throw unsupportedMediaType(mediaType, ["application/json", FRAME_MEDIA_TYPE]);
}

/** The same for a route that accepts frames only. */
export async function readFrameRequest<Wishes>(
  request: Request,
  schema: z.ZodType<Wishes & { tensors: TensorHeader[] }>,
): Promise<TensorInput<Wishes>> {
  const mediaType = mediaTypeOf(request);
  const body = await readBody(request, LIMITS.inferBodyBytes);
  if (mediaType !== FRAME_MEDIA_TYPE) throw unsupportedMediaType(mediaType, [FRAME_MEDIA_TYPE]);
  return readFrameForm(schema, body);
}

function readJsonForm<Wishes>(
  schema: z.ZodType<Wishes & { inputs: Record<string, JsonTensor> }>,
  json: unknown,
): TensorInput<Wishes> {
  const { inputs, ...wishes } = parseInput(schema, json);
  const errors: FieldError[] = [];
  const tensors: Tensor[] = [];
  const pointerOf = (name: string) => (name === "" ? "#/inputs" : `#/inputs/${toPointerPart(name)}`);
  for (const [name, input] of Object.entries(inputs)) {
    const read = tensorFromJson(name, input);
    if (read.ok) tensors.push(read.tensor);
    else errors.push({ pointer: pointerOf(name), message: read.message });
  }
  if (errors.length > 0) throw invalidRequest(errors);
  return { ...(wishes as unknown as Wishes), tensors, pointerOf };
}

function readFrameForm<Wishes>(
  schema: z.ZodType<Wishes & { tensors: TensorHeader[] }>,
  body: Uint8Array,
): TensorInput<Wishes> {
  const decoded = decodeFrame(body);
  if (!decoded.ok) throw invalidRequest([{ pointer: "#", message: decoded.message }]);
  const { tensors: headers, ...wishes } = parseInput(schema, decoded.header);
  const split = splitTensors(headers, decoded.payload);
  if (!split.ok) throw invalidRequest([{ pointer: "#/tensors", message: split.message }]);
  const pointerOf = (name: string) => {
    const index = headers.findIndex((tensor) => tensor.name === name);
    return index < 0 ? "#/tensors" : `#/tensors/${index}`;
  };
  return { ...(wishes as unknown as Wishes), tensors: split.tensors, pointerOf };
}
