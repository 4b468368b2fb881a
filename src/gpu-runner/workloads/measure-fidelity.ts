import { type Tensor, typedView, unpackStrings } from "../../protocol/tensor.ts";

/** Share of answers in which every output has its largest element where the original has it. */
export function measureFidelity(
  originals: readonly (readonly Tensor[])[],
  answers: readonly (readonly Tensor[])[],
): number {
  const same = originals.filter((original, index) => isSameLargest(original, answers[index] ?? []));
  return same.length / originals.length;
}

function isSameLargest(original: readonly Tensor[], answer: readonly Tensor[]): boolean {
  return original.every((expected) => {
    const found = answer.find(({ name }) => name === expected.name);
    return found !== undefined && largestOf(found) === largestOf(expected);
  });
}

/** Where the largest element stands, the first of equal ones; of strings their text. */
function largestOf(tensor: Tensor): number | string {
  if (tensor.dtype === "string") return unpackStrings(tensor.bytes).join("\0");
  const values = typedView(tensor);
  let largest = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[largest]!) largest = i;
  return largest;
}
