import { InferenceServer } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import { FIRST_VARIANT } from "../../src/protocol/models/model.ts";
import { PROBLEMS, ProblemError } from "../../src/protocol/wire/problem.ts";
import type { PolicyDevice } from "./model-device.ts";
import { type CreatePolicy, type Policy, PROCESS_CLOCK } from "./policy.ts";

const DEFAULTS = { confidence: 0.99, patience: 0 };

/** The runner's own queue in place of a peer's: our scheduler without edge, link and session. It refuses at once. */
export const createRunnerAlone = runnerWith({});

/** The same where a refusal may come as late as an answer, as the peers' do. */
export const createPatientRunner = runnerWith({ patience: 1 });

/** `patience` is the share of a budget after which a refusal may still come. */
export function runnerWith(settings: Partial<typeof DEFAULTS>): CreatePolicy {
  return (device, clock) => openRunner(device, { ...DEFAULTS, ...settings }, clock);
}

function openRunner({ host }: PolicyDevice, { confidence, patience }: typeof DEFAULTS, clock = PROCESS_CLOCK): Policy {
  const server = new InferenceServer(host, clock.now, clock.delay);
  const waiting = new Set<string>();
  return {
    async serve({ id, model, tensors, arrivedMs, deadlineMs }) {
      const offer = {
        type: "infer",
        requestId: id,
        modelVersionId: model,
        variant: FIRST_VARIANT,
        deviceKey: "cpu",
        backend: "ort-cpu",
        budgetMs: deadlineMs - arrivedMs,
        refuseWithinMs: patience * (deadlineMs - arrivedMs),
        confidence,
        priority: 0,
        joins: true,
        tensors: [...tensors],
      } as const;
      waiting.add(id);
      try {
        const answer = await server.serve(offer, tensors, arrivedMs);
        return { status: 200, tensors: answer.tensors };
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        return { status: PROBLEMS[error.problem.code].status, tensors: null };
      } finally {
        waiting.delete(id);
      }
    },
    reset() {
      for (const id of waiting) server.cancel(id);
    },
  };
}
