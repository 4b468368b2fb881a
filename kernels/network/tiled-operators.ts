import type { AxisValues, KernelVariant } from "../kernel-spec.ts";
import type { Tiling } from "../../src/protocol/models/network-layout.ts";
import {
  DENSE_IN_REGISTERS,
  PICTURES_IN_REGISTERS,
  tileInRegisters,
  tileInWorkgroupMemory,
} from "../tiled-product/tiled-product.ts";

/** Size of the matrices that a heavy operator of a network writes, and their number. */
type Size = "rows" | "columns" | "products";

/** Kinds of operators that the catalogue's tiled products compute. */
export type TiledKind = "dense" | "product" | "convolve";

/** Structures of the catalogue for the heavy operators of networks. */
type Structure = "in-registers" | "in-workgroup-memory";

/** Sums and maxima over lanes, for lines.wgsl. */
export const MEET_IN_WORKGROUP = new URL("../row-per-group/meet-in-workgroup.wgsl", import.meta.url);

/** Queries and columns of the values in a workgroup of attention.wgsl. */
export const ATTENTION_TILE = { queries: 16, columns: 64 } as const;

/** Folder of the variants' files. */
export const NETWORK_FOLDER = new URL(".", import.meta.url);

const extent = (shape: Readonly<Record<Size, number>>) => shape;
const lanes = (values: readonly number[], standard: number) => ({ values, default: standard });

const matricesInRegisters = tileInRegisters<Size>(
  { name: "in-registers", file: "matrices-in-registers.wgsl", shared: [DENSE_IN_REGISTERS], extent },
  { lanesN: lanes([4, 8, 16, 32], 8), lanesM: lanes([1, 2, 4, 8], 1) },
);
const picturesInRegisters = tileInRegisters<Size>(
  { name: "in-registers", file: "pictures-in-registers.wgsl", shared: [PICTURES_IN_REGISTERS], extent },
  { lanesN: lanes([1, 2, 4, 8, 16], 4), lanesM: lanes([1, 2, 4, 8], 2) },
);
const inWorkgroupMemory = (file: string) =>
  tileInWorkgroupMemory<Size>({ name: "in-workgroup-memory", file, shared: [], extent });
const matricesInWorkgroupMemory = inWorkgroupMemory("matrices-in-workgroup-memory.wgsl");

/** Programs of the heavy operators by structure: files that follow those of the network, with axes and grids. */
const TILED_OPERATORS: Readonly<Record<Structure, Readonly<Record<TiledKind, KernelVariant<Size>>>>> = {
  "in-registers": {
    dense: matricesInRegisters,
    product: matricesInRegisters,
    convolve: picturesInRegisters,
  },
  "in-workgroup-memory": {
    dense: matricesInWorkgroupMemory,
    product: matricesInWorkgroupMemory,
    convolve: inWorkgroupMemory("pictures-in-workgroup-memory.wgsl"),
  },
};

/** All of them, to be read and checked at once. */
export const TILED_VARIANTS = Object.values(TILED_OPERATORS).flatMap((kinds) => Object.values(kinds));

/** Program of a heavy operator, with values for its axes. */
export interface TileChoice {
  readonly structure: Structure;
  readonly variant: KernelVariant<Size>;
  readonly axes: AxisValues;
}

interface Lanes {
  readonly lanesN: number;
  readonly lanesM: number;
}

/**
 * Lanes of tiles in registers. The first are for software devices. On an H100, 32 × 8 lanes took products of 2048 by 2048
 * to half of the roof, and pictures were fastest with 8 × 4 and 16 × 2.
 */
const REGISTERS: Readonly<
  Record<Exclude<Tiling, "in-workgroup-memory" | "by-size">, { readonly matrices: Lanes; readonly pictures: Lanes }>
> = {
  "in-registers": { matrices: { lanesN: 8, lanesM: 1 }, pictures: { lanesN: 4, lanesM: 2 } },
  "in-registers-16x4": { matrices: { lanesN: 16, lanesM: 4 }, pictures: { lanesN: 8, lanesM: 4 } },
  "in-registers-32x8": { matrices: { lanesN: 32, lanesM: 8 }, pictures: { lanesN: 16, lanesM: 2 } },
};

/**
 * Workgroups from which the largest tiles in registers keep a GPU busy: about as many as it has cores. On an H100 (132)
 * they lost to tiles in workgroup memory at 4 and 16 workgroups, and won at 256.
 */
const BUSY_GROUPS = 128;

/** Program of a heavy operator in a tiling, for matrices of this size and number. */
export function chooseTile(tiling: Tiling, kind: TiledKind, size: Readonly<Record<Size, number>>): TileChoice {
  if (tiling === "by-size") {
    const large = chooseTile("in-registers-32x8", kind, size);
    const [x, y, z] = large.variant.passes[0]!.workgroups(size, large.axes);
    return x * y * z >= BUSY_GROUPS ? large : chooseTile("in-workgroup-memory", kind, size);
  }
  if (tiling === "in-workgroup-memory") {
    return { structure: tiling, variant: TILED_OPERATORS[tiling][kind], axes: { tile: 16 } };
  }
  const { matrices, pictures } = REGISTERS[tiling];
  const axes = { ...(kind === "convolve" ? pictures : matrices) };
  return { structure: "in-registers", variant: TILED_OPERATORS["in-registers"][kind], axes };
}
