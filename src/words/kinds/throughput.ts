import { describeClock } from "../history.ts";
import { formatShare } from "../numbers.ts";
import { describeCorrectness } from "./benchmark.ts";
import { describeShape, type KindWords, linkKernel } from "./kind.ts";

export const throughput: KindWords<"throughput"> = {
  kind: "throughput",
  name: ({ kernel }) => kernel,
  parts: (spec, figures) => [
    ...describeShape(spec, figures),
    `${formatShare(spec.targetBusyShare)} busy, ${spec.mode}`,
  ],
  result: (result, { number, measure, bytes, sizes }) => {
    const { kernel, variant, shape, dtype, correctness, setting, busyShare, clock, latencyMs } = result;
    const rates = [
      `${number(result.submissionsPerSecond)} submissions/s`,
      `${number(result.itemsPerSecond)} items/s`,
      ...(result.gflops === null ? [] : [measure(result.gflops, "GFLOP/s")]),
    ];
    return {
      facts: [
        ["kernel", `${kernel} ${sizes(shape)} (${variant}, ${dtype})`],
        ["correct", describeCorrectness(correctness)],
        ["busy", `${formatShare(busyShare)} of the time, by ${describeClock({ clock })}`],
        ["setting", `${setting.depth} in flight, batches of ${setting.batch}`],
        ["rate", rates.join(", ")],
        ["copied", `${bytes(result.uploadedBytesPerSecond)}/s in, ${bytes(result.readBackBytesPerSecond)}/s out`],
        ["latency", { distribution: latencyMs, unit: "ms" }],
      ],
    };
  },
  links: ({ spec: { kernel } }) => [linkKernel(kernel)],
  again: (spec) => spec,
};
