import type { ItemMatches, ItemSearch } from "../../protocol/item-memory.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { elapsedMs } from "../elapsed-ms.ts";
import { invalidRequest } from "../http/bind.ts";
import type { MemoryPart, StoredMemory } from "../store/item-memory-store.ts";
import { askCompute } from "./ask-compute.ts";

type Match = ItemMatches["matches"][number][number];

/** The items of a memory that are most similar to each query: each part is one dispatch on a runner that keeps it. */
export async function searchItems(
  env: ProjectEnv,
  memory: StoredMemory,
  search: ItemSearch,
  arrivedAtMs: number,
): Promise<ItemMatches> {
  const { name, dimension } = memory.spec;
  const { queries, limit, ...wishes } = search;
  const errors = queries.flatMap((query, index) =>
    query.length === dimension
      ? []
      : [{ pointer: `#/queries/${index}`, message: `must have ${dimension} numbers, not ${query.length}` }],
  );
  if (errors.length > 0) throw invalidRequest(errors);
  const values = new Float32Array(queries.length * dimension);
  for (const [index, query] of queries.entries()) values.set(query, index * dimension);
  const shape = [queries.length, dimension];
  const tensors = [{ name: "queries", dtype: "float32", shape, bytes: new Uint8Array(values.buffer) } as const];
  const found = await Promise.all(
    memory.parts.map(async ({ digest, keys }) => {
      const sizes = { queries: queries.length, items: keys.length, dimension };
      const resident = [{ binding: "items", digest }];
      const question = {
        ...wishes,
        kernel: "hrr-search",
        shape: sizes,
        seed: 0,
        resident,
        tensors: [...tensors],
        key: name,
      };
      const { tensors: outputs } = await askCompute(env, question, arrivedAtMs);
      return cosinesOf(outputs[0]?.bytes, sizes.queries * sizes.items);
    }),
  );
  const matches = queries.map((_, query) => bestOf(memory.parts, found, query, limit));
  return { memory: name, version: memory.version, matches, totalMs: elapsedMs(arrivedAtMs) };
}

function cosinesOf(bytes: Uint8Array | undefined, count: number): Float32Array {
  if (bytes?.byteLength !== 4 * count) throw new ProblemError("backend-failed", "The runner compared something else.");
  return new Float32Array(new Uint8Array(bytes).buffer);
}

/** The best of all parts, the first of equals first. */
function bestOf(parts: readonly MemoryPart[], cosines: readonly Float32Array[], query: number, limit: number): Match[] {
  const all = parts.flatMap(({ keys }, part) =>
    keys.map((key, item): Match => ({ key, similarity: cosines[part]![query * keys.length + item]! })),
  );
  return all.toSorted((a, b) => b.similarity - a.similarity).slice(0, limit);
}
