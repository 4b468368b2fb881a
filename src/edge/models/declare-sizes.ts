import type { ModelUploadQuery, TensorSpec } from "../../protocol/models/model.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import { countElements, DTYPE_BYTES } from "../../protocol/wire/tensor.ts";
import type { z } from "zod";

/** Shapes and numbers of inputs in measurements, by name, as an uploader declares them. */
export type DeclaredSizes = Pick<z.output<typeof ModelUploadQuery>, "shapes" | "values">;

/** Inputs with what their uploader declares of them. Throws `invalid-request` where it does not fit the file. */
export function declareSizes(inputs: readonly TensorSpec[], declared: DeclaredSizes): TensorSpec[] {
  const errors = [...checkNames(inputs, declared), ...inputs.flatMap((spec) => checkShapes(spec, declared.shapes))];
  if (errors.length > 0) throw invalidRequest(errors);
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

function checkShapes({ name, dtype, shape }: TensorSpec, shapes: DeclaredSizes["shapes"]): FieldError[] {
  const pointer = "query/shapes";
  return (ownOf(shapes, name) ?? []).flatMap((declared) => {
    const text = `has [${declared.join(", ")}] for ${name}`;
    const fits =
      declared.length === shape.length &&
      declared.every((size, axis) => size > 0 && (shape[axis] === -1 || shape[axis] === size));
    if (!fits) return [{ pointer, message: `${text}, which takes [${shape.join(", ")}]` }];
    const bytes = countElements(declared) * (dtype === "string" ? 1 : DTYPE_BYTES[dtype]);
    if (bytes <= LIMITS.inferBodyBytes) return [];
    return [{ pointer, message: `${text}: ${bytes} bytes, and a request may have ${LIMITS.inferBodyBytes}` }];
  });
}
