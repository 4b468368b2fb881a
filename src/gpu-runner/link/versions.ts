import { z } from "zod";
import { Lease, type RunnerMessage } from "../../protocol/link.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { createProblem } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";

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
