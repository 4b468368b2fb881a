import { describeClock } from "../history.ts";
import { describeRoof } from "../kernels.ts";
import { describeShape, type Fact, type Figures, type KindWords, linkKernel, type ResultOf } from "./kind.ts";

export const benchmark: KindWords<"benchmark"> = {
  kind: "benchmark",
  name: ({ kernel }) => kernel,
  parts: (spec, figures) => [
    ...describeShape(spec, figures),
    spec.axes && figures.sizes(spec.axes),
    `${spec.iterations} iterations`,
  ],
  result: (result, figures) => {
    const { gpuMs, wallMs, clock, gflops, gigabytesPerSecond, roofline, fallback } = result;
    const { measure } = figures;
    const arithmetic = gflops === null ? "" : `${measure(gflops, "GFLOP/s")}, `;
    return {
      facts: [
        ["kernel", nameRun(result, figures)],
        ["correct", describeCorrectness(result.correctness)],
        ...(gpuMs === null ? [] : [["on the GPU", { distribution: gpuMs, unit: "ms" }] satisfies Fact]),
        ["submitted to done", { distribution: wallMs, unit: "ms" }],
        ["rate", `${arithmetic}${measure(gigabytesPerSecond, "GB/s")} by ${describeClock({ clock })}`],
        ...(roofline === null ? [] : [["roof", placeUnderRoof(roofline, figures)] satisfies Fact]),
        ...(fallback === undefined
          ? []
          : [["answered by", "the reference on the CPU: the device failed"] satisfies Fact]),
      ],
    };
  },
  links: ({ spec: { kernel } }) => [linkKernel(kernel)],
  again: ({ reference: _, ...asked }) => asked,
};

function nameRun({ kernel, shape, variant, dtype, axes, tuned }: ResultOf<"benchmark">, { sizes }: Figures): string {
  const settings = [variant, dtype, sizes(axes), tuned ? "tuned" : ""].filter((text) => text !== "");
  return `${kernel} ${sizes(shape)} (${settings.join(", ")})`;
}

function placeUnderRoof(roofline: NonNullable<ResultOf<"benchmark">["roofline"]>, figures: Figures): Fact[1] {
  const text = describeRoof(roofline, figures);
  return roofline.shareOfRoof === null || roofline.roof === null ? text : { share: roofline.shareOfRoof, text };
}

/** What was compared with the reference before anything was timed. */
export function describeCorrectness({
  checkedElements,
  maxRelativeError,
  tolerance,
}: ResultOf<"benchmark">["correctness"]): string {
  return `${checkedElements} elements, off by ${maxRelativeError.toExponential(1)} at most; ${tolerance}`;
}
