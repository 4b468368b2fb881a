import type { Client } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import type { Series } from "../protocol/series.ts";
import { describeClock } from "./describe-clock.ts";
import { Fact } from "./fact.tsx";
import { NoiseFacts } from "./noise-facts.tsx";
import { nameDevice } from "./series-choice.ts";
import { SoftwareBadge } from "./software-badge.tsx";
import type { TimeWindow } from "./time-window.ts";
import { Timestamp } from "./timestamp.tsx";
import type { Writer } from "./use-writer.ts";
import { WriteButton } from "./write-button.tsx";

interface SeriesFactsProps {
  readonly client: Client;
  readonly series: Series;
  readonly window: TimeWindow;
  readonly writer: Writer;
  readonly onMute: () => void;
}

/** Where a series' figures come from (device, clock, configuration), how noisy they are, and whether it alerts. */
export function SeriesFacts({ client, series, window, writer, onMute }: SeriesFactsProps) {
  const { fingerprint, configuration } = series;
  const settings = Object.entries(configuration).map(([name, value]) => `${name} ${value}`);
  return (
    <dl class="facts">
      <Fact name="Device">
        {nameDevice(fingerprint)} {series.software && <SoftwareBadge />}
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
  const endpoint = isMuted ? endpoints.unmuteSeries : endpoints.muteSeries;
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
