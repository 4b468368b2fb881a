import type { ProbeResult } from "../../protocol/probe.ts";
import { Badge } from "../badge.tsx";

/** What is claimed of a device, beside what the probe found there. */
export function ClaimTable({ claims }: Pick<ProbeResult, "claims">) {
  return (
    <table class="judgements">
      <thead>
        <tr>
          <th scope="col">Claim</th>
          <th scope="col">Claimed</th>
          <th scope="col">Found</th>
          <th scope="col">Outcome</th>
        </tr>
      </thead>
      <tbody>
        {claims.map(({ claim, claimed, found, ok }, index) => (
          <tr key={index}>
            <th scope="row">{claim}</th>
            <td data-label="Claimed">{claimed}</td>
            <td data-label="Found">{found}</td>
            <td data-label="Outcome">
              <Badge tone={ok ? "good" : "bad"}>{ok ? "true" : "not so"}</Badge>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
