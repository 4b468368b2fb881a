import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Aim, Load } from "./put-load.ts";
import type { VictimFigures } from "./victim-figures.ts";

const PROGRAM = fileURLToPath(new URL("victim.ts", import.meta.url));

export type VictimOrder =
  | { readonly kind: "capacity"; readonly seconds: number }
  | { readonly kind: "load"; readonly load: Load };

/** The victim, whose process does one thing at a time. */
export interface Victim {
  /** Answers per second, measured for so long. */
  measureCapacity(seconds: number): Promise<number>;
  putLoad(load: Load): Promise<VictimFigures>;
  stop(): Promise<void>;
}

export function startVictim(aim: Aim): Victim {
  const child = fork(PROGRAM, [JSON.stringify(aim)], { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const exited = once(child, "exit");
  const ended = exited.then(() => Promise.reject(new Error("the victim's process ended")));
  ended.catch(() => {});
  const order = async <Reply>(wanted: VictimOrder): Promise<Reply> => {
    child.send(wanted);
    const [reply] = (await Promise.race([once(child, "message"), ended])) as [Reply];
    return reply;
  };
  return {
    measureCapacity: (seconds) => order({ kind: "capacity", seconds }),
    putLoad: (load) => order({ kind: "load", load }),
    stop: async () => {
      child.disconnect();
      await exited;
    },
  };
}
