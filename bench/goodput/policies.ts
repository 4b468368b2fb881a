import { createBentoml } from "./peers/bentoml.ts";
import { createClipperAimd } from "./peers/clipper-aimd.ts";
import { createFifo, createFifoWithTimeouts } from "./peers/fifo.ts";
import { type CreatePolicy, REFUSED } from "./policy.ts";
import { createPatientRunner, createRunnerAlone } from "./runner-alone.ts";

/** Policies behind the plain HTTP server, by the names of their rows. */
export const POLICIES = {
  "runner-alone": createRunnerAlone,
  "runner-patient": createPatientRunner,
  fifo: createFifo,
  "fifo-timeouts": createFifoWithTimeouts,
  "clipper-aimd": createClipperAimd,
  bentoml: createBentoml,
  /** Leaves the device to a measurement while requests arrive. */
  refusing: () => ({ serve: async () => REFUSED, reset() {} }),
} as const satisfies Record<string, CreatePolicy>;

export type PolicyName = keyof typeof POLICIES;
