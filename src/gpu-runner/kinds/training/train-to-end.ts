import type { JobProgress } from "../../../protocol/jobs/job.ts";
import type { Fault } from "../../../protocol/wire/fault.ts";
import { type ProblemCode, ProblemError } from "../../../protocol/wire/problem.ts";
import type { WorkOptions } from "../../device-host/device-host.ts";
import { deathIn } from "../../environments/environment-source.ts";
import type { TrainOutcome, TrainRequest } from "../../training/train-call.ts";
import type { WorkloadContext } from "../kind.ts";

/** Interval to the next progress, as a share of the time that has passed. */
const SHARE = 0.005;

/**
 * Passes on progress at growing intervals, for work that may last a day: some 200 for each e-fold of time.
 * The edge keeps it, spread over the whole time, and that of a training together is its curve. The end of the work is always passed on.
 */
export function thinProgress(
  onProgress: (progress: JobProgress) => void,
  nowMs: () => number,
): (progress: JobProgress) => void {
  const startedMs = nowMs();
  let nextMs = startedMs;
  return (progress) => {
    const atMs = nowMs();
    if (atMs < nextMs && progress.done < progress.total) return;
    nextMs = atMs + SHARE * (atMs - startedMs);
    onProgress(progress);
  };
}

/** Sender of a stream's latest value. */
interface LatestSender<Value> {
  /** Returns at once; a value not yet being sent when the next one arrives is dropped. */
  offer(value: Value): void;
  /** Resolves once nothing is being sent or waiting. */
  settle(): Promise<void>;
}

/**
 * Sends the latest offered value, one at a time. A failure is reported and dropped, since a later value may succeed.
 */
export function sendLatest<Value>(
  send: (value: Value) => Promise<unknown>,
  onFailure: (error: unknown) => void,
): LatestSender<Value> {
  let waiting: { readonly value: Value } | null = null;
  let running: Promise<void> | null = null;
  const drain = async () => {
    while (waiting !== null) {
      const { value } = waiting;
      waiting = null;
      await send(value).catch(onFailure);
    }
    running = null;
  };
  return {
    offer(value) {
      waiting = { value };
      running ??= drain();
    },
    settle: async () => running ?? undefined,
  };
}

/** Extra time of a training: for the generation that began in its own time, and the last evaluation. */
const GRACE_MS = 300_000;

/** Makes the call `train` in a process that is new after each death; see `DeviceHost.workApart`. */
type CallTrain = (
  input: TrainRequest,
  limitMs: number,
  died: ProblemCode,
  options: WorkOptions,
) => Promise<TrainOutcome>;

/**
 * Trains from the request's checkpoint where there is one. A process that dies is replaced, as long as each leaves a
 * newer checkpoint, and told as a fault.
 */
export async function trainToEnd(
  train: CallTrain,
  request: TrainRequest,
  { artifacts, signal, onProgress, logger }: WorkloadContext,
): Promise<{ readonly outcome: TrainOutcome; readonly faults: readonly Fault[] }> {
  const faults: Fault[] = [];
  const uploads = sendLatest(
    (file: Uint8Array<ArrayBuffer>) => artifacts.put("checkpoint", file),
    (error) => logger.error({ error }, "a checkpoint could not be kept"),
  );
  const thinned = thinProgress(onProgress, () => performance.now());
  let { checkpoint } = request;
  const onCheckpoint = (file: Uint8Array<ArrayBuffer>) => {
    checkpoint = file;
    uploads.offer(file);
  };
  for (;;) {
    const begunFrom = checkpoint;
    const input = { ...request, checkpoint };
    const limitMs = request.plan.budgetMs + GRACE_MS;
    const options = { signal, onProgress: thinned, onCheckpoint };
    try {
      const outcome = await train(input, limitMs, deathIn(request.environment), options);
      await uploads.settle();
      return { outcome, faults };
    } catch (error) {
      const died = error instanceof ProblemError && error.problem.code === "device-lost";
      if (!died || signal.aborted || checkpoint === begunFrom) throw error;
      const { detail } = error.problem;
      faults.push({
        code: "device-lost",
        detail: `the last checkpoint was gone on from: ${detail}`,
        action: "retried",
      });
    }
  }
}
