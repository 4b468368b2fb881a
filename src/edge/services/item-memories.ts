import type { ItemMatches, ItemSearch, ItemsInput } from "../../protocol/inference/hrr.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { type FieldError, ProblemError } from "../../protocol/wire/problem.ts";
import { elapsedMs } from "../clock.ts";
import type { ProjectEnv } from "../config.ts";
import { deleteUnnamed, digestOf, getArtifact, putArtifact } from "../store/artifact-store.ts";
import { openProject } from "../store/database.ts";
import { type MemoryPart, savePart, type StoredMemory } from "../store/kernels/item-memory-store.ts";
import { mustHaveRoomForFile } from "../store/quotas/quota-problem.ts";
import { endShortTurn } from "../turns.ts";
import { askCompute } from "./ask-compute.ts";
import { symbolKeys } from "./hrr-operations.ts";

/** Stored numbers of an item. */
export function pitchOf(dimension: number): number {
  return Math.ceil(dimension / 4) * 4;
}

/**
 * Appends items: to the last part while that has room, whose artifact is written anew, else as a new part. Throws
 * `conflict` where another call changed the memory meanwhile, and `quota-exceeded`.
 */
export async function rememberItems(
  env: ProjectEnv,
  memory: StoredMemory,
  input: ItemsInput,
  arrivedAtMs: number,
): Promise<void> {
  checkItems(memory, input);
  const { dimension } = memory.spec;
  const rows = await vectorsOf(env, memory, input, arrivedAtMs);
  const last = memory.parts.at(-1);
  const added = input.items.map(({ key }) => key);
  const grown = last === undefined || !hasRoom(last, rows.byteLength, added) ? undefined : last;
  const before = grown === undefined ? null : await getArtifact(env.ARTIFACTS, grown.digest);
  if (grown !== undefined && before === null) throw new TypeError(`the artifact ${grown.digest} is gone`);
  const head = before === null ? new Uint8Array() : new Uint8Array(await before.arrayBuffer());
  const bytes = new Uint8Array(head.byteLength + rows.byteLength);
  bytes.set(head);
  bytes.set(new Uint8Array(rows.buffer), head.byteLength);
  const digest = await digestOf(bytes.buffer);
  await mustHaveRoomForFile(env, digest, rows.byteLength);
  await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
  const keys = [...(grown?.keys ?? []), ...added];
  const part = { part: grown?.part ?? memory.parts.length, digest, sizeBytes: bytes.byteLength, keys };
  if (bytes.byteLength !== 4 * pitchOf(dimension) * keys.length)
    throw new TypeError("keys and vectors of a part differ");
  if (await savePart(openProject(env), memory, part)) {
    if (grown !== undefined) await deleteUnnamed(env.DB, env.ARTIFACTS, [grown.digest]);
    return;
  }
  await deleteUnnamed(env.DB, env.ARTIFACTS, [digest]);
  throw new ProblemError("conflict", `The memory ${memory.spec.name} was changed by another call: try again.`);
}

function hasRoom({ sizeBytes, keys }: MemoryPart, rowsBytes: number, added: readonly string[]): boolean {
  if (sizeBytes + rowsBytes > LIMITS.memoryPartBytes) return false;
  const json = new TextEncoder().encode(JSON.stringify([...keys, ...added]));
  return json.byteLength <= LIMITS.memoryPartKeyBytes;
}

function checkItems({ spec, parts }: StoredMemory, { items }: ItemsInput): void {
  const known = new Set(parts.flatMap(({ keys }) => keys));
  if (known.size + items.length > LIMITS.memoryItems) {
    throw new ProblemError(
      "conflict",
      `A memory holds at most ${LIMITS.memoryItems} items; this one has ${known.size}.`,
    );
  }
  const errors: FieldError[] = [];
  const taken: FieldError[] = [];
  for (const [index, { key, vector }] of items.entries()) {
    if (vector !== undefined && vector.length !== spec.dimension) {
      const message = `must have ${spec.dimension} numbers, not ${vector.length}`;
      errors.push({ pointer: `#/items/${index}/vector`, message });
    }
    if (known.has(key)) taken.push({ pointer: `#/items/${index}/key`, message: "is remembered already" });
    known.add(key);
  }
  if (errors.length > 0) throw invalidRequest(errors);
  if (taken.length > 0) throw new ProblemError("conflict", "Keys of one memory differ.", { errors: taken });
}

