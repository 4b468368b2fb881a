import { type Tensor, typedView } from "../../protocol/tensor.ts";

/** Whether every output's largest element stands at the same place in both; the outputs hold numbers. */
export function haveSameLargest(reference: readonly Tensor[], outputs: readonly Tensor[]): boolean {
  return reference.every((expected) => {
    const found = outputs.find(({ name }) => name === expected.name);
    return found !== undefined && indexOfLargest(expected) === indexOfLargest(found);
  });
}

function indexOfLargest(tensor: Tensor): number {
  const values = typedView(tensor);
  let largest = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[largest]!) largest = i;
  return largest;
}
