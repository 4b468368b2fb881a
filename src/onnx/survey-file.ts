import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { finishSteps, type Steps, UnreadableModel } from "./each-field.ts";

/** Messages of onnx.proto3 that are read, or lead to a tensor: which fields lead on, and to what. */
export const CHILDREN = {
  model: { 7: "graph", 8: "opset", 20: "trainingInfo", 25: "function" },
  opset: {},
  trainingInfo: { 1: "graph", 2: "graph" },
  function: { 7: "node", 9: "opset", 11: "attribute", 12: "value" },
  graph: { 1: "node", 5: "tensor", 11: "value", 12: "value", 15: "sparseTensor" },
  node: { 5: "attribute" },
  attribute: { 5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparseTensor", 23: "sparseTensor" },
  sparseTensor: { 1: "tensor", 2: "tensor" },
  tensor: {},
  value: { 2: "type" },
  type: { 1: "tensorType", 4: "listType", 5: "mapType", 8: "tensorType", 9: "listType" },
  listType: { 1: "type" },
  mapType: { 2: "type" },
  tensorType: { 2: "shape" },
  shape: { 1: "dimension" },
  dimension: {},
} as const satisfies Record<string, Record<number, string>>;
export type Message = keyof typeof CHILDREN;

const TENSOR = { externalData: 13, dataLocation: 14 } as const;
/** Fields of a message that become entries of a list: names of a node, numbers and texts of an attribute. */
const LISTS: Partial<Record<Message, readonly number[]>> = { node: [1, 2], attribute: [7, 8, 9] };
/** Numbers of a tensor that do not stand as raw bytes. */
export const NUMBERS: ReadonlySet<number> = new Set([4, 5, 7, 10, 11]);
/** An entry of a list takes so much less memory than an object of its own. */
const ENTRIES_A_PIECE = 8;
/** Graphs inside of graphs (If, Loop, Scan), counted by messages; real networks nest a few. */
export const MAX_DEPTH = 64;

/** Fields, and ends of messages, in a step. */
const STEP_FIELDS = 16_384;

/** Contents of a file, found without building any of it. */
export interface FileSurvey {
  /** Whether any tensor, however deep, keeps its bytes in another file: loading it would read that file. */
  hasExternalData: boolean;
  /** Parts that take memory after reading: messages, separate numbers, and texts and numbers of lists by eights. */
  pieces: number;
}

/**
 * Goes through all messages of an ONNX file. Throws `UnreadableModel` where they are more than `maxPieces`, and another
 * error where a message is malformed or nested too deeply.
 */
export function surveyFile(file: Uint8Array, maxPieces: number): FileSurvey {
  return finishSteps(surveySteps(file, maxPieces));
}

/** The same in steps. */
export function* surveySteps(file: Uint8Array, maxPieces: number): Steps<FileSurvey> {
  const survey = { hasExternalData: false, pieces: 1 };
  // One for all messages: a reader of each would take most of the time.
  const reader = new BinaryReader(file);
  /** The messages around the place that is read, with their ends. */
  const around: { readonly message: Message; readonly end: number }[] = [{ message: "model", end: reader.len }];
  for (let fields = 1; around.length > 0; fields++) {
    const { message, end } = around.at(-1)!;
    if (reader.pos > end) throw new RangeError("a message ends outside of the one that holds it");
    if (reader.pos === end) {
      around.pop();
    } else {
      const children: Readonly<Record<number, Message>> = CHILDREN[message];
      const [field, wire] = reader.tag();
      const child = wire === WireType.LengthDelimited ? children[field] : undefined;
      if (child !== undefined) {
        if (around.length > MAX_DEPTH) throw new RangeError("the model is nested too deeply");
        const length = reader.uint32();
        around.push({ message: child, end: reader.pos + length });
        survey.pieces++;
      } else if (message === "tensor" && field === TENSOR.dataLocation && wire === WireType.Varint) {
        survey.hasExternalData = reader.int32() !== 0 || survey.hasExternalData;
      } else {
        survey.hasExternalData ||= message === "tensor" && field === TENSOR.externalData;
        survey.pieces += skipList(message, field, wire, reader);
      }
    }
    if (survey.pieces > maxPieces) throw new UnreadableModel(`the file has more than ${maxPieces} parts`);
    if (fields % STEP_FIELDS === 0) yield;
  }
  return survey;
}

/** Skips a field and says how many pieces it becomes. */
function skipList(message: Message, field: number, wire: WireType, reader: BinaryReader): number {
  const start = reader.pos;
  reader.skip(wire, field);
  if (LISTS[message]?.includes(field)) {
    // A number that is packed takes a byte at least.
    const isPacked = message === "attribute" && field !== 9 && wire === WireType.LengthDelimited;
    return (isPacked ? reader.pos - start : 1) / ENTRIES_A_PIECE;
  }
  return message === "tensor" && NUMBERS.has(field) ? 1 : 0;
}
