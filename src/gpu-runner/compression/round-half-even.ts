/** The nearest whole number, and of two that are equally near the even one, as IEEE 754 rounds and ONNX quantises. */
export function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
