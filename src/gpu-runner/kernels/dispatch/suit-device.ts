import type { KernelSpec } from "../../../../kernels/kernel-spec.ts";
import type { Device } from "../../../protocol/fleet/hardware.ts";

type Kernels = ReadonlyMap<string, KernelSpec>;

/** Kernels with the defaults for a device: those of an emulation are slow on a real GPU. */
export function suitDevice(kernels: Kernels, { software }: Pick<Device, "software">): Kernels {
  if (software) return kernels;
  return new Map(Array.from(kernels, ([name, kernel]) => [name, suitRealGpu(kernel)]));
}

function suitRealGpu(kernel: KernelSpec): KernelSpec {
  const { onRealGpu, variants } = kernel;
  if (onRealGpu === undefined) return kernel;
  const { variant, axes } = onRealGpu;
  const suit = (one: KernelSpec["variants"][number]): KernelSpec["variants"][number] => {
    if (one.name !== variant) return one;
    return { ...one, axes: one.axes.map((axis) => ({ ...axis, default: axes[axis.name] ?? axis.default })) };
  };
  const [first, ...others] = variants;
  return { ...kernel, variants: [suit(first), ...others.map(suit)], preferVariant: () => variant };
}
