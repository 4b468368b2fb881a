import {
  describeOipConfig,
  describeOipModel,
  type OipSubject,
} from "../../../protocol/inference/describe-oip-model.ts";
import {
  latencyParameters,
  OIP_DIRECT_EXTENSIONS,
  OIP_HEADER_LENGTH,
  type OipStats,
} from "../../../protocol/inference/oip.ts";
import { checkOutputs, pointInto, readOipRequest } from "../../../protocol/inference/read-oip-request.ts";
import { refuseLate } from "../../../protocol/inference/refuse-late.ts";
import type { TicketGrant } from "../../../protocol/inference/ticket.ts";
import { describeOipReply, writeOipReply } from "../../../protocol/inference/write-oip-reply.ts";
import { acceptedEncoding } from "../../../protocol/wire/content-encoding.ts";
import { parseJson } from "../../../protocol/wire/parse-json.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { VERSION } from "../../../protocol/wire/release.ts";
import { checkWork, type DirectParts, type DirectRequest, mustFindModel, serveDirect } from "./answer-direct.ts";
import type { DirectStatistics } from "./direct-statistics.ts";

/** A reply; without a status it is 200. */
export interface DirectReply {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The part of a path behind `/v2/models`. */
type OipAction = "metadata" | "ready" | "config" | "stats" | "infer";

export interface OipTarget {
  readonly action: OipAction;
  /** Null for all models of the server, which are those of the ticket. */
  readonly model: string | null;
  readonly version: string | null;
}

const MODEL_PATH = /^\/v2\/models\/([^/]+)(?:\/versions\/([1-9]\d{0,8}))?(?:\/(ready|config|stats|infer))?$/;

/** What a path under `/v2/models` asks for; null for other paths. */
export function readTarget(path: string): OipTarget | null {
  if (path === "/v2/models/stats") return { action: "stats", model: null, version: null };
  const [, model, version, action] = MODEL_PATH.exec(path) ?? [];
  if (model === undefined) return null;
  return { action: (action as OipAction | undefined) ?? "metadata", model: decode(model), version: version ?? null };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function describeServer(): DirectReply {
  return toJson({ name: "millrace", version: VERSION, extensions: OIP_DIRECT_EXTENSIONS });
}

/** An empty reply, which says all in its status. */
export const READY: DirectReply = { headers: { "content-type": "text/plain" }, body: new Uint8Array() };

/** Answers a question about the ticket's model. */
export function describeTarget(
  parts: DirectParts,
  statistics: DirectStatistics,
  grant: TicketGrant,
  target: OipTarget,
): DirectReply {
  const subject = subjectOf(parts, grant, target);
  switch (target.action) {
    case "metadata":
      return toJson(describeOipModel(subject, [subject.version]));
    case "config": {
      const { placementId: id, backend, deviceKey, variant } = grant;
      const software = parts.fleet.find(deviceKey).host.device.software;
      return toJson(describeOipConfig(subject, [{ id, backend, software }], { variant, device: deviceKey }));
    }
    case "stats": {
      const { name, version } = subject;
      const stats = { name, version: String(version), ...statistics.describe(grant.placementId) };
      return toJson({ model_stats: [stats] } satisfies OipStats);
    }
    case "ready":
    case "infer":
      return READY;
  }
}

/** Answers an inference; `headers` are the request's. */
export async function inferOip(
  parts: DirectParts,
  request: DirectRequest,
  target: OipTarget,
  headers: { readonly [name: string]: string | string[] | undefined },
): Promise<DirectReply> {
  const { grant } = request;
  const startMs = request.scope?.now() ?? 0;
  const header = (name: string) => headers[name]?.toString() ?? null;
  const { name, version, inputs, outputs } = subjectOf(parts, grant, target);
  refuseLate(request.body, header(OIP_HEADER_LENGTH), request.unseenMs);
  const asked = readOipRequest(request.body, header(OIP_HEADER_LENGTH), inputs, (json) =>
    parseJson(new TextDecoder().decode(json)),
  );
  checkOutputs(asked, name, outputs);
  const { tensors, budgetMs } = asked;
  const pointers = { budget: "#/parameters", of: pointInto(tensors) };
  const work = checkWork(grant, inputs, { tensors, budgetMs: budgetMs ?? grant.budgetMs }, pointers);
  const answer = await serveDirect(parts, request, work, startMs);
  const { times, totalMs } = answer;
  const parameters = latencyParameters({ ...times, totalMs });
  const head = { model_name: name, model_version: String(version), parameters };
  return writeOipReply(describeOipReply(asked, head, answer.tensors), acceptedEncoding(header("accept-encoding")));
}

/** The ticket's model, if it is the requested one. Unknown ones have the message that Triton's clients look for. */
function subjectOf(
  parts: DirectParts,
  grant: TicketGrant,
  { model, version }: OipTarget,
): OipSubject & { readonly version: number } {
  const { model: name, version: number } = grant;
  const isNamed = (model === null || model === name) && (version === null || version === String(number));
  if (name === undefined || number === undefined || !isNamed) {
    const reference = version === null ? model : `${model}@${version}`;
    throw new ProblemError("not-found", `Request for unknown model: '${reference}' is not found`);
  }
  const { inputs, outputs } = mustFindModel(parts, grant);
  return { name, version: number, inputs, outputs };
}

export function toJson(content: object): DirectReply {
  return {
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode(JSON.stringify(content)),
  };
}
