import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";

export interface CpuHogs {
  /** The process whose children they are: they are nobody else's. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** They end by themselves should the test not live to stop them. */
const HOG = "for (const end = Date.now() + 180_000; Date.now() < end; );";
const START_ALL = 'for each in $(seq "$2"); do "$0" -e "$1" & done; wait';

/** Keeps cores busy with processes that do nothing else, two for each core, until it is stopped. */
export function hogCpu(count = 2 * availableParallelism()): CpuHogs {
  const starter = spawn("sh", ["-c", START_ALL, process.execPath, HOG, String(count)], {
    stdio: "ignore",
    detached: true,
  });
  const { pid } = starter;
  if (pid === undefined) throw new Error("no process was started");
  return {
    pid,
    stop: async () => {
      const ended = once(starter, "exit");
      // All of its group.
      process.kill(-pid, "SIGKILL");
      await ended;
    },
  };
}
