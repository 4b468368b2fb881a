import { seededUniform } from "../../kernels/seeded-uniform.ts";

/** The four patterns of accesses that prefetching is measured on. */
export type OrderName = "sequential" | "strided" | "temporal" | "random";

const STRIDE = 7;
/** Three times what fits, so that LRU has lost most items when their turn comes again. */
const PERIOD = 48;

/** Positions below `items`, one an access; another seed gives another random or temporal order. */
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
