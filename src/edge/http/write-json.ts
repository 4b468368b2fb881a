import { type Tensor, TensorData } from "../../protocol/wire/tensor.ts";
import { endShortTurn } from "../turns.ts";

/** Objects, or other items, of a list that are written at once: some hundred microseconds. */
const PORTION_OBJECTS = 256;
const PORTION_ITEMS = 4_096;
/** Characters that are written in a short turn: some hundred microseconds. */
const TURN_LENGTH = 50_000;

/**
 * JSON of an answer, as `JSON.stringify` writes it, in portions: a year of many series at once would hold up other
 * requests for many milliseconds.
 */
export async function writeJson(body: object): Promise<string> {
  let text = "";
  for (const part of textsOf(body)) {
    if (text !== "") await endShortTurn();
    text += part;
  }
  return text;
}

/** Bytes of tensors that are written as JSON at once. */
const LONG_BYTES = 65_536;

export function areLong(tensors: readonly Tensor[]): boolean {
  return tensors.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) > LONG_BYTES;
}

/**
 * An answer with the tensors' elements as JSON. Long ones are written while they are read: the text of the longest would
 * fill an isolate's memory, and writing it at once would take its thread for a second.
 */
export function answerTensors(
  tensors: readonly Tensor[],
  write: (outputs: Record<string, object>) => object,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const outputs = tensors.map((tensor) => {
    const { name, dtype, shape } = tensor;
    return [name, { dtype, shape, data: new TensorData(tensor) }] as const;
  });
  const body = write(Object.fromEntries(outputs));
  if (!areLong(tensors)) return Response.json(body, { headers });
  return new Response(streamJson(body), { headers: { ...headers, "content-type": "application/json" } });
}

/** The JSON of a value as a stream in short turns, and `behind` after it. */
export function streamJson(value: object, behind: readonly Uint8Array[] = []): ReadableStream<Uint8Array> {
  const [portions, left, encoder] = [textsOf(value), [...behind], new TextEncoder()];
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      await endShortTurn();
      const { done, value: text } = portions.next();
      const bytes = done === true ? left.shift() : encoder.encode(text);
      if (bytes === undefined) controller.close();
      else controller.enqueue(bytes);
    },
  });
}

/** Length of a value's JSON in bytes. */
export async function measureJson(value: object): Promise<number> {
  const encoder = new TextEncoder();
  let length = 0;
  for (const text of textsOf(value)) {
    length += encoder.encode(text).byteLength;
    await endShortTurn();
  }
  return length;
}

/** A value's JSON in texts for a short turn each. */
function* textsOf(value: object): Generator<string> {
  let text = "";
  for (const portion of portionsOf(value)) {
    text += portion;
    if (text.length < TURN_LENGTH) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

/** Parts of a value's JSON: lists of objects, long lists and what holds them are divided, everything else is whole. */
function* portionsOf(value: unknown): Generator<string> {
  if (value instanceof TensorData) {
    let mark = "[";
    for (const elements of value.portions(PORTION_ITEMS)) {
      yield mark + JSON.stringify(elements).slice(1, -1);
      mark = ",";
    }
    yield mark === "[" ? "[]" : "]";
  } else if (isLongList(value)) {
    let mark = "[";
    const portion = isObject(value[0]) ? PORTION_OBJECTS : PORTION_ITEMS;
    for (let first = 0; first < value.length; first += portion) {
      const items = value.slice(first, first + portion);
      if (items.some(holdsLists)) {
        for (const item of items) {
          yield mark;
          yield* portionsOf(item);
          mark = ",";
        }
      } else yield mark + JSON.stringify(items).slice(1, -1);
      mark = ",";
    }
    yield "]";
  } else if (holdsLists(value)) {
    let mark = "{";
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined) continue;
      yield `${mark}${JSON.stringify(name)}:`;
      yield* portionsOf(field);
      mark = ",";
    }
    yield "}";
  } else yield JSON.stringify(value) ?? "null";
}

function holdsLists(value: unknown): value is object {
  if (!isObject(value) || value instanceof TensorData) return false;
  return Object.values(value).some((each) => each instanceof TensorData || isLongList(each) || holdsLists(each));
}

function isLongList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && (isObject(value[0]) || value.length > PORTION_ITEMS);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
