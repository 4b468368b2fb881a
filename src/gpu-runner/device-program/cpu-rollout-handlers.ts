import { openEnvironment } from "../environments/environment-source.ts";
import { openCpuPopulation } from "../rollout/cpu/open-cpu-population.ts";
import { replayOnCpu } from "../rollout/cpu/replay-on-cpu.ts";
import { rollOutOnce, tryRollOut } from "../rollout/roll-out.ts";
import { runTrain } from "../training/train-call.ts";
import type { DeviceHandlers } from "../device-host/messages.ts";

/** Rolls populations out on this process's CPU. */
export const cpuRolloutHandlers: Pick<DeviceHandlers, "rollOut" | "tryRollOut" | "train" | "replay"> = {
  rollOut: async ({ environment, network, members, ...request }, { signal, onProgress }) => {
    const population = await openCpuPopulation({ environment: openEnvironment(environment), network, members });
    const report = (done: number, total: number) => onProgress({ phase: "roll-out", done, total });
    return rollOutOnce(population, request, { signal, onProgress: report });
  },
  tryRollOut: async ({ environment, network, ...request }, { signal }) => {
    const spec = openEnvironment(environment);
    const open = (members: number) => openCpuPopulation({ environment: spec, network, members });
    return tryRollOut(open, { environment, network, ...request }, { signal });
  },
  train: async (input, options) => runTrain(openCpuPopulation, input, options),
  replay: async ({ environment, ...request }) => replayOnCpu(openEnvironment(environment), request),
};
