import type { KernelPeak } from "./kernel-spec.ts";

const LANES = [{ lanes: 64 }, { lanes: 256 }] as const;

/** A roof of arithmetic, by a kernel of `n` independent chains. */
export const arithmeticPeak = (name: KernelPeak["name"]): KernelPeak<"n" | "rounds"> => ({
  name,
  counts: "flops",
  shapes: [
    { n: 2 ** 12, rounds: 16 },
    { n: 2 ** 14, rounds: 32 },
    { n: 2 ** 16, rounds: 64 },
    { n: 2 ** 18, rounds: 128 },
    { n: 2 ** 20, rounds: 256 },
    { n: 2 ** 22, rounds: 512 },
  ],
  axes: LANES,
});

/** A roof of memory. The largest size takes 128 MiB an array: far beyond the caches of nearly all processors. */
export const trafficPeak = (name: KernelPeak["name"], axes: KernelPeak["axes"] = LANES): KernelPeak<"n"> => ({
  name,
  counts: "bytes",
  shapes: [{ n: 2 ** 18 }, { n: 2 ** 20 }, { n: 2 ** 22 }, { n: 2 ** 24 }, { n: 2 ** 25 }],
  axes,
});
