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
  let [text, turnLength] = ["", TURN_LENGTH];
  for (const portion of portionsOf(body)) {
    text += portion;
    if (text.length < turnLength) continue;
    turnLength += TURN_LENGTH;
    await endShortTurn();
  }
  return text;
}

/** Parts of a value's JSON: lists of objects, long lists and what holds them are divided, everything else is whole. */
function* portionsOf(value: unknown): Generator<string> {
  if (isLongList(value)) {
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
  return isObject(value) && Object.values(value).some(isLongList);
}

function isLongList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && (isObject(value[0]) || value.length > PORTION_ITEMS);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
