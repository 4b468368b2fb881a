/** A stretch of time, in seconds since 1970. */
export type TimeSpan = readonly [fromS: number, toS: number];

/** Shortest span that is shown. */
const SHORTEST_S = 1;
const KEYS = new Set(["ArrowLeft", "ArrowRight", "+", "=", "-", "Home", "End", "0"]);
/** Share of the span that one key press moves it by. */
const KEY_SHARE = 0.2;
export const ZOOM = 1.5;

/** Moved by so many seconds, and kept within the whole. */
export function panSpan([fromS, toS]: TimeSpan, byS: number, [firstS, lastS]: TimeSpan): TimeSpan {
  const move = Math.max(firstS - fromS, Math.min(lastS - toS, byS));
  return [fromS + move, toS + move];
}

/** Shorter by a factor above 1, or longer, around an instant that stays where it is; kept within the whole. */
export function zoomSpan([fromS, toS]: TimeSpan, factor: number, aroundS: number, whole: TimeSpan): TimeSpan {
  const [firstS, lastS] = whole;
  const length = Math.min(lastS - firstS, Math.max(SHORTEST_S, (toS - fromS) / factor));
  const share = (aroundS - fromS) / (toS - fromS || 1);
  const from = aroundS - share * length;
  return panSpan([from, from + length], 0, whole);
}

/** The span after a key press; null for other keys. */
export function moveByKey(span: TimeSpan, key: string, whole: TimeSpan): TimeSpan | null {
  if (!KEYS.has(key)) return null;
  const [fromS, toS] = span;
  const length = toS - fromS;
  const middleS = fromS + length / 2;
  if (key === "ArrowLeft") return panSpan(span, -KEY_SHARE * length, whole);
  if (key === "ArrowRight") return panSpan(span, KEY_SHARE * length, whole);
  if (key === "Home") return panSpan(span, Number.NEGATIVE_INFINITY, whole);
  if (key === "End") return panSpan(span, Number.POSITIVE_INFINITY, whole);
  if (key === "0") return whole;
  return zoomSpan(span, key === "-" ? 1 / ZOOM : ZOOM, middleS, whole);
}

/** A span as it stands in an address: two instants with a slash between. */
export function writeSpan(span: TimeSpan): string {
  return span.map((atS) => new Date(Math.round(atS * 1_000)).toISOString()).join("/");
}

/** A span of an address, as far as it lies within the whole; null where it is none. */
export function readSpan(text: string | undefined, whole: TimeSpan): TimeSpan | null {
  const [fromS = Number.NaN, toS = Number.NaN] = (text ?? "").split("/").map((at) => Date.parse(at) / 1_000);
  if (!(fromS < toS)) return null;
  const [firstS, lastS] = whole;
  if (toS <= firstS || fromS >= lastS) return null;
  return [Math.max(firstS, fromS), Math.min(lastS, toS)];
}
