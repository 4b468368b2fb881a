import { modelEndpoints } from "../protocol/models/model-endpoints.ts";
import type { Model, ModelVersion } from "../protocol/models/model.ts";
import { FILE_MEDIA_TYPE } from "../protocol/models/upload.ts";
import type { RawBody } from "./call-options.ts";
import type { Client } from "./client.ts";

/** Uploads an ONNX file as the next version of a model; the same bytes again give the version that is there. */
export function uploadModel(
  client: Client,
  name: string,
  content: RawBody["content"],
  options: { readonly signal?: AbortSignal } = {},
): Promise<{ readonly model: Model; readonly version: ModelVersion }> {
  const rawBody = { mediaType: FILE_MEDIA_TYPE, content };
  return client.call(modelEndpoints.uploadModel, { query: { name }, rawBody, ...options });
}
