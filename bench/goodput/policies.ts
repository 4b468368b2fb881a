import { createBentoml } from "./peers/bentoml.ts";
import { createClipperAimd } from "./peers/clipper-aimd.ts";
import { createFifo, createFifoWithTimeouts } from "./peers/fifo.ts";
import type { CreatePolicy } from "./policy.ts";
import { createRunnerAlone } from "./runner-alone.ts";

/** What may decide behind the plain HTTP server, by the name that its rows have. */
export const POLICIES = {
  "runner-alone": createRunnerAlone,
  fifo: createFifo,
  "fifo-timeouts": createFifoWithTimeouts,
  "clipper-aimd": createClipperAimd,
  bentoml: createBentoml,
} as const satisfies Record<string, CreatePolicy>;

export type PolicyName = keyof typeof POLICIES;
