import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { Digest } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";

/** Of a model's file, and of a part of one. */
export const FILE_MEDIA_TYPE = "application/octet-stream";

/** What is read of a large model to outline it: by the edge, and by who sends its files. */
export const OUTLINE_LIMITS = {
  reads: LIMITS.surveyReads,
  bytes: LIMITS.surveyBytes,
  pieces: LIMITS.modelPieces,
  tensorBytes: LIMITS.surveyTensorBytes,
} as const;

/** A file that shall be stored, by its content. */
export const UploadInput = z
  .strictObject({
    digest: Digest.meta({ description: "SHA-256 of the whole file" }),
    sizeBytes: z.number().int().min(1).max(LIMITS.largeModelBytes),
  })
  .meta({ id: "UploadInput" });
export type UploadInput = z.infer<typeof UploadInput>;

/** What is stored of a file, and what is missing. */
export const Upload = z
  .object({
    digest: Digest,
    sizeBytes: z.number().int(),
    state: z.enum(["open", "stored"]).meta({ description: "stored: its digest was checked, and a model may name it" }),
    partBytes: z.number().int().meta({ description: "Of every part but the last" }),
    missing: z.array(z.number().int()).meta({ description: "Numbers of the parts to send, from 1" }),
  })
  .meta({ id: "Upload" });
export type Upload = z.infer<typeof Upload>;

/** A part's first byte, and the one behind its last. */
export function boundsOfPart(
  { sizeBytes, partBytes }: Pick<Upload, "sizeBytes" | "partBytes">,
  number: number,
): { readonly start: number; readonly end: number } {
  return { start: (number - 1) * partBytes, end: Math.min(number * partBytes, sizeBytes) };
}

/** Name of a model's own file among its files. */
export const MODEL_FILE = "model.onnx";

/** Name of a file beside the model's own, as `external_data` has it: no folder, and not the model's own file. */
const DataFileName = z
  .string()
  .max(LIMITS.modelFileNameLength)
  // oxlint-disable-next-line no-control-regex
  .regex(/^(?!\.{1,2}$)[^/\\\u0000-\u001f]+$/, "must be a name without folders")
  .refine((name) => name !== MODEL_FILE, `must not be ${MODEL_FILE}, the name of the model's own file`);

/** A model by the digests of its uploaded files: the JSON body of an upload of a model. */
export const ModelFilesInput = z
  .strictObject({
    model: Digest.meta({ description: "The ONNX file" }),
    data: z
      .record(DataFileName, Digest)
      .refine((files) => Object.keys(files).length <= LIMITS.modelDataFiles, `must be at most ${LIMITS.modelDataFiles}`)
      .default({})
      .meta({ description: "Files with its weights, by the names (`location`) that the ONNX file has for them" }),
  })
  .meta({ id: "ModelFilesInput" });
export type ModelFilesInput = z.output<typeof ModelFilesInput>;

/** A file of a large model, by the name that the others know it by; the model's own is `model.onnx`. */
export const ModelFile = z
  .object({ name: z.string(), digest: Digest, sizeBytes: z.number().int() })
  .meta({ id: "ModelFile" });
export type ModelFile = z.infer<typeof ModelFile>;

/** Routes of files that are sent in parts. */
export const uploadEndpoints = {
  beginUpload: defineEndpoint({
    method: "post",
    path: "/v1/uploads",
    tag: "models",
    summary: "Begin the upload of a large file, go on with it, or end it",
    description:
      "The reply names the parts that are missing; once none is, the same request checks the file's digest and stores it. A file that the project has is `stored` at once. An upload that no model names is deleted a day after its last part.",
    access: "submit",
    body: UploadInput,
    repeatable: "as-it-is",
    reply: { status: 200, schema: Upload },
    problems: ["quota-exceeded"],
  }),
  putUploadPart: defineEndpoint({
    method: "put",
    path: "/v1/uploads/{digest}/parts/{number}",
    tag: "models",
    summary: "Send a part of a large file",
    description: "In any order; the same part again changes nothing.",
    access: "submit",
    params: z.object({
      digest: Digest.meta({ description: "SHA-256 of the whole file" }),
      number: z.coerce.number().int().min(1).meta({ description: "Number of the part, from 1" }),
    }),
    query: z.strictObject({ digest: Digest.meta({ description: "SHA-256 of the part" }) }),
    rawBody: { mediaTypes: [FILE_MEDIA_TYPE], maxBytes: LIMITS.uploadPartBytes },
    reply: { status: 204 },
    problems: ["not-found"],
  }),
} as const;
