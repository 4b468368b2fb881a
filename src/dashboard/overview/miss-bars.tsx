import { formatNumber } from "../format.ts";
import type { Goodput } from "./goodput.ts";

/** Colours of reasons; of more than these the last one is for all. */
const STYLES = 5;
const HEIGHT = 100;

/** The style of a reason by its place; the style sheet has the colours. */
export function reasonStyleOf(index: number): number {
  return Math.min(index, STYLES - 1);
}

/** Requests without an answer by the minute, stacked by reason in the order of the table below. */
export function MissBars({ goodput: { minutes, missed } }: { goodput: Goodput }) {
  const totals = minutes.map(({ missed: byReason }) => Object.values(byReason).reduce((sum, count) => sum + count, 0));
  const most = Math.max(...totals);
  if (most === 0) return <p class="muted plot-note">Every request got its answer.</p>;
  const told = missed.map(({ reason, count }) => `${reason} ${formatNumber(count)}`).join(", ");
  return (
    <div class="miss-bars">
      <span class="muted">{`${formatNumber(most)} a minute`}</span>
      <svg
        viewBox={`0 0 ${minutes.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Requests without an answer over ${minutes.length} minutes: ${told}`}
      >
        {minutes.flatMap(({ atMs, missed: byReason }, minute) => {
          let top = HEIGHT;
          return missed.map(({ reason }, index) => {
            const height = ((byReason[reason] ?? 0) / most) * HEIGHT;
            top -= height;
            if (height === 0) return null;
            return (
              <rect
                key={`${atMs} ${reason}`}
                class={`reason-${reasonStyleOf(index)}`}
                x={minute + 0.1}
                y={top}
                width={0.8}
                height={height}
              />
            );
          });
        })}
      </svg>
      <span class="miss-times muted">
        <span>{`${minutes.length - 1} min ago`}</span>
        <span>now</span>
      </span>
    </div>
  );
}
