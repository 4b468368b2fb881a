import { LIMITS } from "../../protocol/limits.ts";
import { parseJson } from "../../protocol/parse-json.ts";
import { RunSamples } from "../../protocol/run-samples.ts";

/** The samples that a runner sent beside a result; null where they are none, or more than is kept. */
export function readSamples(text: string): RunSamples | null {
  if (text.length > LIMITS.samplesBytes || new TextEncoder().encode(text).byteLength > LIMITS.samplesBytes) return null;
  return RunSamples.safeParse(parseJson(text)).data ?? null;
}
