import type { ItemMatches, ItemSearch, ItemsInput } from "../../protocol/inference/hrr.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { type FieldError, ProblemError } from "../../protocol/wire/problem.ts";
import { elapsedMs } from "../clock.ts";
import type { ProjectEnv } from "../config.ts";
import { deleteUnnamed, digestOf, getArtifact, putArtifact } from "../store/artifact-store.ts";
import { openProject, type ProjectDatabase } from "../store/database.ts";
import {
  findKeys,
  type MemoryPart,
  readPartKeys,
  savePart,
  type StoredMemory,
} from "../store/kernels/item-memory-store.ts";
import { mustHaveRoomForFile } from "../store/quotas/quota-problem.ts";
import { endShortTurn } from "../turns.ts";
import { askCompute } from "./ask-compute.ts";
import { symbolKeys } from "./hrr-operations.ts";

/** Stored numbers of an item. */
export function pitchOf(dimension: number): number {
  return Math.ceil(dimension / 4) * 4;
}

function countItems({ spec }: StoredMemory, { sizeBytes }: MemoryPart): number {
  return sizeBytes / (4 * pitchOf(spec.dimension));
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
  const db = openProject(env);
  const { name, dimension } = memory.spec;
  await checkItems(db, memory, input);
  const rows = await vectorsOf(env, memory, input, arrivedAtMs);
  const last = memory.parts.at(-1);
  const added = input.items.map(({ key }) => key);
  const grown = last === undefined || !hasRoom(last, rows.byteLength, added) ? undefined : last;
  const [before, known] = await Promise.all([
    grown === undefined ? null : getArtifact(env.ARTIFACTS, grown.digest),
    grown === undefined ? undefined : readPartKeys(db, memory, [grown.part]),
  ]);
  if (grown !== undefined && before === null) throw changedMeanwhile(name);
  const head = before === null ? new Uint8Array() : new Uint8Array(await before.arrayBuffer());
  const bytes = new Uint8Array(head.byteLength + rows.byteLength);
  bytes.set(head);
  bytes.set(new Uint8Array(rows.buffer), head.byteLength);
  const digest = await digestOf(bytes.buffer);
  await mustHaveRoomForFile(env, digest, rows.byteLength);
  await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
  const keys = [...((grown && known?.get(grown.part)) ?? []), ...added];
  const part = { part: grown?.part ?? memory.parts.length, digest, sizeBytes: bytes.byteLength, keys };
  // Where they differ, another call has changed the part since the memory was read.
  const isWhole = bytes.byteLength === 4 * pitchOf(dimension) * keys.length;
  if (isWhole && (await savePart(db, memory, part))) {
    if (grown !== undefined) await deleteUnnamed(env.DB, env.ARTIFACTS, [grown.digest]);
    return;
  }
  await deleteUnnamed(env.DB, env.ARTIFACTS, [digest]);
  throw changedMeanwhile(name);
}

function changedMeanwhile(name: string): ProblemError {
  return new ProblemError("conflict", `The memory ${name} was changed by another call: try again.`);
}

function hasRoom({ sizeBytes, keyBytes }: MemoryPart, rowsBytes: number, added: readonly string[]): boolean {
  if (sizeBytes + rowsBytes > LIMITS.memoryPartBytes) return false;
  return keyBytes + lengthOf(added) <= LIMITS.memoryPartKeyBytes;
}

/** Bytes of keys as JSON. */
function lengthOf(keys: readonly string[]): number {
  return new TextEncoder().encode(JSON.stringify(keys)).byteLength;
}

