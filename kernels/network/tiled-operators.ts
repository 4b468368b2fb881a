import type { KernelVariant } from "../kernel-spec.ts";
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
export type Tiling = "in-registers" | "in-workgroup-memory";

/** Sums and maxima over lanes, for lines.wgsl. */
export const MEET_IN_WORKGROUP = new URL("../meet-in-workgroup.wgsl", import.meta.url);

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
export const TILED_OPERATORS: Readonly<Record<Tiling, Readonly<Record<TiledKind, KernelVariant<Size>>>>> = {
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
