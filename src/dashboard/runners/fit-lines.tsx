import type { ComponentChildren } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { ProfileFit, RunnerFit } from "../../protocol/fleet/profile.ts";
import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { formatBytes, formatMeasure, formatNumber } from "../../words/numbers.ts";
import { CHECK_OUTCOMES, spellBytes } from "../../words/runners.ts";
import { Badge } from "../ui/badges.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";

interface OutcomeTableProps {
  readonly caption: string;
  /** Heading of the first column. */
  readonly of: string;
  /** Its rows. */
  readonly children: ComponentChildren;
}

/** What is wanted of each thing, what was found, and whether that is enough. */
function OutcomeTable({ caption, of, children }: OutcomeTableProps) {
  return (
    <table class="fits">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{of}</th>
          <th scope="col">Wanted</th>
          <th scope="col">Found</th>
          <th scope="col">Outcome</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

type Target = RunnerFit["targets"][number];

const NAMES: Record<Target["target"], string> = {
  latencyMs: "latency",
  throughputRps: "throughput",
  memoryBytes: "memory",
};

/** How far the placements of a runner reach the targets of a profile. */
function TargetLines({ profile, targets }: { profile: string; targets: readonly Target[] }) {
  if (targets.length === 0)
    return <p class="muted">Nothing is measured here that its targets could be held against.</p>;
  return (
    <OutcomeTable caption={`Targets of ${profile}`} of="Target">
      {targets.map((line) => (
        <TargetRow key={`${line.target} ${line.placementId}`} line={line} />
      ))}
    </OutcomeTable>
  );
}

function TargetRow({ line: { target, subject, wanted, found, ok, mend } }: { line: Target }) {
  const [tone, word] = CHECK_OUTCOMES[ok === null ? "unknown" : ok ? "pass" : "fail"];
  return (
    <tr>
      <th scope="row">
        {NAMES[target]}
        {subject !== null && <small>{subject}</small>}
      </th>
      <td data-label="Wanted">{formatWanted(target, wanted)}</td>
      <td data-label="Found">{found}</td>
      <td data-label="Outcome">
        <Badge tone={tone}>{word}</Badge>
        {mend !== null && <small class="advice">{mend}</small>}
      </td>
    </tr>
  );
}

function formatWanted(target: Target["target"], wanted: number): string {
  if (target === "memoryBytes") return `≤ ${formatBytes(wanted)}`;
  return target === "latencyMs" ? `≤ ${formatMeasure(wanted, "ms")}` : `≥ ${formatNumber(wanted)}/s`;
}

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
        client.call(runnerEndpoints.getRunnerFit, { params: { id: runnerId }, query: { profile }, signal }),
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
