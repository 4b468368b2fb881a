import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { AbortError } from "p-retry";
import pRetry from "p-retry";
import { artifactEndpoints, type JobArtifact, type JobArtifactName } from "../../protocol/jobs/job-artifact.ts";
import type { Lease } from "../../protocol/link.ts";
import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError, PROBLEMS } from "../../protocol/wire/problem.ts";
import { type EdgeAccess, openEdge } from "./edge-client.ts";
import { hasDigest } from "../host/files.ts";

/** Longest wait for an answer's head after the request's last byte: a half-open connection never answers. */
const ANSWER_LIMIT_MS = 10_000;
/** Speed of the slowest supported link. */
const BYTES_PER_MS = 1_000;

/**
 * `fetch` that fails where no answer begins in time for the size of the request; its body is limited by the signal
 * alone.
 */
export const fetchInTime: typeof fetch = async (url, question = {}) => {
  const { body, signal } = question;
  const waiting = new AbortController();
  const limitMs = ANSWER_LIMIT_MS + (body instanceof Uint8Array ? body.byteLength : 0) / BYTES_PER_MS;
  const timer = setTimeout(() => waiting.abort(new Error(`no answer within ${Math.round(limitMs)} ms`)), limitMs);
  const signals = [waiting.signal, ...(signal === null || signal === undefined ? [] : [signal])];
  try {
    return await fetch(url, { ...question, signal: AbortSignal.any(signals) });
  } finally {
    clearTimeout(timer);
  }
};

/** A device that restarts waits for its models: a hanging download must not block it for ever. */
const DOWNLOAD_LIMIT_MS = 60_000;

/** Fetches an artifact completely, unless the signal ends it. Throws ProblemError where that fails. */
export type ArtifactSource = (digest: string, signal?: AbortSignal) => Promise<Uint8Array>;

