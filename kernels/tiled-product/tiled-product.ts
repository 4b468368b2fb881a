import type { KernelShape, KernelVariant, TuningAxis } from "../kernel-spec.ts";

/** A variant that computes products of matrices by the files of this folder. */
interface TiledVariant<Size extends string> extends Pick<KernelVariant<Size>, "name" | "file" | "constants"> {
  /** Files that its own one needs beside the tiling. */
  readonly shared: readonly URL[];
  /** Rows of an invocation in registers: 8, unless its own loop says otherwise. */
  readonly rowsEach?: number;
  /** Size and number of the matrices that it writes. */
  readonly extent: (shape: KernelShape<Size>) => {
    readonly rows: number;
    readonly columns: number;
    readonly products?: number;
  };
}

type AxisChoice = Pick<TuningAxis, "values" | "default">;

const at = (file: string) => new URL(file, import.meta.url);

/** Products of dense matrices in registers; pictures likewise; and dense matrices that fill their buffers. */
export const DENSE_IN_REGISTERS = at("dense-in-registers.wgsl");
export const PICTURES_IN_REGISTERS = at("pictures-in-registers.wgsl");
export const ONE_BATCH_OF_MATRICES = at("one-batch-of-matrices.wgsl");
/** Loads of dense matrices, for slices, and for tiles in workgroup memory. */
export const DENSE_IN_SLICES = at("dense-in-slices.wgsl");
export const DENSE_IN_WORKGROUP_MEMORY = at("dense-in-workgroup-memory.wgsl");

/** Steps of slices that need `shader-f16` and its directive. */
export const HALVES_IN_SLICES = at("halves-in-slices.wgsl");

const BLOCKS = at("blocks.wgsl");

/** Registers only, eight columns an invocation: best on software devices. */
export function tileInRegisters<Size extends string>(
  { extent, shared, rowsEach = 8, ...variant }: TiledVariant<Size>,
  axes: Readonly<Record<"lanesN" | "lanesM", AxisChoice>>,
): KernelVariant<Size, "lanesN" | "lanesM"> {
  return {
    ...variant,
    shared: [...shared, at("in-registers.wgsl"), BLOCKS],
    axes: [
      { name: "lanesN", ...axes.lanesN },
      { name: "lanesM", ...axes.lanesM },
    ],
    passes: [
      {
        entryPoint: "main",
        workgroups(shape, { lanesN, lanesM }) {
          const { rows, columns, products = 1 } = extent(shape);
          return [Math.ceil(columns / (8 * lanesN)), Math.ceil(rows / (rowsEach * lanesM)), products];
        },
      },
    ],
  };
}

/** Lanes of a slice along either side of its tile, which has four rows and columns for each; and of a workgroup. */
const SLICED_AXES: readonly TuningAxis<"sliceLanes" | "groupLanes">[] = [
  { name: "sliceLanes", values: [4, 8], default: 8 },
  { name: "groupLanes", values: [64, 128, 256], default: 256 },
];

/** Numbers of slices. */
const STEPS = {
  floats: at("floats-in-slices.wgsl"),
  halves: HALVES_IN_SLICES,
  whole: at("whole-in-slices.wgsl"),
} as const;

/** Slices of a workgroup along the depth, for matrices that have too few tiles to keep a GPU busy. */
export function tileInSlices<Size extends string>(
  { extent, shared, ...variant }: TiledVariant<Size>,
  numbers: keyof typeof STEPS = "floats",
): KernelVariant<Size, "sliceLanes" | "groupLanes"> {
  return {
    ...variant,
    shared: [...shared, at("in-slices.wgsl"), STEPS[numbers], BLOCKS],
    axes: SLICED_AXES,
    passes: [
      {
        entryPoint: "main",
        workgroups(shape, { sliceLanes }) {
          const { rows, columns, products = 1 } = extent(shape);
          return [Math.ceil(columns / (4 * sliceLanes)), Math.ceil(rows / (4 * sliceLanes)), products];
        },
      },
    ],
  };
}

/** The textbook's tiling: workgroup memory and barriers, which are slow on software devices. */
export function tileInWorkgroupMemory<Size extends string>(
  { extent, shared, ...variant }: TiledVariant<Size>,
  values: AxisChoice = { values: [8, 16], default: 16 },
): KernelVariant<Size, "tile"> {
  return {
    ...variant,
    shared: [...shared, at("in-workgroup-memory.wgsl")],
    axes: [{ name: "tile", ...values }],
    passes: [
      {
        entryPoint: "main",
        workgroups(shape, { tile }) {
          const { rows, columns, products = 1 } = extent(shape);
          return [Math.ceil(columns / tile), Math.ceil(rows / tile), products];
        },
      },
    ],
  };
}
