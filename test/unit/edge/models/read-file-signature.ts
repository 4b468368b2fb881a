import { finishSteps } from "../../../../src/onnx/each-field.ts";
import { openModel } from "../../../../src/edge/models/check-model.ts";
import { readSignature, type Signature } from "../../../../src/edge/models/read-signature.ts";

/** The signature of an ONNX file, or the first thing that is wrong with it. */
export function readFileSignature(
  file: Uint8Array,
): ({ readonly ok: true } & Signature) | { readonly ok: false; readonly message: string } {
  const opened = finishSteps(openModel(file));
  if (!opened.ok) return opened;
  const signature = readSignature(opened.model);
  return signature.ok ? signature : { ok: false, message: signature.messages.join("; ") };
}
