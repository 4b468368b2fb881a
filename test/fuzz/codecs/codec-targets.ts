import type { CodecTarget } from "./codec-target.ts";
import { FILE_TARGETS } from "./file-targets.ts";
import { HISTORY_TARGETS } from "./history-targets.ts";
import { MODEL_TARGETS } from "./model-targets.ts";
import { PROGRAM_TARGETS } from "./program-targets.ts";
import { WIRE_TARGETS } from "./wire-targets.ts";

/** Every reader of outside data, by name. */
export const CODEC_TARGETS: ReadonlyMap<string, CodecTarget> = new Map(
  [...WIRE_TARGETS, ...MODEL_TARGETS, ...FILE_TARGETS, ...HISTORY_TARGETS, ...PROGRAM_TARGETS].map((target) => [
    target.name,
    target,
  ]),
);
