import { LIMITS } from "../../protocol/limits.ts";
import type { OnnxModel } from "../../onnx/onnx-model.ts";
import { readModel } from "../../onnx/read-model.ts";
import { surveyFile } from "../../onnx/survey-file.ts";
import { UnreadableModel } from "../../onnx/unreadable-model.ts";

export type OpenedModel =
  | { readonly ok: true; readonly model: OnnxModel }
  | { readonly ok: false; readonly message: string };

/** The first bytes of what people send in place of the file that is inside. */
const ARCHIVES = [
  { kind: "a zip archive", first: [0x50, 0x4b] },
  { kind: "a gzip archive", first: [0x1f, 0x8b] },
] as const;

/**
 * Reads an ONNX file that somebody sent. It is surveyed before anything of it is built, so that a small file cannot
 * become much memory; weights in other files are refused, however deep they stand.
 */
export function openModel(file: Uint8Array): OpenedModel {
  const archive = ARCHIVES.find(({ first }) => first.every((byte, at) => file[at] === byte));
  if (archive !== undefined) return { ok: false, message: `the file is ${archive.kind}: unpack it first` };
  try {
    const { hasExternalData } = surveyFile(file, LIMITS.modelPieces);
    if (hasExternalData) return { ok: false, message: "weights outside of the file are not taken" };
    return { ok: true, model: readModel(file, LIMITS.modelNodes) };
  } catch (error) {
    return { ok: false, message: error instanceof UnreadableModel ? error.message : "the file is not an ONNX model" };
  }
}
