const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);
const SIGN = 0x80000000;

/** A word for a float (f32), larger where the float is; zeros are equal. Integers can be compared and exchanged atomically. */
export function toFloatOrder(value: number): number {
  float[0] = value + 0;
  const bits = word[0]!;
  return (bits >= SIGN ? ~bits : bits | SIGN) >>> 0;
}

export function fromFloatOrder(order: number): number {
  word[0] = order >= SIGN ? order ^ SIGN : ~order;
  return float[0]!;
}
