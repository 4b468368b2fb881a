import type { ComponentChildren } from "preact";
import type { Series } from "../protocol/series.ts";
import { describeClock } from "./describe-clock.ts";
import { nameDevice } from "./series-choice.ts";
import { SoftwareBadge } from "./software-badge.tsx";
import type { TimeWindow } from "./time-window.ts";

/** Where a series' figures come from: device, clock, configuration. */
export function SeriesFacts({ series, window }: { series: Series; window: TimeWindow }) {
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
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
