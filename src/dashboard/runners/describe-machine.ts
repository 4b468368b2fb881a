import type { Runner } from "../../protocol/runner.ts";
import { formatBytes } from "../format.ts";

/** A machine in few words. */
export function describeMachine({ cpu, memoryBytes, os }: NonNullable<Runner["capabilities"]>["hardware"]): string {
  return `${cpu.logicalCores} cores · ${formatBytes(memoryBytes)} · ${os}`;
}
