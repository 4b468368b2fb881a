import type { Tensor } from "../../protocol/tensor.ts";

/** Joins the tensors of several requests along their first dimension. All name the same tensors in the same order. */
export function stackRows(requests: readonly (readonly Tensor[])[]): Tensor[] {
  const [first = []] = requests;
  return first.map(({ name, dtype, shape: [, ...inner] }, index) => {
    const parts = requests.map((tensors) => tensors[index]!);
    const rows = parts.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
    return { name, dtype, shape: [rows, ...inner], bytes: Buffer.concat(parts.map(({ bytes }) => bytes)) };
  });
}
