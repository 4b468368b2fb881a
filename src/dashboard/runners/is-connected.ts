import type { Runner } from "../../protocol/runner.ts";

/** Whether a runner can be asked anything now. */
export function isConnected({ state }: Runner): boolean {
  return state === "online" || state === "draining";
}
