import { kernelEndpoints } from "../../protocol/kernels/kernel-endpoints.ts";
import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { useCallback, useMemo } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { fingerprintText } from "../../protocol/fleet/hardware.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import type { StoredTuning } from "../../protocol/jobs/tuning.ts";
import { describeMachine, describeSharing, EPHEMERAL, isConnected, RUNNER_TONES } from "../../words/runners.ts";
import { Badge } from "../ui/badges.tsx";
import { type Subscribe, useRefreshOn } from "../ui/hooks/use-feed.ts";
import { type Resource, useResource } from "../ui/hooks/use-resource.ts";
import { nextCommands } from "../ui/next-commands.ts";
import { writeAddress } from "../ui/page-address.ts";
import { EmptyState, Fact, Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import { TuningTable } from "../ui/tuning-table.tsx";
import { BatchPanel } from "./batch-panel.tsx";
import { DevicePanel } from "./device-panel.tsx";
import { DiagnosisPanel } from "./diagnosis-panel.tsx";
import { LivePanel } from "./live-panel.tsx";
import { MemoryPanel } from "./memory-panel.tsx";
import { RunnerActions } from "./runner-actions.tsx";

interface TunedPanelProps {
  readonly tunings: Resource<readonly StoredTuning[]>;
}

/** The fastest choices that searches found on a runner's devices. */
function TunedPanel({ tunings }: TunedPanelProps) {
  const items = tunings.value ?? [];
  return (
    <Panel id="tunings" title="Tunings" resource={tunings}>
      {items.length > 0 && <TuningTable tunings={items} shown={null} onShow={openTrials} />}
      {tunings.value?.length === 0 && (
        <EmptyState says="Nothing has been tuned on these devices yet." command={nextCommands.tuneKernel("gemm")}>
          This searches gemm's variants and axes for the fastest that is right:
        </EmptyState>
      )}
    </Panel>
  );
}

/** The trials stand with the kernel; going back leads here again. */
function openTrials({ id, kernel }: StoredTuning): void {
  location.hash = writeAddress({ view: "kernels", kernel, tuning: id });
}

interface RunnerDetailProps {
  readonly client: Client;
  readonly subscribe: Subscribe;
  readonly runner: Runner;
  readonly onChange: () => void;
  readonly onRemove: () => void;
}

const JOBS_READ = 100;
const TUNINGS_READ = 100;
/** Every inference changes the history; what stands here changes seldom. */
const GAP_MS = 5_000;

/** One runner: what it is, and to its owner also what it does. */
export function RunnerDetail({ onChange, onRemove, ...rest }: RunnerDetailProps) {
  const { client, runner } = rest;
  const { name, state, owned } = runner;
  return (
    <>
      <section class="panel" aria-labelledby="runner">
        <div class="panel-head">
          <h2 id="runner">{name}</h2>
          <Badge tone={RUNNER_TONES[state]}>{state}</Badge>
        </div>
        {runner.quarantine !== null && (
          <p class="notice bad">
            {"In quarantine until "}
            <Timestamp at={runner.quarantine.until} />
            {`: it is given no jobs and no requests. ${runner.quarantine.reason}`}
          </p>
        )}
        <RunnerFacts runner={runner} />
        {owned ? (
          <RunnerActions client={client} runner={runner} onChange={onChange} onRemove={onRemove} />
        ) : (
          <p class="muted">Another project shares it. Only its owner sees its work for others.</p>
        )}
      </section>
      {owned && <RunnerDoings {...rest} />}
    </>
  );
}

/** Activity of a runner: live charts, rooflines, memory, tunings and its diagnosis. */
function RunnerDoings({ client, subscribe, runner }: Omit<RunnerDetailProps, "onChange" | "onRemove">) {
  const { id, capabilities } = runner;
  const isThere = isConnected(runner);
  const memory = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        isThere ? client.call(runnerEndpoints.getRunnerMemory, { params: { id }, signal }) : null,
      [client, id, isThere],
    ),
    GAP_MS,
  );
  const past = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        const [jobs, tunings, { batches = [] }] = await Promise.all([
          client.call(jobEndpoints.listJobs, { query: { limit: JOBS_READ }, signal }),
          client.call(kernelEndpoints.listTunings, { query: { limit: TUNINGS_READ }, signal }),
          client.call(runnerEndpoints.getRunner, { params: { id }, signal }),
        ]);
        return { positions: jobs.items.flatMap(({ roofline }) => roofline ?? []), tunings: tunings.items, batches };
      },
      [client, id],
    ),
    GAP_MS,
  );
  useRefreshOn(subscribe, "job", past.refresh);
  const tunings = useMemo(() => {
    const own = new Set(capabilities?.devices.map(({ fingerprint }) => fingerprintText(fingerprint)));
    const value = past.value?.tunings.filter(({ fingerprint }) => own.has(fingerprintText(fingerprint))) ?? null;
    return { value, error: past.error, refresh: past.refresh };
  }, [past.value, past.error, past.refresh, capabilities]);
  // The parts below appear at once, so that none pushes another down as it arrives.
  const isReady = (memory.value !== null || memory.error !== null || !isThere) && (past.value ?? past.error) !== null;
  return (
    <>
      <LivePanel client={client} id={id} />
      {isReady ? (
        <>
          {capabilities !== null && (
            <DevicePanel devices={capabilities.devices} positions={past.value?.positions ?? []} />
          )}
          {(past.value?.batches ?? []).length > 0 && <BatchPanel measured={past.value?.batches ?? []} />}
          <MemoryPanel memory={memory} />
          <TunedPanel tunings={tunings} />
          <DiagnosisPanel client={client} subscribe={subscribe} runner={runner} />
        </>
      ) : (
        <p class="muted loading">Asking the runner, and reading jobs and tunings …</p>
      )}
    </>
  );
}

function RunnerFacts({ runner }: { runner: Runner }) {
  const { id, capabilities, labels, createdAt, connectedAt, lastSeenAt } = runner;
  const named = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return (
    <dl class="facts">
      {capabilities !== null && (
        <>
          <Fact name="Machine">{describeMachine(capabilities.hardware)}</Fact>
          <Fact name="CPU">{capabilities.hardware.cpu.model}</Fact>
        </>
      )}
      {named.length > 0 && <Fact name="Labels">{named.join(", ")}</Fact>}
      <Fact name="Works for">{describeSharing(runner)}</Fact>
      {runner.ephemeral && <Fact name="Ephemeral">{EPHEMERAL}</Fact>}
      <Fact name="Registered">
        <Timestamp at={createdAt} />
      </Fact>
      <Fact name="Connected">
        <Timestamp at={connectedAt} />
      </Fact>
      <Fact name="Last seen">
        <Timestamp at={lastSeenAt} />
      </Fact>
      <Fact name="Id">
        <code>{id}</code>
      </Fact>
    </dl>
  );
}
