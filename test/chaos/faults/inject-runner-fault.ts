import { setTimeout as delay } from "node:timers/promises";
import { between } from "../between.ts";
import type { ChaosRunner } from "../chaos-runner.ts";
import { whileDiskIsFull } from "./fill-disk.ts";
import type { RunnerFault } from "./plan-faults.ts";
import { toJumpMs } from "./to-jump-ms.ts";
import type { Weather } from "../load/weathered-way.ts";

const MAX_DELAY_MS = 1_000;

/** Does one fault and undoes it; settles once the runner works again, as far as that is for us to do. */
export async function injectRunnerFault(
  runner: ChaosRunner,
  { kind, durationMs, severity }: RunnerFault,
): Promise<void> {
  const meanwhile = () => delay(durationMs);
  const inWeather = (weather: Weather) =>
    between(
      () => void (runner.proxy.weather = weather),
      meanwhile,
      () => void (runner.proxy.weather = null),
    );
  const everyNth = 1 + Math.floor(severity * 4);
  switch (kind) {
    case "kill":
      await runner.kill();
      await meanwhile();
      return runner.start();
    case "stop":
      return between(
        () => runner.signal("SIGSTOP"),
        meanwhile,
        () => runner.signal("SIGCONT"),
      );
    case "kill-device":
      return signalAll(await runner.devicePids(), "SIGKILL");
    case "stop-device": {
      const pids = await runner.devicePids();
      return between(
        () => signalAll(pids, "SIGSTOP"),
        meanwhile,
        () => signalAll(pids, "SIGCONT"),
      );
    }
    case "disk-full":
      return whileDiskIsFull(runner, meanwhile);
    case "clock":
      return between(
        () => runner.shiftClock(toJumpMs(severity)),
        meanwhile,
        () => runner.shiftClock(0),
      );
    case "cut":
      return runner.proxy.cut();
    case "delay":
      return inWeather({ kind: "delay", delayMs: Math.round(severity * MAX_DELAY_MS) });
    case "half-open":
      return inWeather({ kind: "half-open" });
    case "duplicate":
      return inWeather({ kind: "duplicate", everyNth });
    case "reorder":
      return inWeather({ kind: "reorder", everyNth });
  }
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}
