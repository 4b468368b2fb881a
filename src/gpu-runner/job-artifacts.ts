import { createHash } from "node:crypto";
import pRetry, { AbortError } from "p-retry";
import { endpoints } from "../protocol/endpoints.ts";
import { JobArtifact, type JobArtifactName } from "../protocol/job-artifact.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Lease } from "../protocol/link.ts";
import { parseProblem, ProblemError, PROBLEMS } from "../protocol/problem.ts";
import type { StoredCredential } from "./credential-file.ts";
import { fetchInTime } from "./fetch-in-time.ts";
import { readAtMost } from "./memory/edge-source.ts";

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
