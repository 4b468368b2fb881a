import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { type FieldOptions, type FormField, plainOptions } from "../form-fields.ts";
import { describeClock } from "../history.ts";
import { describeRoof } from "../kernels.ts";
import { formatNumber } from "../numbers.ts";
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
  again: ({ reference: _reference, ...asked }) => asked,
};

function nameRun({ kernel, shape, variant, dtype, axes, tuned }: ResultOf<"benchmark">, { sizes }: Figures): string {
  const settings = [variant, dtype, sizes(axes), tuned ? "tuned" : ""].filter((text) => text !== "");
  return `${kernel} ${sizes(shape)} (${settings.join(", ")})`;
}

function placeUnderRoof(roofline: NonNullable<ResultOf<"benchmark">["roofline"]>, figures: Figures): Fact[1] {
  const text = describeRoof(roofline, figures);
  return roofline.shareOfRoof === null || roofline.roof === null ? text : { share: roofline.shareOfRoof, text };
}

/** Result of the comparison with the reference, which precedes all timing. */
export function describeCorrectness({
  checkedElements,
  maxRelativeError,
  tolerance,
}: ResultOf<"benchmark">["correctness"]): string {
  return `${checkedElements} elements, off by ${maxRelativeError.toExponential(1)} at most; ${tolerance}`;
}

const ITERATIONS = 100;

/** The fields of a benchmark of this kernel, on one of these devices. */
export function listBenchmarkFields(kernel: ListedKernel, devices: FieldOptions): FormField[] {
  const { dimensions, dtypes, source, variants } = kernel;
  const sizes = dimensions.map(({ name, description, min, max, default: value }): FormField => {
    const bounds = `${formatNumber(min)} to ${formatNumber(max)}`;
    const hint = description === "" ? bounds : `${description}; ${bounds}`;
    return { kind: "number", pointer: `#/shape/${name}`, label: name, hint, value };
  });
  const types: FormField = { kind: "select", pointer: "#/dtype", label: "Type", options: plainOptions(dtypes) };
  const choice: FormField = {
    kind: "select",
    pointer: "#/variant",
    label: "Variant",
    hint: "A named one is never tuned",
    options: [["", "the best that is known"], ...plainOptions(variants)],
  };
  return [
    ...sizes,
    ...(dtypes.length > 1 ? [types] : []),
    ...(source === "announced" ? [choice] : []),
    { kind: "number", pointer: "#/iterations", label: "Iterations", hint: "20 or more are ranked", value: ITERATIONS },
    { kind: "select", pointer: "#/place", label: "Device", options: [["", "whichever is done first"], ...devices] },
  ];
}
