import type { Fault } from "../../../protocol/wire/fault.ts";
import { deathIn } from "../../environments/environment-source.ts";
import type { ApartProcess } from "../../device-host/call-apart.ts";
import type { WorkOptions } from "../../device-host/device-host.ts";
import type { RollOutElsewhere } from "../../rollout/population.ts";
import type { FleetDevice } from "../../serving/device-fleet.ts";
import type { TrainOutcome, TrainRequest } from "../../training/train-call.ts";
import type { WorkloadContext } from "../kind.ts";
import { shareRollout, sumByDevice, type Worked } from "../steps/share-rollout.ts";
import { trainToEnd } from "./train-to-end.ts";

export interface SharedTraining {
  readonly outcome: TrainOutcome;
  readonly done: readonly Worked[];
  readonly faults: readonly Fault[];
}

/**
 * Trains on several GPUs: the first one moves the members and learns, and all of them roll the members out. Nothing but
 * the place of an episode differs from a training on one, so between equal devices neither does the result.
 */
export function trainShared(
  devices: readonly FleetDevice[],
  request: TrainRequest,
  context: WorkloadContext,
): Promise<SharedTraining> {
  return hold(devices, context.signal, async (opens, ended) => {
    // The first device does both kinds of work, in turn, with half of its memory for each.
    const shareOf = (place: number) => (place === 0 ? 0.5 : 1);
    const workers = new Map(devices.map((device, place) => [device, opens[place]!(shareOf(place))]));
    const sharing = new SharedGenerations(request, workers, ended);
    const trainer = opens[0]!(shareOf(0));
    const { outcome, faults } = await trainToEnd(
      (input, limitMs, died, options) => {
        const own = { ...options, ...sharing.begin(options) };
        return trainer.call("train", input, { limitMs, limitCode: "kernel-timeout", ...own }, died);
      },
      { ...request, isShared: true },
      { ...context, signal: ended },
    );
    return { outcome, done: sharing.done, faults: [...sharing.faults, ...faults] };
  });
}

type Open = (memoryShare?: number) => ApartProcess;

/** Holds devices one after the other, always in the fleet's order, so that two jobs never wait for each other. */
function hold<Output>(
  [device, ...others]: readonly FleetDevice[],
  signal: AbortSignal,
  work: (opens: readonly Open[], ended: AbortSignal) => Promise<Output>,
): Promise<Output> {
  if (device === undefined) return work([], signal);
  return device.host.holdApart(
    (open, ended) => hold(others, ended, (opens, last) => work([open, ...opens], last)),
    signal,
  );
}

/** Rollouts of one training, generation by generation, in processes that stay open. */
class SharedGenerations {
  readonly #request: TrainRequest;
  readonly #workers: ReadonlyMap<FleetDevice, ApartProcess>;
  readonly #signal: AbortSignal;
  #speeds: ReadonlyMap<FleetDevice, number> = new Map();
  #generations = 0;
  #life = new AbortController();
  /** What was done until the last checkpoint. */
  #kept: readonly Worked[] = [];
  done: readonly Worked[] = [];
  readonly faults: Fault[] = [];

  constructor(request: TrainRequest, workers: ReadonlyMap<FleetDevice, ApartProcess>, signal: AbortSignal) {
    this.#request = request;
    this.#workers = workers;
    this.#signal = signal;
  }

  /** Begins a life of the trainer: what the one before did after its last checkpoint is discarded and does not count. */
  begin({ onCheckpoint }: WorkOptions): Pick<WorkOptions, "onCheckpoint" | "onRollOut"> {
    this.#life.abort();
    this.#life = new AbortController();
    this.done = this.#kept;
    const signal = AbortSignal.any([this.#signal, this.#life.signal]);
    return {
      onRollOut: (asked) => this.#rollOut(asked, signal),
      onCheckpoint: (file) => {
        this.#kept = this.done;
        onCheckpoint?.(file);
      },
    };
  }

  async #rollOut(asked: Parameters<RollOutElsewhere>[0], life: AbortSignal): ReturnType<RollOutElsewhere> {
    const { environment, network, algorithm, plan } = this.#request;
    const call = { limitMs: plan.budgetMs, limitCode: "kernel-timeout" } as const;
    const { outcome, done, faults } = await shareRollout(
      { environment, network, members: algorithm.population, ...asked },
      {
        devices: [...this.#workers.keys()],
        roll: (device, part, { signal }) =>
          this.#workers.get(device)!.call("rollOutKept", part, { ...call, signal }, deathIn(environment)),
        speedOf: (device) => this.#speeds.get(device) ?? null,
        signal: life,
        onProgress: () => {},
      },
    );
    life.throwIfAborted();
    this.done = sumByDevice([...this.done, ...done]);
    this.faults.push(...faults);
    // Another share means to open its population anew, so the shares change ever more seldom.
    if (Number.isInteger(Math.log2(++this.#generations))) {
      this.#speeds = new Map(this.done.map(({ device, steps, durationMs }) => [device, steps / durationMs]));
    }
    return outcome;
  }
}
