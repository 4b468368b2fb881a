import { archiveEndpoints } from "../../protocol/policies/archive.ts";
import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { followJob } from "../../client/jobs.ts";
import { type JobArtifact, artifactEndpoints } from "../../protocol/jobs/job-artifact.ts";
import type { Job } from "../../protocol/jobs/job.ts";
import type { CurvePoint, TrainingResult, TrainingSpec } from "../../protocol/jobs/training.ts";
import { describeOutcome, training } from "../../words/kinds/training.ts";
import { formatBytes, formatNumber, PAGE_NUMBERS } from "../../words/numbers.ts";
import { ArchivePanel } from "../plots/archive-panel.tsx";
import { MarkedName } from "../ui/badges.tsx";
import { type Subscribe, useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { writeAddress } from "../ui/page-address.ts";
import { Fact, FactList, Panel } from "../ui/panels.tsx";
import { LearningCurve } from "./learning-curve.tsx";

/** Points that come faster than this are drawn together. */
const DRAWN_EVERY_MS = 200;

/** The learning curve of a training: from its result, and before that from its events as they arrive. */
function useCurve(client: Client, { id, result }: Pick<Job, "id" | "result">): readonly CurvePoint[] {
  const [told, setTold] = useState<readonly CurvePoint[]>([]);
  const kept = result?.kind === training.kind ? result.curve : null;
  const hasEnded = kept !== null;
  useEffect(() => {
    if (hasEnded) return undefined;
    const abort = new AbortController();
    const points = new Map<number, CurvePoint>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      timer = undefined;
      setTold([...points.values()].toSorted((a, b) => a.generation - b.generation));
    };
    const follow = async () => {
      for await (const { progress } of followJob(client, id, { signal: abort.signal })) {
        const point = progress?.point;
        if (point === undefined) continue;
        // An attempt that resumes from a checkpoint reports some generations again.
        points.set(point.generation, point);
        timer ??= setTimeout(draw, DRAWN_EVERY_MS);
      }
    };
    // The result contains the points that the stream lost.
    follow().catch(() => undefined);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [client, id, hasEnded]);
  return kept ?? told;
}

interface ShownTrainingProps {
  readonly client: Client;
  readonly subscribe: Subscribe;
  readonly id: string;
}

/** One training: its curve as it grows, what it left, and its archive where it has one. */
export function ShownTraining({ client, subscribe, id }: ShownTrainingProps) {
  const read = useResource(
    useCallback((signal: AbortSignal) => readTraining(client, id, signal), [client, id]),
    1_000,
  );
  useRefreshOn(subscribe, "job", read.refresh);
  const { value, error } = read;
  return (
    <>
      <Panel
        id="shown-training"
        title={value === null ? "Training" : `Learning ${value.spec.environment}`}
        resource={read}
      >
        {value === null && error === null && <p class="muted loading">Reading the training …</p>}
        {value !== null && <Training client={client} {...value} />}
      </Panel>
      {value?.archive != null && (
        <>
          <ArchivePanel key={value.archive} client={client} id={value.archive} />
          <p>
            <a href={`/${writeAddress({ view: "archives", archive: value.archive })}`}>This archive among all</a>
          </p>
        </>
      )}
    </>
  );
}

interface ReadTraining {
  readonly job: Job;
  readonly spec: TrainingSpec;
  readonly files: readonly JobArtifact[];
  /** Id of the archive that it left. */
  readonly archive: string | null;
}

async function readTraining(client: Client, id: string, signal: AbortSignal): Promise<ReadTraining> {
  const [job, { items: files }] = await Promise.all([
    client.call(jobEndpoints.getJob, { params: { id }, signal }),
    client.call(artifactEndpoints.listJobArtifacts, { params: { id }, signal }),
  ]);
  const { spec, result } = job;
  if (spec.kind !== training.kind) throw new TypeError(`The job ${id} is no training.`);
  const hasArchive = result?.kind === training.kind && result.qualityDiversity !== null;
  const archives = hasArchive
    ? await client.call(archiveEndpoints.listArchives, { query: { job: id, limit: 1 }, signal })
    : null;
  return { job, spec, files, archive: archives?.items[0]?.id ?? null };
}

function Training({ client, job, spec, files }: ReadTraining & { readonly client: Client }) {
  const curve = useCurve(client, job);
  const result = job.result?.kind === training.kind ? job.result : null;
  return (
    <div class="judged">
      <LearningCurve environment={spec.environment} curve={curve} target={spec.stopAt} />
      <TrainingFacts spec={spec} result={result} files={files} />
    </div>
  );
}

interface TrainingFactsProps {
  readonly spec: TrainingSpec;
  readonly result: TrainingResult | null;
  readonly files: readonly JobArtifact[];
}

function TrainingFacts({ spec, result, files }: TrainingFactsProps) {
  const { algorithm, network, publish, stopAt } = spec;
  return (
    <dl class="facts">
      <Fact name="Algorithm">{`${algorithm.name}, ${formatNumber(algorithm.population)} members`}</Fact>
      <Fact name="Network">{network.kind}</Fact>
      {stopAt !== undefined && <Fact name="Ends at">{`a return of ${formatNumber(stopAt)}`}</Fact>}
      {result !== null && <ResultFacts result={result} />}
      <Fact name="Published">
        <Published publish={publish} result={result} />
      </Fact>
      <Fact name="Files">
        {files.length === 0
          ? "none yet"
          : files.map(({ name, sizeBytes }) => `${name} (${formatBytes(sizeBytes)})`).join(", ")}
      </Fact>
    </dl>
  );
}

function ResultFacts({ result }: { readonly result: TrainingResult }) {
  const { deviceName, software } = result.environment;
  return (
    <>
      <FactList facts={describeOutcome(result, PAGE_NUMBERS)} />
      <Fact name="Where">
        <MarkedName name={deviceName} software={software} />
      </Fact>
    </>
  );
}

function Published({
  publish,
  result,
}: {
  readonly publish: TrainingSpec["publish"];
  readonly result: TrainingResult | null;
}) {
  if (publish === undefined) return <>not asked for</>;
  if (result === null) return <>{`as ${publish.model}, at the end`}</>;
  const { published } = result;
  if (published?.modelVersionId == null) return <>{`not as ${publish.model}: this network has no ONNX file`}</>;
  return <a href={`/${writeAddress({ view: "models", model: published.model })}`}>{published.model}</a>;
}
