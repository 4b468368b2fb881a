import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { artifactEndpoints } from "../../protocol/jobs/job-artifact.ts";
import { useCallback } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import {
  evaluationEndpoints,
  type EvaluationResult,
  type EvaluationSpec,
} from "../../protocol/jobs/evaluation/evaluation.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { JobRun } from "../../protocol/history/run.ts";
import { evaluation } from "../../words/kinds/evaluation.ts";
import { formatNumber } from "../../words/numbers.ts";
import { Panel } from "../ui/panels.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import type { Writer } from "../ui/hooks/use-writer.ts";
import { WriteButton } from "../ui/buttons.tsx";
import { openReplay, type ReplayedEpisode } from "./replay.ts";
import { ReplayPlayer } from "./replay-player.tsx";
import { Picker } from "../ui/forms/picker.tsx";

/** Episodes of each policy that the button has recorded. */
const RECORDED = 3;

interface ReplayPanelProps extends Pick<ViewProps, "client" | "address" | "onPick" | "writer"> {
  readonly run: Pick<JobRun, "id" | "jobId"> & { readonly spec: EvaluationSpec; readonly result: EvaluationResult };
}

/** Episodes of an evaluation, drawn from their states; where none were recorded, how they are. */
export function ReplayPanel({ client, address, onPick, writer, run }: ReplayPanelProps) {
  const { jobId, result } = run;
  const isRecorded = result.replay !== null;
  const read = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        if (!isRecorded) return null;
        const params = { id: jobId, name: "replay" };
        const response = await client.send(artifactEndpoints.getJobArtifact, { params, signal });
        return openReplay(new Uint8Array(await response.arrayBuffer()));
      },
      [client, jobId, isRecorded],
    ),
  );
  const replay = read.value;
  // Such as `0.2.137`: entrant, episode, step.
  const [entrant = 0, number = 0, step = 0] = (address.replay ?? "").split(".").map(Number);
  const episodes = replay?.episodes ?? [];
  const shown = episodes.find((each) => each.entrant === entrant && each.episode === number) ?? episodes[0];
  const pick = (episode: ReplayedEpisode, at: number) =>
    onPick({ replay: `${episode.entrant}.${episode.episode}.${at}` });
  return (
    <Panel
      id="replay"
      title="Replay"
      resource={read}
      aside={shown !== undefined && <EpisodePicker run={run} episodes={episodes} shown={shown} onShow={pick} />}
    >
      {!isRecorded && <NothingRecorded client={client} writer={writer} spec={run.spec} />}
      {isRecorded && replay === null && read.error === null && <p class="muted loading">Reading the episodes …</p>}
      {replay !== null && shown === undefined && <p class="muted">No policy got as far as its first state.</p>}
      {replay !== null && shown !== undefined && (
        <>
          <ReplayPlayer
            key={`${shown.entrant}.${shown.episode}`}
            environment={result.task.name}
            fields={replay.fields}
            episode={shown}
            from={step}
            onRest={(at) => pick(shown, at)}
          />
          <DeviceEpisode client={client} runId={run.id} episode={shown} />
        </>
      )}
    </Panel>
  );
}

interface EpisodePickerProps {
  readonly run: ReplayPanelProps["run"];
  readonly episodes: readonly ReplayedEpisode[];
  readonly shown: ReplayedEpisode;
  readonly onShow: (episode: ReplayedEpisode, at: number) => void;
}

function EpisodePicker({ run, episodes, shown, onShow }: EpisodePickerProps) {
  const nameOf = ({ entrant, member, episode }: ReplayedEpisode) => {
    const of = run.spec.entrants[entrant];
    return `${of?.name ?? entrant}${of?.members === 1 ? "" : `, member ${member}`}: episode ${episode}`;
  };
  return (
    <Picker
      label="Episode"
      class="pick"
      value={String(episodes.indexOf(shown))}
      options={episodes.map((episode, index) => [String(index), nameOf(episode)])}
      onPick={(index) => onShow(episodes[Number(index)] ?? shown, 0)}
    />
  );
}

/** The device's run of the same episode: rounding can lead f32 and the reference to different ends. */
function DeviceEpisode({ client, runId, episode }: { client: Client; runId: string; episode: ReplayedEpisode }) {
  const { entrant, member, episode: number } = episode;
  const { value } = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        const query = { entrant, member, fromEpisode: number, toEpisode: number + 1 };
        return (
          (await client.call(evaluationEndpoints.listEpisodes, { params: { id: runId }, query, signal })).items[0] ??
          null
        );
      },
      [client, runId, entrant, member, number],
    ),
  );
  return (
    <p class="muted device-episode">
      {value !== null &&
        `The device's own episode: return ${value.return === null ? "not finite" : formatNumber(value.return)} over ${value.length} steps. The replay is the reference's, in f64.`}
    </p>
  );
}

interface NothingRecordedProps {
  readonly client: Client;
  readonly writer: Writer;
  readonly spec: EvaluationSpec;
}

function NothingRecorded({ client, writer, spec }: NothingRecordedProps) {
  const { environment, entrants, episodes, seed, commonRandom } = spec;
  const record = Math.min(RECORDED, episodes, Math.floor(LIMITS.recordedEpisodes / entrants.length));
  const population = entrants[0]?.populationId;
  const who = population === undefined ? { policies: entrants.map(({ name }) => name) } : { population };
  const body = { kind: evaluation.kind, environment, episodes, seed, commonRandom, record, ...who };
  return (
    <div class="empty">
      <p>
        <strong>No episode of this evaluation was recorded.</strong> The field <code>record</code> of an evaluation says
        how many are, of each policy.
      </p>
      {record > 0 && (
        <p>
          <WriteButton
            writer={writer}
            label="Evaluate again and record"
            work={() => client.call(jobEndpoints.createJob, { body })}
            onDone={() => undefined}
          >
            {`Evaluate again and record ${record}`}
          </WriteButton>{" "}
          <span class="muted" role="status">
            {writer.refusal ?? writer.failure}
          </span>
        </p>
      )}
    </div>
  );
}
