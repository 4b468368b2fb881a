import { VERSION } from "../../protocol/version.ts";
import { fail, ok, type Verdict, warn } from "./finding.ts";
import type { Patient } from "./patient.ts";
import { type Reached, reachEdge } from "./reach-edge.ts";

/** Whether an edge answers at the address. */
export async function checkEdge({ edgeUrl, fetch }: Pick<Patient, "edgeUrl" | "fetch">): Promise<Verdict> {
  return judgeEdge(edgeUrl, await reachEdge(edgeUrl, fetch));
}

function judgeEdge(edgeUrl: string, reached: Reached): Verdict {
  if (reached.kind === "silent") {
    return fail(
      `${edgeUrl} cannot be reached: ${reached.reason}`,
      "Start it (`millrace up`), or name another address with --edge; then look at name service, proxy and firewall.",
    );
  }
  if (reached.kind === "other") {
    return fail(`What answers at ${edgeUrl} is no edge: ${reached.reason}`, "Name the edge's address with --edge.");
  }
  const found = `${edgeUrl} answers, release ${reached.version}`;
  if (reached.version === VERSION) return ok(found);
  return warn(`${found}, and this is ${VERSION}`, "Bring both to one release; the edge goes first.");
}
