import { ACCESS_ATTACKS } from "./access-attacks.ts";
import type { Attack } from "./attack.ts";
import { BODY_ATTACKS } from "./body-attacks.ts";
import { HISTORY_ATTACKS } from "./history-attacks.ts";
import { INFERENCE_ATTACKS } from "./inference-attacks.ts";
import { JOB_ATTACKS } from "./job-attacks.ts";
import { LINK_ATTACKS } from "./link-attacks.ts";
import { STORAGE_ATTACKS } from "./storage-attacks.ts";

/** Every attack, by name, in the order in which they are played. */
export const ATTACKS: ReadonlyMap<string, Attack> = new Map(
  [
    ...INFERENCE_ATTACKS,
    ...BODY_ATTACKS,
    ...JOB_ATTACKS,
    ...LINK_ATTACKS,
    ...HISTORY_ATTACKS,
    ...ACCESS_ATTACKS,
    ...STORAGE_ATTACKS,
  ].map((attack) => [attack.name, attack]),
);
