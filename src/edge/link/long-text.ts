import { LIMITS } from "../../protocol/wire/limits.ts";
import { HeavyPlaces } from "../heavy-places.ts";

/** Characters of an outcome of a job that waits for its turn before it is read. */
export const LONG_OUTCOME = 64 * 1_024;
/** As our runners write it, whose type comes first. */
const OUTCOME = '{"type":"jobOutcome"';
/** Characters of any text that waits so. Of our runners only an outcome is as long. */
export const LONG_TEXT = 512 * 1_024;
/** Characters that are scanned in one turn: some three milliseconds. */
const SCANNED_AT_ONCE = 2 ** 20;

/** Whether a text waits for its turn before it is read, and is dropped where too many wait: an outcome comes again. */
export function isLong(text: string): boolean {
  return text.length > LONG_TEXT || (text.length > LONG_OUTCOME && text.startsWith(OUTCOME));
}

/**
 * Texts of megabytes in this isolate. What is parsed takes some five times as much of the isolate's 128 MB as the text, so
 * one is read and passed on at a time, and few wait: of `LIMITS.outcomeTextLength`, with two bytes for each character.
 */
const longest = new HeavyPlaces("long texts", { ofOne: 1, ofAll: 1, leaseMs: 60_000 }, { ofOne: 1, ofAll: 2 });
const long = new HeavyPlaces("long texts", { ofOne: 2, ofAll: 6, leaseMs: 60_000 }, { ofOne: 8, ofAll: 32 });

export function placesFor(text: string): HeavyPlaces {
  return text.length > LONG_TEXT ? longest : long;
}

/**
 * Whether JSON text has more values than may be parsed at once, as they take far more memory than the text. Marks within
 * strings do not count: a trace is a string of megabytes.
 */
export async function hasTooManyValues(text: string, endTurn: () => Promise<void>): Promise<boolean> {
  let values = 0;
  let isQuoted = false;
  let turnAt = SCANNED_AT_ONCE;
  for (let at = 0; at < text.length; at++) {
    if (at >= turnAt) {
      await endTurn();
      turnAt = at + SCANNED_AT_ONCE;
    }
    const mark = text.charCodeAt(at);
    if (mark === QUOTE) isQuoted = !isQuoted;
    else if (mark === BACKSLASH) at++;
    else if (!isQuoted && (mark === COMMA || mark === BRACKET || mark === BRACE)) values++;
  }
  return values > LIMITS.jsonValues;
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];
