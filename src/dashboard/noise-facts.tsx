import { useCallback, useEffect, useState } from "preact/hooks";
import type { Client } from "../client/client.ts";
import type { NoiseReply } from "../protocol/detection.ts";
import { endpoints } from "../protocol/endpoints.ts";
import { Fact } from "./fact.tsx";
import { formatShare } from "./format.ts";
import { useResource } from "./use-resource.ts";

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

/** How noisy a series is, what it could show, and how many runs a change of a chosen size would need. */
export function NoiseFacts({ client, id, lastPointAt }: NoiseFactsProps) {
  const [percent, setPercent] = useState(USUAL_CHANGE_PERCENT);
  const noise = useResource(
    useCallback(
      (signal: AbortSignal) =>
        client.call(endpoints.getSeriesNoise, { params: { id }, query: { change: percent / 100 }, signal }),
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
