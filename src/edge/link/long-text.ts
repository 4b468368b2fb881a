import { LIMITS } from "../../protocol/wire/limits.ts";
import { HeavyPlaces } from "../heavy-places.ts";

/**
 * Characters of a long text, which waits for its turn before it is read. It can only be an outcome of a job, which comes
 * again: everything else that a runner sends is shorter.
 */
export const LONG_TEXT = 512 * 1_024;
/** Characters that are scanned in one turn: some three milliseconds. */
const SCANNED_AT_ONCE = 2 ** 20;

/**
 * Long texts in this isolate. One is read and passed on at a time, since what is parsed takes some five times as much of
 * the isolate's 128 MB as the text; few others wait, of up to `LIMITS.outcomeTextLength` each.
 */
export const longTexts = new HeavyPlaces({ ofOne: 1, ofAll: 1, leaseMs: 60_000 }, { ofOne: 2, ofAll: 3 });

/**
 * Whether JSON text has more values than may be parsed at once, as they take far more memory than the text. Marks within
 * strings do not count: a trace is a string of megabytes.
 */
export async function hasTooManyValues(text: string, endTurn: () => Promise<void>): Promise<boolean> {
  let values = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    if (at % SCANNED_AT_ONCE === SCANNED_AT_ONCE - 1) await endTurn();
    const mark = text.charCodeAt(at);
    if (mark === QUOTE) isQuoted = !isQuoted;
    else if (mark === BACKSLASH) at++;
    else if (!isQuoted && (mark === COMMA || mark === BRACKET || mark === BRACE)) values++;
  }
  return values > LIMITS.jsonValues;
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];
