import { useCallback, useState } from "preact/hooks";
import type { Client } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import { EvaluationDetail } from "./evaluation-detail.tsx";
import { EvaluationTable } from "./evaluation-table.tsx";
import { Panel } from "./panel.tsx";
import { type Subscribe, useRefreshOn } from "./use-feed.ts";
import { useResource } from "./use-resource.ts";

const JOBS_SHOWN = 10;

interface EvaluationPanelProps {
  readonly client: Client;
  readonly subscribe: Subscribe;
}

/** The latest evaluations of policies, and one of them in depth; nothing where there is none. */
export function EvaluationPanel({ client, subscribe }: EvaluationPanelProps) {
  const jobs = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(endpoints.listJobs, { query: { kind: "evaluation", limit: JOBS_SHOWN }, signal })).items,
      [client],
    ),
  );
  useRefreshOn(subscribe, "job", jobs.refresh);
  const [picked, setPicked] = useState<string | null>(null);
  const { value, error } = jobs;
  if ((value === null || value.length === 0) && error === null) return null;
  const ended = value?.filter(({ runId }) => runId !== null) ?? [];
  const shown = ended.find(({ runId }) => runId === picked)?.runId ?? ended[0]?.runId ?? null;
  return (
    <Panel id="evaluations" title="Evaluations of policies" resource={jobs}>
      <div class="judged">
        {value !== null && <EvaluationTable jobs={value} shown={shown} onShow={setPicked} />}
        {shown !== null && <ShownEvaluation key={shown} client={client} runId={shown} />}
      </div>
    </Panel>
  );
}

function ShownEvaluation({ client, runId }: { readonly client: Client; readonly runId: string }) {
  const { value, error } = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(endpoints.getRun, { params: { id: runId }, signal }),
      [client, runId],
    ),
  );
  const result = value?.origin === "job" && value.result.kind === "evaluation" ? value.result : null;
  return (
    <>
      {value === null && error === null && <p class="muted loading">Reading the result …</p>}
      {error !== null && <p class="muted">{`It could not be read: ${error.message}`}</p>}
      {result !== null && <EvaluationDetail client={client} runId={runId} result={result} />}
    </>
  );
}
