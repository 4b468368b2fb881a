import cartpoleUrl from "../../../models/cartpole/cartpole.onnx?url&inline";
import lenet5Url from "../../../models/lenet5/lenet5.onnx?url&inline";

function bytesOf(url: string): Uint8Array<ArrayBuffer> {
  const base64 = url.slice(url.indexOf(",") + 1);
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** The files of the zoo. */
export const lenet5 = bytesOf(lenet5Url);
export const cartpole = bytesOf(cartpoleUrl);

/** The same network in other bytes: followed by a field that no reader knows. */
export function variantOf(model: Uint8Array, seed: number): Uint8Array<ArrayBuffer> {
  const unknownField = [0xfa, 0x7f, 4, seed & 0xff, (seed >> 8) & 0xff, 0, 0];
  return Uint8Array.from([...model, ...unknownField]);
}
