import { historyEndpoints } from "../../../protocol/history/history-endpoints.ts";
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Client } from "../../../client/client.ts";
import type { NoiseReply } from "../../../protocol/history/detection.ts";
import type { Series } from "../../../protocol/history/series.ts";
import { describeClock, nameDevice } from "../../../words/history.ts";
import { formatShare } from "../../../words/numbers.ts";
import { MarkedName } from "../../ui/badges.tsx";
import { WriteButton } from "../../ui/buttons.tsx";
import { useResource } from "../../ui/hooks/use-resource.ts";
import type { Writer } from "../../ui/hooks/use-writer.ts";
import { Fact } from "../../ui/panels.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import type { TimeWindow } from "./time-window.tsx";

const USUAL_CHANGE_PERCENT = 5;
const SMALLEST_CHANGE_PERCENT = 0.1;
const LARGEST_CHANGE_PERCENT = 1_000;
const SMALLEST_TOLD = 0.001;
/** A noise figure rests on hundreds of points: one more may wait. */
const NOISE_GAP_MS = 10_000;

interface NoiseFactsProps {
  readonly client: Client;
  readonly id: string;
  readonly lastPointAt: string | null;
}

/** Noise of a series, its smallest detectable change, and the runs that a change of a chosen size needs. */
function NoiseFacts({ client, id, lastPointAt }: NoiseFactsProps) {
  const [percent, setPercent] = useState(USUAL_CHANGE_PERCENT);
  const noise = useResource(
    useCallback(
      (signal: AbortSignal) =>
        client.call(historyEndpoints.getSeriesNoise, { params: { id }, query: { change: percent / 100 }, signal }),
      [client, id, percent],
    ),
    NOISE_GAP_MS,
  );
  const { value, error, refresh } = noise;
  useEffect(() => refresh(), [lastPointAt, refresh]);
  const take = (text: string) => {
    const given = Number(text);
    if (given >= SMALLEST_CHANGE_PERCENT && given <= LARGEST_CHANGE_PERCENT) setPercent(given);
  };
  return (
    <>
      <Fact name="Noise within a run">{tellShare(value?.withinRun)}</Fact>
      <Fact name="Noise between runs">{tellShare(value?.betweenRun)}</Fact>
      <Fact name="Smallest change it can show">{tellSmallest(value)}</Fact>
      <Fact name="Runs that a change needs">
        <label class="change-size">
          <span class="unseen">Change in per cent</span>
          <input
            type="number"
            min={SMALLEST_CHANGE_PERCENT}
            max={LARGEST_CHANGE_PERCENT}
            step="any"
            value={percent}
            onChange={({ currentTarget }) => take(currentTarget.value)}
          />{" "}
          %: <b>{value?.runsNeeded == null ? "–" : `${value.runsNeeded} a side`}</b>
        </label>
        <small class="noise-reason">
          {error === null ? sentence(value?.reason ?? null) : `The noise could not be read: ${error.message}`}
        </small>
      </Fact>
    </>
  );
}

function tellShare(share: number | null | undefined): string {
  if (share == null) return "–";
  return share < SMALLEST_TOLD ? `less than ${formatShare(SMALLEST_TOLD)}` : `± ${formatShare(share)}`;
}

function tellSmallest(noise: NoiseReply | null): string {
  if (noise?.smallestDetectable == null) return "–";
  return `${formatShare(noise.smallestDetectable)} with ${noise.runs} runs a side`;
}

/** As a sentence of its own. */
function sentence(reason: string | null): string {
  return reason === null ? "" : `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}

interface SeriesFactsProps {
  readonly client: Client;
  readonly series: Series;
  readonly window: TimeWindow;
  readonly writer: Writer;
  readonly onMute: () => void;
}

/** Origin of a series' figures (device, clock, configuration), their noise, and whether the series alerts. */
export function SeriesFacts({ client, series, window, writer, onMute }: SeriesFactsProps) {
  const { fingerprint, configuration } = series;
  const settings = Object.entries(configuration).map(([name, value]) => `${name} ${value}`);
  return (
    <dl class="facts">
      <Fact name="Device">
        <MarkedName name={nameDevice(fingerprint)} software={series.software} />
      </Fact>
      <Fact name="Clock">{describeClock(series)}</Fact>
      {fingerprint?.driver != null && <Fact name="Driver">{fingerprint.driver}</Fact>}
      {settings.length > 0 && <Fact name="Configuration">{settings.join(", ")}</Fact>}
      {series.label !== null && <Fact name="Label">{series.label}</Fact>}
      <Fact name="Better">{series.direction}</Fact>
      <Fact name="Points">{`${series.points}, ${window.step === undefined ? "as stored" : `merged by ${window.step}`}`}</Fact>
      <NoiseFacts client={client} id={series.id} lastPointAt={series.lastPointAt} />
      <Fact name="Alerts">
        <MuteSwitch client={client} series={series} writer={writer} onMute={onMute} />
      </Fact>
    </dl>
  );
}

function MuteSwitch({ client, series, writer, onMute }: Omit<SeriesFactsProps, "window">) {
  const isMuted = series.mutedAt !== null;
  const endpoint = isMuted ? historyEndpoints.unmuteSeries : historyEndpoints.muteSeries;
  return (
    <>
      <span class="switch">
        {isMuted ? (
          <span>
            muted since <Timestamp at={series.mutedAt} />
          </span>
        ) : (
          "on"
        )}
        <WriteButton
          writer={writer}
          label={isMuted ? "Unmute this series" : "Mute this series"}
          work={() => client.call(endpoint, { params: { id: series.id } })}
          onDone={onMute}
        >
          {isMuted ? "Unmute" : "Mute"}
        </WriteButton>
      </span>
      {(writer.refusal ?? writer.failure) !== null && (
        <small class="refusal" role="status">
          {writer.refusal ?? writer.failure}
        </small>
      )}
    </>
  );
}
