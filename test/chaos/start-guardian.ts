import { spawn } from "node:child_process";
import { join } from "node:path";
import type { GuardianOrder } from "./guardian-order.ts";

/** A process that ends all that this process has started, should it be killed. */
export interface Guardian {
  tell(order: GuardianOrder): void;
  /** Deletes the folders and ends all remaining processes, as if this process had been killed. */
  release(): Promise<void>;
}

export function startGuardian(): Guardian {
  // A group of its own: a signal to this process's group must not end it, too.
  const child = spawn(process.execPath, [join(import.meta.dirname, "guardian.ts")], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  return {
    tell: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`),
    release: () => {
      child.stdin.end();
      return exited;
    },
  };
}