/** Rows in their stored form. A runner encodes those without a vector of their own, all in one dispatch. */
async function vectorsOf(
  env: ProjectEnv,
  { spec: { name, dimension, seed } }: StoredMemory,
  { items, ...wishes }: ItemsInput,
  arrivedAtMs: number,
): Promise<Float32Array<ArrayBuffer>> {
  const pitch = pitchOf(dimension);
  const rows = new Float32Array(pitch * items.length);
  const nameless = items.flatMap(({ vector }, index) => (vector === undefined ? [index] : []));
  for (const [index, { vector }] of items.entries()) if (vector !== undefined) rows.set(vector, index * pitch);
  if (nameless.length === 0) return rows;
  const tensors = [
    await symbolKeys(
      nameless.map((index) => items[index]!.key),
      seed,
    ),
  ];
  const shape = { symbols: nameless.length, dimension };
  const question = { ...wishes, kernel: "hrr-encode", shape, seed: 0, resident: [], tensors, key: name };
  const { tensors: outputs } = await askCompute(env, question, arrivedAtMs);
  const bytes = outputs[0]?.bytes;
  if (bytes?.byteLength !== 4 * dimension * nameless.length) {
    throw new ProblemError("backend-failed", "The runner encoded something else.");
  }
  const encoded = new Float32Array(new Uint8Array(bytes).buffer);
  for (const [at, index] of nameless.entries()) {
    rows.set(encoded.subarray(at * dimension, (at + 1) * dimension), index * pitch);
  }
  return rows;
}

type Match = ItemMatches["matches"][number][number];

/** Parts of a memory that are asked for at once: the runner takes them one by one, and other requests go between. */
const SEARCHED_AT_ONCE = 8;

/** The items of a memory that are most similar to each query: each part is one dispatch on a runner that caches it. */
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
  const searchPart = async ({ digest, keys }: MemoryPart): Promise<Float32Array> => {
    const sizes = { queries: queries.length, items: keys.length, dimension };
    const resident = [{ binding: "items", digest }];
    const kernel = { kernel: "hrr-search", shape: sizes, seed: 0, resident, tensors: [...tensors] };
    const { tensors: outputs } = await askCompute(env, { ...wishes, ...kernel, key: name }, arrivedAtMs);
    return cosinesOf(outputs[0]?.bytes, sizes.queries * sizes.items);
  };
  const found: Float32Array[] = [];
  for (let at = 0; at < memory.parts.length; at += SEARCHED_AT_ONCE) {
    found.push(...(await Promise.all(memory.parts.slice(at, at + SEARCHED_AT_ONCE).map(searchPart))));
  }
  const matches: Match[][] = [];
  for (const query of queries.keys()) {
    matches.push(bestOf(memory.parts, found, query, limit));
    await endShortTurn();
  }
  return { memory: name, version: memory.version, matches, totalMs: elapsedMs(arrivedAtMs) };
}

function cosinesOf(bytes: Uint8Array | undefined, count: number): Float32Array {
  if (bytes?.byteLength !== 4 * count) throw new ProblemError("backend-failed", "The runner compared something else.");
  return new Float32Array(new Uint8Array(bytes).buffer);
}

/** The best matches of all parts; of equals, the first come first. */
function bestOf(parts: readonly MemoryPart[], cosines: readonly Float32Array[], query: number, limit: number): Match[] {
  const best = new BestMatches<Match>(limit);
  for (const [part, { keys }] of parts.entries()) {
    const similarities = cosines[part]!.subarray(query * keys.length);
    for (let item = 0; item < keys.length; item++) {
      const similarity = similarities[item]!;
      if (best.wants(similarity)) best.add({ key: keys[item]!, similarity });
    }
  }
  return best.inOrder();
}

/** The most similar of many matches; holds at most twice the number wanted. */
export class BestMatches<Found extends Pick<Match, "similarity">> {
  readonly #limit: number;
  #kept: Found[] = [];
  /** Similarity of the last of the best, once there are enough. */
  #least: number | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a further match of this similarity may be among the best: of equals, the first come first. */
  wants(similarity: number): boolean {
    return this.#least === null || similarity > this.#least;
  }

  add(match: Found): void {
    this.#kept.push(match);
    if (this.#kept.length < 2 * this.#limit) return;
    this.#kept = this.inOrder();
    this.#least = this.#kept.at(-1)?.similarity ?? null;
  }

  inOrder(): Found[] {
    return this.#kept.toSorted((a, b) => b.similarity - a.similarity).slice(0, this.#limit);
  }
}
