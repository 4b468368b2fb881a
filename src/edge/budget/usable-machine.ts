import type { Hardware } from "../../protocol/hardware.ts";

/** What a runner may use of its machine: a container may have less than there is. */
export function usableCores({ cpu, container }: Pick<Hardware, "cpu" | "container">): number {
  return Math.min(cpu.logicalCores, container?.cores ?? Number.POSITIVE_INFINITY);
}

export function usableBytes({ memoryBytes, container }: Pick<Hardware, "memoryBytes" | "container">): number {
  return Math.min(memoryBytes, container?.memoryBytes ?? Number.POSITIVE_INFINITY);
}
