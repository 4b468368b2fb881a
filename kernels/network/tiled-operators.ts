import type { AxisValues, KernelVariant } from "../kernel-spec.ts";
import type { Tiling } from "../../src/protocol/models/network-layout.ts";
import {
  DENSE_IN_REGISTERS,
  DENSE_IN_SLICES,
  PICTURES_IN_REGISTERS,
  tileInRegisters,
  tileInSlices,
} from "../tiled-product/tiled-product.ts";

/** Size of the matrices that an operator of a network writes, and their number. */
type Size = "rows" | "columns" | "products";

/** Kinds of operators that the catalogue's tiled products compute. */
export type TiledKind = "dense" | "product" | "convolve";

/** Bits of rounded rows: floats of 16 bits, or whole numbers of 8. */
export type NarrowBits = 8 | 16;

/** Structures of the catalogue for the products and convolutions of networks. */
type Structure = "in-registers" | "in-slices";

/** Sums and maxima over lanes, for lines.wgsl. */
export const MEET_IN_WORKGROUP = new URL("../row-per-group/meet-in-workgroup.wgsl", import.meta.url);

/** Queries and columns of the values in a workgroup of attention.wgsl. */
export const ATTENTION_TILE = { queries: 16, columns: 64 } as const;

/** Folder of the variants' files. */
export const NETWORK_FOLDER = new URL(".", import.meta.url);

const extent = (shape: Readonly<Record<Size, number>>) => shape;
const lanes = (values: readonly number[], standard: number) => ({ values, default: standard });

const matricesInRegisters = tileInRegisters<Size>(
  { name: "in-registers", file: "matrices.wgsl", shared: [DENSE_IN_REGISTERS], extent },
  { lanesN: lanes([4, 8, 16, 32], 8), lanesM: lanes([1, 2, 4, 8], 1) },
);
const picturesInRegisters = tileInRegisters<Size>(
  { name: "in-registers", file: "pictures-in-registers.wgsl", shared: [PICTURES_IN_REGISTERS], extent },
  { lanesN: lanes([1, 2, 4, 8, 16], 4), lanesM: lanes([1, 2, 4, 8], 2) },
);
const sliced = (file: string, shared: readonly URL[]) =>
  tileInSlices<Size>({ name: "in-slices", file, shared, extent });
const matricesInSlices = sliced("matrices.wgsl", [DENSE_IN_SLICES]);
const narrow = { name: "in-slices", file: "narrow-matrices.wgsl", shared: [], extent } as const;
/**
 * Dense operators in the arithmetic of their weights, of rows that round-rows.wgsl rounded, by the bits of these rows.
 */
const NARROW_IN_SLICES = {
  8: tileInSlices<Size>(narrow, "whole"),
  16: tileInSlices<Size>(narrow, "halves"),
} as const;

/** Programs of these operators by structure: files that follow those of the network, with axes and grids. */
const TILED_OPERATORS: Readonly<Record<Structure, Readonly<Record<TiledKind, KernelVariant<Size>>>>> = {
  "in-registers": {
    dense: matricesInRegisters,
    product: matricesInRegisters,
    convolve: picturesInRegisters,
  },
  "in-slices": {
    dense: matricesInSlices,
    product: matricesInSlices,
    convolve: sliced("pictures-in-slices.wgsl", []),
  },
};

/** All of them, to be read and checked at once. */
export const TILED_VARIANTS = [
  ...Object.values(TILED_OPERATORS).flatMap((kinds) => Object.values(kinds)),
  NARROW_IN_SLICES[8],
];

/** Those that need a device with `shader-f16`. */
export const TILED_VARIANTS_IN_HALVES: readonly KernelVariant<Size>[] = [NARROW_IN_SLICES[16]];

/** Program of an operator, with values for its axes. */
export interface TileChoice {
  readonly structure: Structure;
  readonly variant: KernelVariant<Size>;
  readonly axes: AxisValues;
}

/** Size of the matrices, the length of their sums, and whether large tiles can compute them. */
type Product = Readonly<Record<Size | "depth", number>> & { readonly isHeavy: boolean };

/** Lanes of tiles in registers on software devices, and on GPUs for products that keep one busy. */
const REGISTERS = {
  software: { matrices: { lanesN: 8, lanesM: 1 }, pictures: { lanesN: 4, lanesM: 2 } },
  gpu: { matrices: { lanesN: 32, lanesM: 8 }, pictures: { lanesN: 8, lanesM: 4 } },
} as const;

/** Workgroups that keep a GPU busy: about as many as it has cores (132 on an H100). */
const BUSY_GROUPS = 128;
/** Lanes of a workgroup that every device takes. */
const GROUP_LANES = 256;

/** Program of an operator in a tiling, for matrices of this size and number. */
export function chooseTile(tiling: Tiling, kind: TiledKind, size: Product): TileChoice {
  const inRegisters = (device: keyof typeof REGISTERS): TileChoice => {
    const { matrices, pictures } = REGISTERS[device];
    const axes = { ...(kind === "convolve" ? pictures : matrices) };
    return { structure: "in-registers", variant: TILED_OPERATORS["in-registers"][kind], axes };
  };
  if (tiling === "in-registers") return inRegisters("software");
  const large = inRegisters("gpu");
  if (tiling === "by-size" && size.isHeavy && isBusy(large, size)) return large;
  return inSlices(TILED_OPERATORS["in-slices"][kind], size);
}

/**
 * Program of a dense operator in the arithmetic of its weights. `bits`: of a number in its rounded rows, some of which
 * share a word.
 */
export function chooseNarrowTile(size: Product, bits: NarrowBits): TileChoice {
  return inSlices(NARROW_IN_SLICES[bits], { ...size, depth: (size.depth * bits) / 32 });
}

/** The widest slices whose workgroups keep a GPU busy. */
function inSlices(variant: KernelVariant<Size>, size: Product): TileChoice {
  const choices = [8, 4].map((sliceLanes): TileChoice => {
    const most = GROUP_LANES / sliceLanes ** 2;
    // A slice without a part of the depth of its own would wait for the others.
    const slices = Math.min(most, 2 ** Math.ceil(Math.log2(Math.max(1, size.depth / sliceLanes))));
    const axes = { sliceLanes, groupLanes: slices * sliceLanes ** 2 };
    return { structure: "in-slices", variant, axes };
  });
  return choices.find((choice) => isBusy(choice, size)) ?? choices.at(-1)!;
}

function isBusy({ variant, axes }: TileChoice, size: Product): boolean {
  const [x, y, z] = variant.passes[0]!.workgroups(size, axes);
  return x * y * z >= BUSY_GROUPS;
}
