import type { Tensor } from "../../protocol/tensor.ts";

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
