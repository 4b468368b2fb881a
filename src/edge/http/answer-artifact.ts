import type { Context } from "hono";
import { ProblemError } from "../../protocol/problem.ts";
import { getArtifactRange } from "../store/artifact-store.ts";
import { hasTag } from "./answer-once.ts";
import type { AppEnv } from "./bind.ts";

/** A stored file, as it is told of. */
interface StoredFile {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly mediaType: string;
}

/**
 * A file as a stream: one range of it where `Range` names one (RFC 9110, section 14), nothing where the caller has it.
 * Throws `not-found` where its bytes are gone.
 */
export async function answerArtifact(c: Context<AppEnv>, file: StoredFile): Promise<Response> {
  const { digest, sizeBytes, mediaType } = file;
  const etag = `"${digest}"`;
  const shared = { etag, "cache-control": "no-cache, private", "accept-ranges": "bytes" };
  if (hasTag(c.req.header("if-none-match"), etag)) return new Response(null, { status: 304, headers: shared });
  const part = readRange(c.req.header("range"), c.req.header("if-range"), sizeBytes, etag);
  if (part === "unsatisfiable") {
    return new Response(null, { status: 416, headers: { ...shared, "content-range": `bytes */${sizeBytes}` } });
  }
  const object = await getArtifactRange(c.env.ARTIFACTS, digest, part ?? { offset: 0, length: sizeBytes });
  if (object === null) throw new ProblemError("not-found", `The file ${digest} is not kept any more.`);
  const headers = { ...shared, "content-type": mediaType };
  if (part === null) return new Response(object.body, { headers: { ...headers, "content-length": `${sizeBytes}` } });
  const { offset, length } = part;
  const range = `bytes ${offset}-${offset + length - 1}/${sizeBytes}`;
  return new Response(object.body, {
    status: 206,
    headers: { ...headers, "content-range": range, "content-length": `${length}` },
  });
}

/** The one range that is asked for; null for all: more than one, or another version's, are answered whole. */
function readRange(
  range: string | undefined,
  ifRange: string | undefined,
  sizeBytes: number,
  etag: string,
): { readonly offset: number; readonly length: number } | "unsatisfiable" | null {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(range?.trim() ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (ifRange !== undefined && ifRange !== etag) return null;
  const offset = first === "" ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === "" || last === "" ? sizeBytes : Math.min(sizeBytes, Number(last) + 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) return null;
  return offset < end ? { offset, length: end - offset } : "unsatisfiable";
}
