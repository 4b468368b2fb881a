import type { HrrOperation } from "../../protocol/inference/hrr.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";

/**
 * The kernel of an operation with its inputs, and the names of its sizes from the outermost extent of the first input.
 */
const OPERATIONS: Record<HrrOperation, { kernel: string; inputs: readonly string[]; sizes: readonly string[] }> = {
  bind: { kernel: "hrr-bind", inputs: ["a", "b"], sizes: ["pairs", "dimension"] },
  unbind: { kernel: "hrr-unbind", inputs: ["c", "a"], sizes: ["pairs", "dimension"] },
  superpose: { kernel: "hrr-superpose", inputs: ["x"], sizes: ["groups", "vectors", "dimension"] },
  similarity: { kernel: "hrr-similarity", inputs: ["x", "y"], sizes: ["pairs", "dimension"] },
  project: { kernel: "hrr-project", inputs: ["x"], sizes: ["rows", "inputs"] },
};

/** An operation as a kernel at a shape. */
export interface HrrPlan {
  readonly kernel: string;
  readonly shape: Record<string, number>;
  readonly tensors: readonly Tensor[];
  /** The shape of the one output. */
  readonly outputShape: readonly number[];
}

/**
 * Reads an operation's inputs: float32 tensors of one shape; a single vector is a row of one. `dimension` is that of a
 * projection's results.
 */
export function planHrr(
  operation: HrrOperation,
  tensors: readonly Tensor[],
  dimension: number | undefined,
  pointerOf: (name: string) => string,
): { ok: true; plan: HrrPlan } | { ok: false; errors: FieldError[] } {
  const { kernel, inputs, sizes } = OPERATIONS[operation];
  const errors: FieldError[] = [];
  const given = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  for (const { name } of tensors) {
    if (!inputs.includes(name))
      errors.push({ pointer: pointerOf(name), message: `must be one of: ${inputs.join(", ")}` });
  }
  const found = inputs.flatMap((name) => {
    const tensor = given.get(name);
    if (tensor === undefined) errors.push({ pointer: pointerOf(""), message: `must have ${name}` });
    return tensor === undefined ? [] : [tensor];
  });
  const first = found[0]?.shape ?? [];
  const extents = [...Array.from({ length: Math.max(0, sizes.length - first.length) }, () => 1), ...first];
  for (const { name, dtype, shape } of found)
    errors.push(...checkInput(name, dtype, shape, first, sizes.length, pointerOf));
  if ((dimension !== undefined) !== (operation === "project")) {
    const message = operation === "project" ? "must be given for a projection" : "belongs to a projection";
    errors.push({ pointer: "#/dimension", message });
  }
  if (errors.length > 0) return { ok: false, errors };
  const own = Object.fromEntries(sizes.map((name, index) => [name, extents[index]!]));
  const shape = operation === "project" ? { ...own, outputs: dimension! } : own;
  return {
    ok: true,
    plan: { kernel, shape, tensors: found, outputShape: outputShapeOf(operation, extents, dimension) },
  };
}

function checkInput(
  name: string,
  dtype: Tensor["dtype"],
  shape: readonly number[],
  first: readonly number[],
  rank: number,
  pointerOf: (name: string) => string,
): FieldError[] {
  const pointer = pointerOf(name);
  if (dtype !== "float32") return [{ pointer, message: "must be float32" }];
  if (shape.length === 0 || shape.length > rank) return [{ pointer, message: `must have 1 to ${rank} extents` }];
  if (shape.includes(0)) return [{ pointer, message: "must not be empty" }];
  if (shape.at(-1)! > LIMITS.hrrDimension) {
    return [{ pointer, message: `must have vectors of at most ${LIMITS.hrrDimension} numbers` }];
  }
  if (shape.slice(0, -1).some((size) => size > MOST_ROWS))
    return [{ pointer, message: `must have at most ${MOST_ROWS} rows` }];
  return shape.join() === first.join() ? [] : [{ pointer, message: `must be of the shape [${first.join(", ")}]` }];
}

/** Limit of workgroups in one dimension; each row needs one. */
const MOST_ROWS = 65_535;

function outputShapeOf(operation: HrrOperation, extents: readonly number[], dimension: number | undefined): number[] {
  switch (operation) {
    case "bind":
    case "unbind":
      return [...extents];
    case "superpose":
      return [extents[0]!, extents[2]!];
    case "similarity":
      return [extents[0]!];
    case "project":
      return [extents[0]!, dimension!];
  }
}

/** Keys of Philox for symbols: the first 64 bits of the SHA-256 of seed and symbol. int32[symbols, 2]. */
export async function symbolKeys(symbols: readonly string[], seed: number): Promise<Tensor> {
  const bytes = new Uint8Array(8 * symbols.length);
  const encoder = new TextEncoder();
  for (const [index, symbol] of symbols.entries()) {
    const digest = await crypto.subtle.digest("SHA-256", encoder.encode(`${seed}\0${symbol}`));
    bytes.set(new Uint8Array(digest, 0, 8), 8 * index);
  }
  return { name: "keys", dtype: "int32", shape: [symbols.length, 2], bytes };
}
