import type { Bench } from "./benches.ts";
import { benchKernel } from "./bench-kernel.ts";

const RELU = 2;

const network = (batch: number, inputs: number, hidden: number, outputs: number, layers: number) => ({
  name: [inputs, ...Array<number>(layers - 1).fill(hidden), outputs].join("-"),
  input: {
    kernel: "mlp",
    shape: { batch, inputs, hidden, outputs, layers, activation: RELU },
    mode: "round-trip",
  } as const,
});

/** Whole dense networks with relu between the layers, as policies use them: observations in, actions out. */
export const benchMlp = (batch: number): Bench =>
  benchKernel([
    network(batch, 8, 32, 4, 3),
    network(batch, 64, 128, 8, 3),
    network(batch, 128, 256, 10, 3),
    network(batch, 512, 256, 10, 3),
  ]);
