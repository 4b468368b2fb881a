import type { KernelAnnouncement } from "../src/protocol/fleet/hardware.ts";
import type { Roofline } from "../src/protocol/fleet/roofline.ts";
import type { DType } from "../src/protocol/wire/tensor.ts";

/** Sizes of one problem by dimension name, all given and inside their bounds. */
export type KernelShape<Size extends string = string> = Readonly<Record<Size, number>>;

/** Values of a variant's tuning axes by the name of the WGSL `override`. */
export type AxisValues<Axis extends string = string> = Readonly<Record<Axis, number>>;

/** Host memory of a binding. Other element types join with the kernels that need them. */
export type KernelArray =
  | Float32Array<ArrayBuffer>
  | Float16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Int8Array<ArrayBuffer>;

/** Arrays by binding name, dense and row-major: padding is added on the way to the device. */
export type KernelArrays = Readonly<Record<string, KernelArray>>;

/** One size that a caller chooses; announced unchanged. */
export type KernelDimension<Size extends string = string> = KernelAnnouncement["dimensions"][number] & {
  readonly name: Size;
};

/**
 * A storage buffer at `@group(0)`, numbered from 1 in the order of the spec. `read` is filled by the
 * generator, `write` is compared with the reference, `scratch` lives between the passes.
 */
export interface KernelBinding<Size extends string = string> {
  readonly name: string;
  readonly access: "read" | "write" | "scratch";
  /** WGSL may read `int32` as u32, and `float32` as the u32 of its bits; it sees four `int8` in a u32, the first in the lowest byte. */
  readonly dtype: Extract<DType, "float32" | "float16" | "int32" | "int8">;
  /** Extents, outermost first. */
  extents(shape: KernelShape<Size>): readonly number[];
  /** Each extent is rounded up to a multiple of this on the device and filled with zeros; rows of `int8` to whole words. */
  readonly alignment: readonly number[];
}

/** One number that the tuner may choose: a WGSL `override`. */
export interface TuningAxis<Axis extends string = string> {
  readonly name: Axis;
  readonly values: readonly number[];
  readonly default: number;
}

/** One dispatch; a variant's passes run in order inside one compute pass. */
export interface KernelPass<Size extends string = string, Axis extends string = string> {
  readonly entryPoint: string;
  /** Workgroups along x, y and z. */
  workgroups(shape: KernelShape<Size>, axes: AxisValues<Axis>): readonly [number, number, number];
}

/** One structure of a kernel: its own WGSL file with its own axes, and files that it shares with others. */
export interface KernelVariant<Size extends string = string, Axis extends string = string> {
  readonly name: string;
  readonly file: string;
  /** Files that follow it in the program. Variants of one `file` have the same ones. */
  readonly shared?: readonly URL[];
  /** The WGSL itself, of a variant that has no file: it came from a user. */
  readonly code?: string;
  readonly axes: readonly TuningAxis<Axis>[];
  /** Further `override`s, which depend on the shape and are not tuned. */
  constants?(shape: KernelShape<Size>): Readonly<Record<string, number>>;
  readonly passes: readonly KernelPass<Size, Axis>[];
  /** Whether it can run at a shape; absent where it runs at any. At least one variant does at every shape. */
  takes?(shape: KernelShape<Size>): boolean;
}

/** How far an output may be from the reference: |error| ≤ absolute(shape) + relative · |reference|. */
export interface Tolerance<Size extends string = string> {
  readonly relative: number;
  absolute(shape: KernelShape<Size>): number;
  /** Why this much and no less, with its source. */
  readonly reason: string;
}

/** How a kernel measures a roof of a device. */
export interface KernelPeak<Size extends string = string> {
  /** The roof's name in a roofline. */
  readonly name: keyof Roofline["gflops"] | keyof Roofline["gigabytesPerSecond"];
  readonly counts: "flops" | "bytes";
  /** From one that takes next to no time on any device to the largest that is useful. */
  readonly shapes: readonly [KernelShape<Size>, ...KernelShape<Size>[]];
  /** Settings that are compared. */
  readonly axes: readonly AxisValues[];
}

/** The naive f64 answer, element by element, so that a sample of a large output can be checked. */
export interface KernelReference {
  /** Name of the `write` binding. */
  readonly output: string;
  readonly length: number;
  /** Floating-point operations that one element costs here. */
  readonly elementFlops: number;
  element(index: number): number;
  /** For the further `write` bindings, where there are several. */
  readonly others?: readonly KernelReference[];
}

/** A kernel without its WGSL. Binding 0 has the shape's sizes as u32, in order. */
export interface KernelSpec<Size extends string = string> {
  readonly name: string;
  readonly description: string;
  /** The folder of its .wgsl files. */
  readonly folder: URL;
  readonly dimensions: readonly KernelDimension<Size>[];
  /** The dimension that counts independent items, where there is one: a throughput job chooses how many. */
  readonly batchDimension?: Size;
  /** The first is taken where none is asked for. */
  readonly dtypes: readonly [DType, ...DType[]];
  /** WebGPU features that a device needs for it, such as `shader-f16`. */
  readonly features?: readonly string[];
  readonly bindings: readonly KernelBinding<Size>[];
  /** The first that takes the shape is taken where no other is asked for or preferred. */
  readonly variants: readonly [KernelVariant<Size>, ...KernelVariant<Size>[]];
  /**
   * Size along which a problem falls into independent ones, so that one beyond the device's limits may run in
   * parts: every binding either does not depend on it or has it as a factor of its outermost extent.
   */
  readonly splitBy?: Size;
  /**
   * Default on a device that is no emulation, for every shape: where the other default has few or serial lanes. Measured
   * on an NVIDIA H100, 2026-11-26, in bench/results/device-suite-2026-11-26-nvidia-h100-80gb-hbm3.json.
   */
  readonly onRealGpu?: { readonly variant: string; readonly axes: AxisValues };
  /** Name of the variant for a shape, until the tuner knows better. */
  preferVariant?(shape: KernelShape<Size>): string;
  /** Floating-point operations of the problem, the same for every variant. */
  flops(shape: KernelShape<Size>): number;
  /** Bytes that any implementation must move: every input read once, every output written once. */
  bytes(shape: KernelShape<Size>): number;
  /** There where it measures a roof of devices. */
  readonly peak?: KernelPeak<Size>;
  readonly tolerance: Tolerance<Size>;
  /** Inputs of the `read` bindings: a pure function of shape and seed. */
  generate(shape: KernelShape<Size>, seed: number): KernelArrays;
  reference(inputs: KernelArrays, shape: KernelShape<Size>): KernelReference;
}
