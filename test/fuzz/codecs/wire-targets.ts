import * as fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { readOipRequest } from "../../../src/protocol/inference/read-oip-request.ts";
import { encodeFrame, decodeFrame, splitTensors } from "../../../src/protocol/wire/frame.ts";
import { InferRequest } from "../../../src/protocol/inference/inference.ts";
import { EdgeMessage, FrameOffer, InferResult, parseText, RunnerMessage } from "../../../src/protocol/link.ts";
import { matchInputs } from "../../../src/protocol/models/model-inputs.ts";
import type { TensorSpec } from "../../../src/protocol/models/model.ts";
import { OipInferRequest } from "../../../src/protocol/inference/oip.ts";
import { parseJson } from "../../../src/protocol/wire/parse-json.ts";
import { ActRequest } from "../../../src/protocol/policies/policy.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import { type Tensor, tensorFromJson, tensorToJson } from "../../../src/protocol/wire/tensor.ts";
import { joinTicket, readGrant, splitTicket, TicketGrant, writeGrant } from "../../../src/protocol/inference/ticket.ts";
import { formatTraceparent, parseTraceparent } from "../../../src/telemetry/trace-context.ts";
import { anyTensor } from "../../unit/protocol/arbitraries.ts";
import { type CodecTarget, hold, orRefused } from "./codec-target.ts";
import { damaged, damagedTexts, jsonTexts, toText, valuesOf } from "./inputs.ts";

const SPECS: TensorSpec[] = [
  { name: "x", dtype: "float32", shape: [-1, 2] },
  { name: "names", dtype: "string", shape: [2] },
];
const tensors = fc.array(anyTensor, { maxLength: 3 });

const frames = fc
  .tuple(fc.oneof(valuesOf(InferResult), valuesOf(FrameOffer), fc.jsonValue({ maxDepth: 2 })), tensors)
  .map(([header, carried]): Uint8Array => encodeFrame(Object(header) as object, carried));

/** Splits a frame as both ends of the link do. */
function checkFrame(input: Uint8Array): void {
  const decoded = decodeFrame(input);
  if (!decoded.ok) return;
  for (const schema of [InferResult, FrameOffer]) {
    const header = schema.safeParse(decoded.header);
    if (!header.success) continue;
    const split = splitTensors(header.data.tensors, decoded.payload);
    if (!split.ok) continue;
    const again = decodeFrame(encodeFrame(header.data, split.tensors));
    hold(again.ok && isSameJson(schema.parse(again.header), header.data), "a frame keeps its header");
    split.tensors.forEach(checkTensor);
  }
}

/** Raw bytes to JSON and back. */
function checkTensor(tensor: Tensor): void {
  const json = tensorToJson(tensor);
  const back = tensorFromJson(tensor.name, json);
  // NaN, infinities, and whole numbers beyond those that a double holds have no JSON.
  if (back.ok) hold(isDeepStrictEqual(tensorToJson(back.tensor), json), "a tensor keeps its elements");
}

function checkMessage(schema: typeof RunnerMessage | typeof EdgeMessage, input: Uint8Array): void {
  const parsed = parseText<unknown>(schema, toText(input));
  if (!parsed.ok) return hold(parsed.reason !== "", "a refusal says why");
  const again = parseText<unknown>(schema, JSON.stringify(parsed.message));
  hold(again.ok && isSameJson(again.message, parsed.message), "a message is parsed to itself");
}

/** Zero has a sign, but not in JSON: `-1e-999` is read with it, and written without. */
function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

const HEADER_LENGTHS = ["", "0", "1", "17", "9999999999", "-1", "1e3", "٣"];
const oipBodies = fc
  .tuple(jsonTexts(valuesOf(OipInferRequest)), fc.uint8Array({ maxLength: 40 }), fc.nat(10))
  .map(([json, raw, choice]) => {
    // The first bytes choose the length in the header; without a choice, it is the right one.
    const body = new Uint8Array(2 + json.length + raw.length);
    body.set([choice, json.length % 256]);
    body.set(json, 2);
    body.set(raw, 2 + json.length);
    return body;
  });

function checkOip(input: Uint8Array): void {
  const [choice = 0, length = 0] = input;
  const header = choice === 0 ? null : (HEADER_LENGTHS[choice - 1] ?? String(length));
  const request = orRefused(
    () => readOipRequest(input.slice(2), header, SPECS.slice(0, 1 + (choice % 2)), (json) => parseJson(toText(json))),
    ProblemError,
  );
  if (request === undefined) return;
  request.tensors.forEach(checkTensor);
  matchInputs(SPECS, request.tensors, (name) => name);
}

const inferTexts = jsonTexts(fc.oneof(valuesOf(InferRequest), valuesOf(ActRequest)));

function checkInferText(input: Uint8Array): void {
  const value = parseJson(toText(input));
  ActRequest.safeParse(value);
  const request = InferRequest.safeParse(value);
  if (!request.success) return;
  for (const [name, json] of Object.entries(request.data.inputs)) {
    const read = tensorFromJson(name, json);
    if (read.ok) checkTensor(read.tensor);
  }
}

const MAC = new Uint8Array(32).fill(7);
const tickets = fc.tuple(valuesOf(TicketGrant), fc.stringMatching(/^[0-9a-f]{16}$/)).map(([grant, keyId]) => {
  return new TextEncoder().encode(joinTicket(writeGrant(keyId, grant as TicketGrant), MAC));
});

function checkTicket(input: Uint8Array): void {
  const split = splitTicket(toText(input));
  if (split === null) return;
  hold(joinTicket(split.signed, split.mac) === toText(input), "a ticket is one text");
  readGrant(split.payload);
}

function checkTraceparent(input: Uint8Array): void {
  const context = parseTraceparent(toText(input));
  if (context === null) return;
  hold(isDeepStrictEqual(parseTraceparent(formatTraceparent(context)), context), "a context is parsed to itself");
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** Targets of the link, of the inference routes, and of a runner's own listener. */
export const WIRE_TARGETS: readonly CodecTarget[] = [
  { name: "frame", weight: 12, inputs: damaged(frames), check: checkFrame },
  {
    name: "runner-message",
    weight: 12,
    inputs: jsonTexts(valuesOf(RunnerMessage)),
    check: (input) => checkMessage(RunnerMessage, input),
  },
  {
    name: "edge-message",
    weight: 5,
    inputs: jsonTexts(valuesOf(EdgeMessage)),
    check: (input) => checkMessage(EdgeMessage, input),
  },
  { name: "infer-request", weight: 8, inputs: inferTexts, check: checkInferText },
  { name: "oip-request", weight: 10, inputs: fc.oneof(oipBodies, damaged(oipBodies)), check: checkOip },
  { name: "ticket", weight: 3, inputs: fc.oneof(tickets, damaged(tickets)), check: checkTicket },
  { name: "traceparent", weight: 2, inputs: damagedTexts(traceparent), check: checkTraceparent },
];
