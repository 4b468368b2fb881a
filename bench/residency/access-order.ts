import { seededUniform } from "../../kernels/seeded-uniform.ts";

/** The four patterns of accesses for measuring prefetching. */
export type OrderName = "sequential" | "strided" | "temporal" | "random";

const STRIDE = 7;
/** Three times the capacity, so that LRU has lost most items before their next access. */
const PERIOD = 48;

/** Positions below `items`, one for each access; another seed gives another random or temporal order. */
export function createOrder(name: OrderName, items: number, accesses: number, seed: number): number[] {
  const random = seededUniform(seed, 0, accesses);
  const randomAt = (index: number) => Math.floor((((random[index] ?? 0) + 1) / 2) * items);
  const at = {
    sequential: (index: number) => index % items,
    strided: (index: number) => (index * STRIDE) % items,
    temporal: (index: number) => randomAt(index % PERIOD),
    random: randomAt,
  }[name];
  return Array.from({ length: accesses }, (_, index) => at(index));
}
