import type { Candidate } from "../../../../../src/protocol/jobs/optimisation.ts";
import { makeSpace, serveClosedLoop, type Truth } from "./made-up-surface.ts";

const COUNTS = [1, 2, 4, 8, 16, 32, 64];
const isCpu = ({ deviceKey }: Candidate) => deviceKey === "cpu";

/** Amdahl's law, with the cost of waking a thread. */
function speedUp(threads: number, parallel: number): number {
  return 1 / (1 - parallel + parallel / threads);
}

export interface RealisticSurface {
  readonly candidates: readonly Candidate[];
  readonly truth: Truth;
}

/** Shapes of response that services have; none of them is that of a bench's model. */
export const REALISTIC_SURFACES: Readonly<Record<string, RealisticSurface>> = {
  "a small network on 8 cores, where waking threads costs more than it gains": {
    candidates: makeSpace([{ key: "cpu", threads: [1, 2, 4, 8] }], ["fp32", "int8"], COUNTS),
    truth: serveClosedLoop(() => ({
      batchMs: (rows, { variant, threads }) =>
        0.15 + 0.02 * (threads - 1) + (rows * (variant === "int8" ? 0.035 : 0.05)) / speedUp(threads, 0.5),
      hostMs: 0.04,
      stretch: () => 2.2,
    })),
  },
  "a large network on 16 cores, whose batches leave the cache": {
    candidates: makeSpace([{ key: "cpu", threads: [1, 2, 4, 8, 16] }], ["fp32", "int8"], COUNTS),
    truth: serveClosedLoop(() => ({
      batchMs: (rows, { variant, threads }) => {
        const perRow = (variant === "int8" ? 11 : 20) * (rows > 16 ? 1.35 : 1);
        return 3 + (perRow * rows) / speedUp(threads, 0.93) / (threads > 8 ? 0.8 : 1);
      },
      hostMs: 0.1,
      stretch: ({ threads }) => 1.2 + 0.1 * threads,
    })),
  },
  "a GPU that is slow to ask and fast to answer, beside a CPU": {
    candidates: makeSpace(
      [
        { key: "cpu", threads: [1, 2, 4] },
        { key: "gpu0", threads: [1] },
      ],
      ["fp32", "fp16", "int8"],
      COUNTS,
    ),
    truth: serveClosedLoop((each) => ({
      batchMs: (rows, { variant, threads }) =>
        isCpu(each)
          ? 0.2 + (rows * (variant === "int8" ? 0.7 : variant === "fp16" ? 1.6 : 1.2)) / speedUp(threads, 0.8)
          : 2.5 + Math.ceil(rows / 32) * (variant === "fp16" ? 1.1 : variant === "int8" ? 3.5 : 1.9),
      hostMs: 0.06,
      stretch: () => (isCpu(each) ? 1.6 : 1.3),
    })),
  },
  "a host that cannot feed its device, so that all that counts is what overlaps": {
    candidates: makeSpace([{ key: "cpu", threads: [1, 2] }], ["fp32", "int8"], COUNTS),
    truth: serveClosedLoop(() => ({
      batchMs: (rows, { variant }) => 0.05 + rows * (variant === "int8" ? 0.012 : 0.014),
      hostMs: 0.03,
      stretch: () => 3,
    })),
  },
};
