import { endpoints } from "../protocol/endpoints.ts";
import { LINK_SUBPROTOCOL } from "../protocol/link.ts";
import { explainMismatch } from "../protocol/link-mismatch.ts";
import { parseJson } from "../protocol/parse-json.ts";
import { ProblemError } from "../protocol/problem.ts";
import { ServiceHealth } from "../protocol/service-health.ts";

/** Of the first release, which did not name them. */
const FIRST_PROTOCOLS = ["millrace.v1"];

/**
 * Throws `upgrade-required`, with the release to install, where the edge says that it speaks none of our protocols.
 * What says nothing of the kind may have any trouble.
 */
export async function refuseOtherProtocol(linkUrl: string, signal: AbortSignal): Promise<void> {
  const url = new URL(endpoints.getHealth.path, linkUrl.replace(/^ws/, "http"));
  const response = await fetch(url, { signal });
  const health = ServiceHealth.safeParse(parseJson(await response.text()));
  if (!response.ok || !health.success) return;
  const { version: release, linkProtocols: protocols = FIRST_PROTOCOLS } = health.data;
  const mismatch = explainMismatch({ release, protocols }, [LINK_SUBPROTOCOL]);
  if (mismatch !== null) throw new ProblemError("upgrade-required", mismatch);
}
