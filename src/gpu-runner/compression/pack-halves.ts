/** Whole numbers of four bits as ONNX stores them: the lower half of a byte first, a last half alone beside zero. */
export function packHalves(halves: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil(halves.length / 2));
  for (let place = 0; place < halves.length; place++) bytes[place >> 1]! |= (halves[place]! & 15) << (4 * (place & 1));
  return bytes;
}
