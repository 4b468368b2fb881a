import { z } from "zod";
import { LIMITS } from "../protocol/limits.ts";
import { Lease, type RunnerMessage } from "../protocol/link.ts";
import { parseJson } from "../protocol/parse-json.ts";
import { createProblem } from "../protocol/problem.ts";
import { VERSION } from "../protocol/version.ts";

/** What any offer has, whatever the job is. */
const AnyOffer = z.object({ type: z.literal("offer"), lease: Lease, spec: z.object({ kind: z.string().max(64) }) });

/**
 * The outcome of an offer that a newer edge made and that is not understood here, so that its job need not wait for the
 * lease to expire; null for any other text. `edgeRelease` is null where the edge did not name it.
 */
export function refuseOffer(text: string, edgeRelease: string | null): RunnerMessage | null {
  const offer = text.length > LIMITS.socketMessageBytes ? null : AnyOffer.safeParse(parseJson(text));
  if (!offer?.success) return null;
  const { lease, spec } = offer.data;
  const wanted = edgeRelease === null ? "the edge's release" : `release ${edgeRelease}`;
  const detail = `The runner is release ${VERSION} and does not know this ${spec.kind}: install ${wanted} of it.`;
  return { type: "jobOutcome", lease, outcome: { ok: false, problem: createProblem("upgrade-required", detail) } };
}
