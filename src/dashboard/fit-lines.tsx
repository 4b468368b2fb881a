import { useCallback, useState } from "preact/hooks";
import type { Client } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import type { ProfileFit } from "../protocol/profile.ts";
import { Badge } from "./badge.tsx";
import { spellBytes } from "./diagnosis-words.ts";
import { OutcomeTable } from "./outcome-table.tsx";
import { TargetLines } from "./target-lines.tsx";
import { useResource } from "./use-resource.ts";

interface FitLinesProps {
  readonly client: Client;
  readonly runnerId: string;
  readonly fits: readonly ProfileFit[];
}

/** How a runner fits each hardware profile, line by line; opened, also how far its placements reach the targets. */
export function FitLines({ client, runnerId, fits }: FitLinesProps) {
  return (
    <>
      {fits.map((fit) => (
        <Fit key={fit.profile} client={client} runnerId={runnerId} fit={fit} />
      ))}
    </>
  );
}

function Fit({ client, runnerId, fit }: Omit<FitLinesProps, "fits"> & { readonly fit: ProfileFit }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {`${fit.profile}: `}
        {fit.fits ? `fits${fit.deviceKey === null ? "" : ` by ${fit.deviceKey}`}` : "does not fit"}
      </summary>
      <FitTable fit={fit} />
      {isOpen && <Targets client={client} runnerId={runnerId} profile={fit.profile} />}
    </details>
  );
}

function Targets({ client, runnerId, profile }: Omit<FitLinesProps, "fits"> & { readonly profile: string }) {
  const { value, error } = useResource(
    useCallback(
      (signal: AbortSignal) =>
        client.call(endpoints.getRunnerFit, { params: { id: runnerId }, query: { profile }, signal }),
      [client, runnerId, profile],
    ),
  );
  if (value !== null) return <TargetLines profile={profile} targets={value.targets} />;
  return (
    <p class="muted">{error === null ? "Reading targets …" : `Its targets could not be read: ${error.message}`}</p>
  );
}

function FitTable({ fit: { profile, checks } }: { fit: ProfileFit }) {
  if (checks.length === 0) return <p class="muted">It requires nothing.</p>;
  return (
    <OutcomeTable caption={`Requirements of ${profile}`} of="Requirement">
      {checks.map(({ requirement, wanted, found, ok, mend }) => (
        <tr key={`${requirement} ${wanted}`}>
          <th scope="row">{requirement.replace(/ bytes$/, "")}</th>
          <td data-label="Wanted">{spellBytes(requirement, wanted)}</td>
          <td data-label="Found">{spellBytes(requirement, found)}</td>
          <td data-label="Outcome">
            <Badge tone={ok ? "good" : "bad"}>{ok ? "pass" : "fail"}</Badge>
            {mend !== null && <small class="advice">{mend}</small>}
          </td>
        </tr>
      ))}
    </OutcomeTable>
  );
}