async function checkItems(db: ProjectDatabase, memory: StoredMemory, { items }: ItemsInput): Promise<void> {
  const { spec, parts } = memory;
  const count = parts.reduce((sum, part) => sum + countItems(memory, part), 0);
  if (count + items.length > LIMITS.memoryItems)
    throw new ProblemError("conflict", `A memory holds at most ${LIMITS.memoryItems} items; this one has ${count}.`);
  const errors: FieldError[] = [];
  const taken: FieldError[] = [];
  const keys = items.map(({ key }) => key);
  const known = await findKeys(db, spec.name, keys);
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

/**
 * Parts of a memory that are asked for at once, their cosines, and bytes of their keys: the runner takes one part after
 * the other, and other requests go between.
 */
const AT_ONCE = { parts: 8, cosines: 2 ** 20, keyBytes: 2 ** 21 };
/** Beyond so many cosines or bytes of keys in all, few searches are made at a time: each holds megabytes. */
const LARGE = { cosines: 2 ** 18, keyBytes: 2 ** 20 };

export function isLargeSearch(memory: StoredMemory, { queries }: ItemSearch): boolean {
  const items = memory.parts.reduce((sum, part) => sum + countItems(memory, part), 0);
  const keyBytes = memory.parts.reduce((sum, part) => sum + part.keyBytes, 0);
  return items * queries.length > LARGE.cosines || keyBytes > LARGE.keyBytes;
}

/** The items of a memory that are most similar to each query: each part is one dispatch on a runner that caches it. */
export async function searchItems(
  env: ProjectEnv,
  memory: StoredMemory,
  search: ItemSearch,
  arrivedAtMs: number,
): Promise<ItemMatches> {
  const { name, dimension } = memory.spec;
  const { queries, limit, ...wishes } = search;
  checkSearch(memory, search);
  const values = new Float32Array(queries.length * dimension);
  for (const [index, query] of queries.entries()) values.set(query, index * dimension);
  const shape = [queries.length, dimension];
  const tensors = [{ name: "queries", dtype: "float32", shape, bytes: new Uint8Array(values.buffer) } as const];
  const searchPart = async (part: MemoryPart): Promise<Float32Array> => {
    const sizes = { queries: queries.length, items: countItems(memory, part), dimension };
    const resident = [{ binding: "items", digest: part.digest }];
    const kernel = { kernel: "hrr-search", shape: sizes, seed: 0, resident, tensors: [...tensors] };
    const { tensors: outputs } = await askCompute(env, { ...wishes, ...kernel, key: name }, arrivedAtMs);
    return cosinesOf(outputs[0]?.bytes, sizes.queries * sizes.items);
  };
  const best = queries.map(() => new BestMatches<Match>(limit));
  for (const parts of groupParts(memory, queries.length)) {
    const numbers = parts.map(({ part }) => part);
    const [cosines, keys] = await Promise.all([
      Promise.all(parts.map(searchPart)),
      readPartKeys(openProject(env), memory, numbers),
    ]);
    for (const [query, found] of best.entries()) {
      for (const [index, { part }] of parts.entries()) {
        const items = cosines[index]!.length / queries.length;
        const partKeys = keys.get(part);
        if (partKeys === undefined) throw changedMeanwhile(name);
        addMatches(found, partKeys, cosines[index]!.subarray(query * items, (query + 1) * items));
      }
      await endShortTurn();
    }
  }
  const matches = best.map((found) => found.inOrder());
  return { memory: name, version: memory.version, matches, totalMs: elapsedMs(arrivedAtMs) };
}

function checkSearch({ spec: { dimension } }: StoredMemory, { queries, limit }: ItemSearch): void {
  const errors = queries.flatMap((query, index) =>
    query.length === dimension
      ? []
      : [{ pointer: `#/queries/${index}`, message: `must have ${dimension} numbers, not ${query.length}` }],
  );
  const most = Math.floor(LIMITS.hrrMatchesOfAll / queries.length);
  if (limit > most) errors.push({ pointer: "#/limit", message: `must be at most ${most} for so many queries` });
  if (errors.length > 0) throw invalidRequest(errors);
}

/** The parts in their order, as many together as are asked for at once. */
function groupParts(memory: StoredMemory, queries: number): MemoryPart[][] {
  const groups: MemoryPart[][] = [];
  let sum = { cosines: 0, keyBytes: 0 };
  for (const part of memory.parts) {
    const cosines = queries * countItems(memory, part);
    const group = groups.at(-1);
    sum = { cosines: sum.cosines + cosines, keyBytes: sum.keyBytes + part.keyBytes };
    const isWithin = sum.cosines <= AT_ONCE.cosines && sum.keyBytes <= AT_ONCE.keyBytes;
    if (group !== undefined && group.length < AT_ONCE.parts && isWithin) group.push(part);
    else {
      groups.push([part]);
      sum = { cosines, keyBytes: part.keyBytes };
    }
  }
  return groups;
}

function cosinesOf(bytes: Uint8Array | undefined, count: number): Float32Array {
  if (bytes?.byteLength !== 4 * count) throw new ProblemError("backend-failed", "The runner compared something else.");
  const isAligned = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0;
  // Of megabytes, a copy counts.
  return isAligned
    ? new Float32Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, count)
    : new Float32Array(new Uint8Array(bytes).buffer);
}

/** Adds the items of a part. Its keys may have become more since: the items of a memory are only ever appended. */
function addMatches(best: BestMatches<Match>, keys: readonly string[], similarities: Float32Array): void {
  for (let item = 0; item < similarities.length; item++) {
    const similarity = similarities[item]!;
    if (best.wants(similarity)) best.add({ key: keys[item]!, similarity });
  }
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
