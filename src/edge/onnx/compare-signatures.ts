import type { TensorSpec } from "../../protocol/model.ts";
import type { FieldError } from "../../protocol/problem.ts";
import type { Signature } from "./read-signature.ts";

/** What is wrong with a file as a variant: it takes and gives what its version does, so that either may answer a request. */
export function compareSignatures(version: Signature, file: Signature): FieldError[] {
  return (["inputs", "outputs"] as const).flatMap((side) => {
    const [wanted, found] = [version[side], file[side]].map(describeTensors);
    return wanted === found ? [] : [{ pointer: "#", message: `has the ${side} ${found}, and the version ${wanted}` }];
  });
}

function describeTensors(specs: readonly TensorSpec[]): string {
  return specs.map(({ name, dtype, shape }) => `${name}: ${dtype} [${shape.join(", ")}]`).join(", ");
}