/** Artifacts that the edge keeps in R2. Bytes with another digest are refused. */
export function createEdgeSource(access: EdgeAccess): ArtifactSource {
  const edge = openEdge(access, { fetch: fetchInTime });
  return async (digest, stopped) => {
    const limit = AbortSignal.timeout(DOWNLOAD_LIMIT_MS);
    const signal = stopped === undefined ? limit : AbortSignal.any([limit, stopped]);
    const response = await edge
      .send(runnerEndpoints.downloadArtifact, { params: { digest }, signal })
      .catch((error: unknown) => {
        if (!(error instanceof ProblemError)) throw error;
        throw new ProblemError("backend-failed", `The edge has no artifact ${digest}: ${error.message}`);
      });
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

/** Longest wait for the next bytes of a large file. */
const SILENCE_LIMIT_MS = 30_000;

/**
 * Fetches a file to a path, where it goes on with what is there, and checks its digest as it arrives. Throws ProblemError
 * where that fails; what arrived stays for the next time, unless it is another file.
 */
export type FileSource = (
  file: { readonly digest: string; readonly sizeBytes: number },
  path: string,
  signal: AbortSignal,
) => Promise<void>;

/** Large files that the edge keeps in R2: none of them is in memory. */
export function createFileSource(access: EdgeAccess): FileSource {
  const edge = openEdge(access, {
    fetch: fetchInTime,
    codeOf: (status) => (status >= 500 ? "internal" : "backend-failed"),
  });
  return async ({ digest, sizeBytes }, path, stopped) => {
    const file = await open(path, "a+");
    try {
      let hash = createHash("sha256");
      let doneBytes = 0;
      for await (const piece of file.createReadStream({ autoClose: false, start: 0 })) {
        hash.update(piece as Buffer);
        doneBytes += (piece as Buffer).byteLength;
      }
      const fetchRest = async () => {
        if (doneBytes === sizeBytes) return;
        const silence = new AbortController();
        const timer = setTimeout(() => silence.abort(new Error("the edge went silent")), SILENCE_LIMIT_MS);
        const signal = AbortSignal.any([stopped, silence.signal]);
        try {
          const headers = doneBytes === 0 ? {} : { range: `bytes=${doneBytes}-` };
          const response = await edge.send(runnerEndpoints.downloadArtifact, { params: { digest }, headers, signal });
          if (doneBytes > 0 && response.status !== 206) {
            // An older edge sends all of it again.
            [hash, doneBytes] = [createHash("sha256"), 0];
            await file.truncate(0);
          }
          for await (const piece of response.body ?? []) {
            timer.refresh();
            await file.appendFile(piece);
            hash.update(piece);
            doneBytes += piece.byteLength;
            if (doneBytes > sizeBytes) break;
          }
          if (doneBytes < sizeBytes) throw new Error(`the artifact ${digest} ended early`);
        } finally {
          clearTimeout(timer);
        }
      };
      // Where something arrived, it is not given up.
      const fetchAll = async (): Promise<void> => {
        const before = doneBytes;
        if (before >= sizeBytes) return;
        await retry(stopped, fetchRest).catch((error: unknown) => {
          if (doneBytes <= before || stopped.aborted || error instanceof ProblemError) throw error;
        });
        return fetchAll();
      };
      await fetchAll();
      const { size } = await file.stat();
      if (`sha256:${hash.digest("hex")}` === digest && size === sizeBytes) return;
      await file.truncate(0);
    } finally {
      await file.close();
    }
    throw new ProblemError("backend-failed", `The artifact ${digest} arrived damaged.`);
  };
}

/** Bytes of a body; null where there are more, by its header or in fact. */
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

/** Time limit of one transfer of a file; a slow link moves 96 MiB in it at 1 MB/s. */
const TRANSFER_LIMIT_MS = 120_000;
const RETRIES = { retries: 5, minTimeout: 200, maxTimeout: 5_000, randomize: true };

/** Files of a job at the edge beside its result, including those of an earlier attempt. */
export interface JobArtifacts {
  /** Stores a file; the latest of its name is kept. Throws ProblemError where the edge refuses it. */
  put(name: JobArtifactName, bytes: Uint8Array<ArrayBuffer>, mediaType?: string): Promise<JobArtifact>;
  /** File of this name; null where the job has none. Throws ProblemError where the read fails. */
  get(name: JobArtifactName): Promise<Uint8Array<ArrayBuffer> | null>;
}

/** Files of the job under a lease, as this runner. Transient failures are retried, until the signal ends it. */
export function openJobArtifacts(access: EdgeAccess, { jobId, epoch }: Lease, stopped: AbortSignal): JobArtifacts {
  // Replies of a gateway count as transient.
  const edge = openEdge(access, {
    fetch: fetchInTime,
    codeOf: (status) => (status >= 500 ? "internal" : "backend-failed"),
  });
  const limited = () => AbortSignal.any([stopped, AbortSignal.timeout(TRANSFER_LIMIT_MS)]);
  return {
    async put(name, bytes, mediaType = "application/octet-stream") {
      const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
      const params = { id: jobId, name };
      const rawBody = { mediaType, content: bytes };
      return retry(stopped, () =>
        edge.call(artifactEndpoints.putJobArtifact, { params, query: { epoch, digest }, rawBody, signal: limited() }),
      );
    },
    async get(name) {
      try {
        return await retry(stopped, async () => {
          const parts = { params: { id: jobId, name }, query: { epoch }, signal: limited() };
          const response = await edge.send(artifactEndpoints.fetchJobArtifact, parts);
          const bytes = await readAtMost(response, LIMITS.jobArtifactBytes);
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
        if (error instanceof ProblemError && !PROBLEMS[error.problem.code].retryable) throw new AbortError(error);
        // A TypeError of our own would end the retries.
        throw error instanceof TypeError ? new Error(error.message, { cause: error }) : error;
      }
    },
    { ...RETRIES, signal },
  );
}
