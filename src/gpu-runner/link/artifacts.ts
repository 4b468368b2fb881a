import { createHash } from "node:crypto";
import { AbortError } from "p-retry";
import pRetry from "p-retry";
import { endpoints } from "../../protocol/endpoints.ts";
import { JobArtifact, type JobArtifactName } from "../../protocol/jobs/job-artifact.ts";
import type { Lease } from "../../protocol/link.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { parseProblem, ProblemError, PROBLEMS } from "../../protocol/wire/problem.ts";
import { hasDigest } from "../host/files.ts";
import type { StoredCredential } from "./registration.ts";

/** How long the head of an answer may take behind the question's last byte: a half-open connection never gives one. */
const ANSWER_LIMIT_MS = 10_000;
/** What the slowest link that counts moves. */
const BYTES_PER_MS = 1_000;

type Question = Omit<RequestInit, "body"> & { readonly body?: Uint8Array<ArrayBuffer> };

/** A `fetch` that gives up where no answer begins in time for the size of what is sent; its body has the signal alone. */
export async function fetchInTime(url: URL, question: Question, signal: AbortSignal): Promise<Response> {
  const waiting = new AbortController();
  const limitMs = ANSWER_LIMIT_MS + (question.body?.byteLength ?? 0) / BYTES_PER_MS;
  const timer = setTimeout(() => waiting.abort(new Error(`no answer within ${Math.round(limitMs)} ms`)), limitMs);
  try {
    return await fetch(url, { ...question, signal: AbortSignal.any([signal, waiting.signal]) });
  } finally {
    clearTimeout(timer);
  }
}

/** A device that is coming back waits for its models: a download that hangs must not keep it for ever. */
const DOWNLOAD_LIMIT_MS = 60_000;

/** Fetches an artifact whole, unless the signal ends it. Throws ProblemError where that cannot be done. */
export type ArtifactSource = (digest: string, signal?: AbortSignal) => Promise<Uint8Array>;

/** Artifacts as the edge keeps them in R2. Bytes that have another digest are refused. */
export function createEdgeSource({
  edgeUrl,
  credential,
}: Pick<StoredCredential, "edgeUrl" | "credential">): ArtifactSource {
  return async (digest, stopped) => {
    const url = new URL(endpoints.downloadArtifact.path.replace("{digest}", digest), edgeUrl);
    const headers = { authorization: `Bearer ${credential}` };
    const limit = AbortSignal.timeout(DOWNLOAD_LIMIT_MS);
    const signal = stopped === undefined ? limit : AbortSignal.any([limit, stopped]);
    const response = await fetchInTime(url, { headers }, signal);
    if (!response.ok)
      throw new ProblemError("backend-failed", `The edge has no artifact ${digest} (${response.status}).`);
    const bytes = await readAtMost(response, LIMITS.artifactBytes);
    if (bytes === null) {
      throw new ProblemError(
        "payload-too-large",
        `The artifact ${digest} is larger than ${LIMITS.artifactBytes} bytes.`,
      );
    }
    if (!hasDigest(bytes, digest)) throw new ProblemError("backend-failed", `The artifact ${digest} arrived damaged.`);
    return bytes;
  };
}

/** A body's bytes; null where there are more, as it says of itself or as they come. */
async function readAtMost({ headers, body }: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (Number(headers.get("content-length")) > maxBytes) return null;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  for await (const chunk of body ?? []) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** One transfer of a file; a slow link moves 96 MiB in it at 1 MB/s. */
const TRANSFER_LIMIT_MS = 120_000;
const RETRIES = { retries: 5, minTimeout: 200, maxTimeout: 5_000, randomize: true };

/** Files that a job leaves at the edge beside its result, or finds there: an earlier attempt's. */
export interface JobArtifacts {
  /** Leaves a file; the latest of its name is kept. Throws ProblemError where the edge refuses it. */
  put(name: JobArtifactName, bytes: Uint8Array<ArrayBuffer>, mediaType?: string): Promise<JobArtifact>;
  /** The file of this name; null where the job has none. Throws ProblemError where it cannot be had. */
  get(name: JobArtifactName): Promise<Uint8Array<ArrayBuffer> | null>;
}

interface Upload {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

/** The files of the job under a lease, as this runner. What may pass is tried again, until the signal ends it. */
export function openJobArtifacts(
  { edgeUrl, credential }: Pick<StoredCredential, "edgeUrl" | "credential">,
  { jobId, epoch }: Lease,
  stopped: AbortSignal,
): JobArtifacts {
  const authorization = `Bearer ${credential}`;
  const call = async (path: string, name: JobArtifactName, query: Record<string, string>, init: Upload) => {
    const url = new URL(path.replace("{id}", jobId).replace("{name}", name), edgeUrl);
    url.search = new URLSearchParams({ epoch: String(epoch), ...query }).toString();
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(TRANSFER_LIMIT_MS)]);
    const response = await fetchInTime(url, { ...init, headers: { authorization, ...init.headers } }, signal);
    if (response.ok) return response;
    throw await explain(response);
  };
  return {
    async put(name, bytes, mediaType = "application/octet-stream") {
      const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
      const init = { method: "PUT", headers: { "content-type": mediaType }, body: bytes };
      const response = await retry(stopped, () => call(endpoints.putJobArtifact.path, name, { digest }, init));
      return JobArtifact.parse(await response.json());
    },
    async get(name) {
      try {
        return await retry(stopped, async () => {
          const bytes = await readAtMost(
            await call(endpoints.fetchJobArtifact.path, name, {}, {}),
            LIMITS.jobArtifactBytes,
          );
          if (bytes === null) throw new ProblemError("payload-too-large", `The job's file '${name}' is too large.`);
          return bytes;
        });
      } catch (error) {
        if (error instanceof ProblemError && error.problem.code === "not-found") return null;
        throw error;
      }
    },
  };
}

async function retry<Value>(signal: AbortSignal, attempt: () => Promise<Value>): Promise<Value> {
  return pRetry(
    async () => {
      try {
        return await attempt();
      } catch (error) {
        const passes = !(error instanceof ProblemError) || PROBLEMS[error.problem.code].retryable;
        throw passes ? error : new AbortError(error);
      }
    },
    { ...RETRIES, signal },
  );
}

/** An older edge, or what stands before it, may send anything; what a gateway says may pass. */
async function explain(response: Response): Promise<ProblemError> {
  const text = await response.text();
  const code = response.status >= 500 ? "internal" : "backend-failed";
  return parseProblem(text) ?? new ProblemError(code, `The edge answered ${response.status}.`);
}
