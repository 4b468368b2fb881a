import type { TensorSpec } from "./model.ts";
import type { FieldError } from "./problem.ts";
import type { TensorHeader } from "./tensor.ts";

/** Where a tensor of this name stands in the request, as a pointer. */
export type PointerOf = (name: string) => string;

/** What is wrong with a request's tensors for a model that takes `specs`; empty where nothing is. */
export function matchInputs(
  specs: readonly TensorSpec[],
  tensors: readonly TensorHeader[],
  pointerOf: PointerOf,
): FieldError[] {
  const errors: FieldError[] = [];
  const given = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  if (given.size < tensors.length) errors.push({ pointer: pointerOf(""), message: "two tensors have the same name" });
  for (const spec of specs) {
    const tensor = given.get(spec.name);
    given.delete(spec.name);
    const message = tensor === undefined ? `is missing: the model takes ${describe(spec)}` : mismatch(spec, tensor);
    if (message !== null) errors.push({ pointer: pointerOf(spec.name), message });
  }
  for (const name of given.keys()) {
    const known = specs.map((spec) => spec.name).join(", ");
    errors.push({ pointer: pointerOf(name), message: `is not an input of the model, which takes ${known}` });
  }
  return errors;
}

function mismatch(spec: TensorSpec, tensor: TensorHeader): string | null {
  if (tensor.dtype !== spec.dtype) return `must be ${spec.dtype}, not ${tensor.dtype}`;
  const fits =
    tensor.shape.length === spec.shape.length &&
    spec.shape.every((size, axis) => size === -1 || size === tensor.shape[axis]);
  if (!fits) return `must have the shape [${spec.shape.join(", ")}], not [${tensor.shape.join(", ")}]`;
  return tensor.shape.includes(0) ? "must not be empty" : null;
}

function describe(spec: TensorSpec): string {
  return `${spec.dtype} [${spec.shape.join(", ")}]`;
}
