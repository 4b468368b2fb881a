import { z } from "zod";
import { createClient } from "../../client/client.ts";
import { Lease, LINK_SUBPROTOCOL, type RunnerMessage } from "../../protocol/link.ts";
import { serviceEndpoints } from "../../protocol/service/service-endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { createProblem, ProblemError } from "../../protocol/wire/problem.ts";
import { explainMismatch, VERSION } from "../../protocol/wire/release.ts";

/** Common fields of offers of any kind. */
const AnyOffer = z.object({ type: z.literal("offer"), lease: Lease, spec: z.object({ kind: z.string().max(64) }) });

/**
 * Outcome for an offer from a newer edge that is not understood here, so that its job need not wait for the lease to
 * expire; null for any other text. `edgeRelease` is null where the edge did not send it.
 */
export function refuseOffer(text: string, edgeRelease: string | null): RunnerMessage | null {
  const offer = text.length > LIMITS.socketMessageBytes ? null : AnyOffer.safeParse(parseJson(text));
  if (!offer?.success) return null;
  const { lease, spec } = offer.data;
  const wanted = edgeRelease === null ? "the edge's release" : `release ${edgeRelease}`;
  const detail = `The runner is release ${VERSION} and does not know this ${spec.kind}: install ${wanted} of it.`;
  return { type: "jobOutcome", lease, outcome: { ok: false, problem: createProblem("upgrade-required", detail) } };
}

/** Protocols of the first release, which did not announce them. */
const FIRST_PROTOCOLS = ["millrace.v1"];

/**
 * Throws `upgrade-required`, with the release to install, where the edge announces none of our protocols. Any other
 * reply may have any cause.
 */
export async function refuseOtherProtocol(linkUrl: string, signal: AbortSignal): Promise<void> {
  const edge = createClient({ baseUrl: new URL(linkUrl.replace(/^ws/, "http")).origin });
  const health = await edge.call(serviceEndpoints.getHealth, { signal }).catch(() => null);
  if (health === null) return;
  const { version: release, linkProtocols: protocols = FIRST_PROTOCOLS } = health;
  const mismatch = explainMismatch({ release, protocols }, [LINK_SUBPROTOCOL]);
  if (mismatch !== null) throw new ProblemError("upgrade-required", mismatch);
}
