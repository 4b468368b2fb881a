import type { ModelUploadQuery, TensorSpec } from "../../protocol/models/model.ts";
import { countSizes, measuredShape } from "../../protocol/models/model-inputs.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import { countElements, DTYPE_BYTES } from "../../protocol/wire/tensor.ts";
import type { z } from "zod";

/** Shapes and numbers of inputs in measurements, by name, as an uploader declares them. */
export type DeclaredSizes = Pick<z.output<typeof ModelUploadQuery>, "shapes" | "values">;

/** Inputs with what their uploader declares of them. Throws `invalid-request` where it does not fit the file. */
export function declareSizes(inputs: readonly TensorSpec[], declared: DeclaredSizes): TensorSpec[] {
  const errors = checkDeclared(inputs, declared);
  if (errors.length > 0) throw invalidRequest(errors);
  return withSizes(inputs, declared);
}

/** Errors of declared sizes, and of those that a runner found: inputs are generated of them, at the edge as well. */
export function checkDeclared(inputs: readonly TensorSpec[], declared: DeclaredSizes): FieldError[] {
  const errors = [...checkNames(inputs, declared), ...inputs.flatMap((spec) => checkShapes(spec, declared.shapes))];
  return errors.length > 0 ? errors : checkBytes(withSizes(inputs, declared));
}

function withSizes(inputs: readonly TensorSpec[], declared: DeclaredSizes): TensorSpec[] {
  return inputs.map((spec) => {
    const [shapes, values] = [ownOf(declared.shapes, spec.name), ownOf(declared.values, spec.name)];
    return { ...spec, ...(shapes !== undefined && { shapes }), ...(values !== undefined && { values }) };
  });
}

function ownOf<Value>(record: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

function checkNames(inputs: readonly TensorSpec[], declared: DeclaredSizes): FieldError[] {
  const known = new Set(inputs.map(({ name }) => name));
  return (["shapes", "values"] as const).flatMap((field) =>
    Object.keys(declared[field] ?? {}).flatMap((name) =>
      known.has(name)
        ? []
        : [{ pointer: `query/${field}`, message: `names ${name}, but the inputs are ${[...known].join(", ")}` }],
    ),
  );
}

function checkShapes({ name, shape }: TensorSpec, shapes: DeclaredSizes["shapes"]): FieldError[] {
  const pointer = "query/shapes";
  return (ownOf(shapes, name) ?? []).flatMap((declared) => {
    const text = `has [${declared.join(", ")}] for ${name}`;
    const fits =
      declared.length === shape.length &&
      declared.every((size, axis) => size > 0 && (shape[axis] === -1 || shape[axis] === size));
    if (!fits) return [{ pointer, message: `${text}, which takes [${shape.join(", ")}]` }];
    if (shape[0] !== -1 || declared[0] === 1) return [];
    return [{ pointer, message: `${text}: its first axis counts the rows of a request, and must be 1` }];
  });
}

/** Generated inputs of a row must fit in a request, all together. */
function checkBytes(inputs: readonly TensorSpec[]): FieldError[] {
  return Array.from({ length: countSizes(inputs) }, (_, size) => size).flatMap((size) => {
    const bytes = inputs.reduce((sum, spec) => sum + bytesOf(spec, size), 0);
    if (bytes <= LIMITS.inferBodyBytes) return [];
    const shapes = inputs.map((spec) => `[${measuredShape(spec, size).join(", ")}]`).join(", ");
    const message = `brings a row of ${shapes} to ${bytes} bytes, and a request may have ${LIMITS.inferBodyBytes}`;
    return [{ pointer: "query/shapes", message }];
  });
}

/** The length of a text takes four bytes, however short the text. */
function bytesOf(spec: TensorSpec, size: number): number {
  return countElements(measuredShape(spec, size)) * (spec.dtype === "string" ? 4 : DTYPE_BYTES[spec.dtype]);
}
