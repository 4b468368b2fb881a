import { useCallback, useMemo } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { fingerprintText } from "../../protocol/fingerprint-id.ts";
import type { Runner } from "../../protocol/runner.ts";
import { Badge } from "../badge.tsx";
import { Fact } from "../fact.tsx";
import { RUNNER_TONES } from "../runner-tones.ts";
import { Timestamp } from "../timestamp.tsx";
import { type Subscribe, useRefreshOn } from "../use-feed.ts";
import { useResource } from "../use-resource.ts";
import { describeMachine } from "./describe-machine.ts";
import { DevicePanel } from "./device-panel.tsx";
import { DiagnosisPanel } from "./diagnosis-panel.tsx";
import { isConnected } from "./is-connected.ts";
import { LivePanel } from "./live-panel.tsx";
import { MemoryPanel } from "./memory-panel.tsx";
import { RunnerActions } from "./runner-actions.tsx";
import { TunedPanel } from "./tuned-panel.tsx";

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
          <p class="muted">Another project shares it. What it does for others is told to its owner alone.</p>
        )}
      </section>
      {owned && <RunnerDoings {...rest} />}
    </>
  );
}

/** What a runner does: by the second, its roofs, its memory, its tunings, and what is wrong with it. */
function RunnerDoings({ client, subscribe, runner }: Omit<RunnerDetailProps, "onChange" | "onRemove">) {
  const { id, capabilities } = runner;
  const isThere = isConnected(runner);
  const memory = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        isThere ? client.call(endpoints.getRunnerMemory, { params: { id }, signal }) : null,
      [client, id, isThere],
    ),
    GAP_MS,
  );
  const past = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        const [jobs, tunings] = await Promise.all([
          client.call(endpoints.listJobs, { query: { limit: JOBS_READ }, signal }),
          client.call(endpoints.listTunings, { query: { limit: TUNINGS_READ }, signal }),
        ]);
        return { positions: jobs.items.flatMap(({ roofline }) => roofline ?? []), tunings: tunings.items };
      },
      [client],
    ),
    GAP_MS,
  );
  useRefreshOn(subscribe, "job", past.refresh);
  const tunings = useMemo(() => {
    const own = new Set(capabilities?.devices.map(({ fingerprint }) => fingerprintText(fingerprint)));
    const value = past.value?.tunings.filter(({ fingerprint }) => own.has(fingerprintText(fingerprint))) ?? null;
    return { value, error: past.error, refresh: past.refresh };
  }, [past.value, past.error, past.refresh, capabilities]);
  // What stands below appears at once, so that no part pushes another one down as it arrives.
  const isReady = (memory.value !== null || memory.error !== null || !isThere) && (past.value ?? past.error) !== null;
  return (
    <>
      <LivePanel client={client} id={id} />
      {isReady ? (
        <>
          {capabilities !== null && (
            <DevicePanel devices={capabilities.devices} positions={past.value?.positions ?? []} />
          )}
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
  const { id, capabilities, labels, shared, createdAt, connectedAt, lastSeenAt } = runner;
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
      <Fact name="Works for">{shared ? "all projects" : "its own project"}</Fact>
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
