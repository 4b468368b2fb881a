import { boundsOfPart, FILE_MEDIA_TYPE, type Upload, type UploadInput } from "../../protocol/models/upload.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { discardBody } from "../http/read-body.ts";
import { checkHead, storeBody } from "../http/store-body.ts";
import { hasArtifact } from "../store/artifact-store.ts";
import { openProject } from "../store/database.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";
import {
  beginUpload,
  joinParts,
  putPart,
  readOwnFiles,
  readParts,
  reopenUpload,
  type StoredUpload,
  touchUpload,
} from "../store/models/upload-store.ts";

const PART = { mediaTypes: [FILE_MEDIA_TYPE], maxBytes: LIMITS.uploadPartBytes } as const;

/**
 * Begins the upload of a file or goes on with it, and stores the file once all of its parts are there. Throws
 * `quota-exceeded` where the project has no room for it, and `invalid-request` where the parts are another file.
 */
export async function advanceUpload(env: ProjectEnv, input: UploadInput): Promise<Upload> {
  const { digest } = input;
  const nowMs = Date.now();
  const db = openProject(env);
  const stored = { ...input, isStored: true };
  const owned = (await readOwnFiles(env, [digest], nowMs)).get(digest);
  if (owned !== undefined) {
    mustAgree(input, owned);
    if (await hasArtifact(env.ARTIFACTS, digest)) return describe(stored, []);
    await reopenUpload(db, digest);
  }
  const upload = await beginUpload(env, input, nowMs);
  if (upload === null) throw await quotaExceeded(env, { uploads: 1, storedBytes: input.sizeBytes });
  mustAgree(input, upload.sizeBytes);
  if (upload.isStored) return describe(upload, []);
  const missing = await findMissing(env, upload);
  if (missing.length > 0) return describe(upload, missing);
  const joined = await joinParts(env, db, upload, countParts(upload), nowMs);
  if (joined === "stored") return describe(stored, []);
  if (joined === "other") {
    throw invalidRequest([{ pointer: "#/digest", message: "is not of the parts that were sent: they are deleted" }]);
  }
  // Another request may have ended it meanwhile.
  if ((await readOwnFiles(env, [digest], nowMs)).has(digest)) return describe(stored, []);
  return describe(upload, await findMissing(env, upload));
}

/** Stores a part of an upload that has begun; a stored file needs none. Throws `not-found` where it has not, and `invalid-request`. */
export async function storePart(
  env: ProjectEnv,
  request: Request,
  { digest, number, partDigest }: { readonly digest: string; readonly number: number; readonly partDigest: string },
): Promise<void> {
  const { sizeBytes } = await checkHead(request, PART);
  const upload = await touchUpload(openProject(env), digest, Date.now());
  if (upload === null) throw new ProblemError("not-found", `There is no upload of ${digest}: begin it first.`);
  const count = countParts(upload);
  if (number > count) throw invalidRequest([{ pointer: "path/number", message: `must be at most ${count}` }]);
  const wantedBytes = lengthOfPart(upload, number);
  if (sizeBytes !== wantedBytes) {
    throw invalidRequest([
      { pointer: "#", message: `must have ${wantedBytes} bytes, as the part ${number} of ${count}` },
    ]);
  }
  if (upload.isStored) return discardBody(request);
  await storeBody(request, partDigest, PART, (bytes) => putPart(env, { digest, number, partDigest }, bytes));
}

async function findMissing(env: ProjectEnv, upload: StoredUpload): Promise<number[]> {
  const parts = await readParts(env, upload.digest);
  const numbers = Array.from({ length: countParts(upload) }, (_, index) => index + 1);
  return numbers.filter((number) => parts.get(number) !== lengthOfPart(upload, number));
}

function describe({ digest, sizeBytes, isStored }: StoredUpload, missing: number[]): Upload {
  return { digest, sizeBytes, state: isStored ? "stored" : "open", partBytes: LIMITS.uploadPartBytes, missing };
}

function countParts({ sizeBytes }: StoredUpload): number {
  return Math.ceil(sizeBytes / LIMITS.uploadPartBytes);
}

function lengthOfPart({ sizeBytes }: StoredUpload, number: number): number {
  const { start, end } = boundsOfPart({ sizeBytes, partBytes: LIMITS.uploadPartBytes }, number);
  return end - start;
}

function mustAgree({ sizeBytes }: UploadInput, knownBytes: number): number {
  if (sizeBytes === knownBytes) return sizeBytes;
  throw invalidRequest([
    { pointer: "#/sizeBytes", message: `is ${sizeBytes}, and the file of this digest has ${knownBytes} bytes` },
  ]);
}
