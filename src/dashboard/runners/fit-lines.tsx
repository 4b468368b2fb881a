import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { useCallback, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { ProfileFit, RunnerFit } from "../../protocol/fleet/profile.ts";
import { formatBytes, formatMeasure, formatNumber } from "../../words/numbers.ts";
import { CHECK_OUTCOMES, spellBytes } from "../../words/runners.ts";
import { WordBadge } from "../ui/badges.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";

/** One requirement, the value found, and whether it suffices. */
interface OutcomeLine {
  readonly of: string;
  /** Name of the subject, if there are several. */
  readonly subject: string | null;
  readonly wanted: string;
  readonly found: string;
  /** Null where nothing is known. */
  readonly ok: boolean | null;
  readonly mend: string | null;
}

interface OutcomeTableProps {
  readonly caption: string;
  /** Heading of the first column. */
  readonly of: string;
  readonly lines: readonly OutcomeLine[];
}

function OutcomeTable({ caption, of, lines }: OutcomeTableProps) {
  return (
    <DataTable
      class="fits"
      caption={caption}
      rows={lines}
      keyOf={(_, index) => index}
      columns={[
        { name: of, head: true, cell: (line) => line.of, note: ({ subject }) => subject },
        { name: "Wanted", cell: ({ wanted }) => wanted },
        { name: "Found", cell: ({ found }) => found },
        {
          name: "Outcome",
          cell: ({ ok, mend }) => (
            <>
              <WordBadge says={CHECK_OUTCOMES[ok === null ? "unknown" : ok ? "pass" : "fail"]} />
              {mend !== null && <small class="advice">{mend}</small>}
            </>
          ),
        },
      ]}
    />
  );
}

type Target = RunnerFit["targets"][number];

const NAMES: Record<Target["target"], string> = {
  latencyMs: "latency",
  throughputRps: "throughput",
  memoryBytes: "memory",
};

/** Distance of a runner's placements from the targets of a profile. */
function TargetLines({ profile, targets }: { profile: string; targets: readonly Target[] }) {
  if (targets.length === 0)
    return <p class="muted">Nothing is measured here that its targets could be held against.</p>;
  const lines = targets.map(({ target, wanted, ...line }) => ({
    ...line,
    of: NAMES[target],
    wanted: formatWanted(target, wanted),
  }));
  return <OutcomeTable caption={`Targets of ${profile}`} of="Target" lines={lines} />;
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

/** Fit of a runner to each hardware profile, line by line; when opened, also its placements' targets. */
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
  const lines = checks.map(({ requirement, wanted, found, ok, mend }) => ({
    of: requirement.replace(/ bytes$/, ""),
    subject: null,
    wanted: spellBytes(requirement, wanted),
    found: spellBytes(requirement, found),
    ok,
    mend,
  }));
  return <OutcomeTable caption={`Requirements of ${profile}`} of="Requirement" lines={lines} />;
}
