import { endpoints } from "../../protocol/endpoints.ts";
import { TuningRecord } from "../../protocol/tuning.ts";
import type { StoredCredential } from "../credential-file.ts";
import type { TuningSource } from "./tuning-cache.ts";

/** A job waits for the answer, and can do without. */
const TIMEOUT_MS = 3_000;

/** Asks the edge for one tuning at a time, as this runner. Fails where it cannot be reached or answers oddly. */
export function createTuningSource({ edgeUrl, credential }: StoredCredential): TuningSource {
  return async (id) => {
    const response = await fetch(new URL(endpoints.fetchTuning.path.replace("{id}", id), edgeUrl), {
      headers: { authorization: `Bearer ${credential}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status === 404) return null;
    if (!response.ok) throw new Error(`the edge answered ${response.status}`);
    return TuningRecord.parse(await response.json());
  };
}
