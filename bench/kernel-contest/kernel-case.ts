import type { KernelAtShape } from "../kernel-at-shape.ts";

/** Inputs are where the contender computes, `runs` runs are issued back to back, and the last outputs are read back. */
export interface StreamCase extends KernelAtShape {
  readonly mode: "stream";
  readonly runs: number;
}

/** Every run moves its input from host memory and its output there. */
export interface RoundTripCase extends KernelAtShape {
  readonly mode: "round-trip";
}

/** One kernel at one shape, as every contender computes it. */
export type KernelCase = StreamCase | RoundTripCase;

/** Runs of a batch. */
export function runsOf(input: KernelCase): number {
  return input.mode === "stream" ? input.runs : 1;
}

/** Binding that a round trip uploads anew: a network's parameters stay. */
export const FRESH_INPUT = "input";
