import type { Finding } from "../protocol/health.ts";
import { formatQuantity } from "./diagnosis-words.ts";

const WIDTH = 320;
const BAR = 16;
/** The longer of both bars; the rest is for its figure. */
const LONGEST = 120;

/** What was measured beside what was expected, as two bars of one scale. */
export function FindingPlot({ finding: { measured, expected, unit } }: { finding: Finding }) {
  const most = Math.max(Math.abs(measured), Math.abs(expected));
  if (most === 0) return null;
  const bars = [
    ["measured", measured],
    ["expected", expected],
  ] as const;
  const told = bars.map(([name, value]) => `${name} ${formatQuantity(value, unit)}`);
  return (
    <svg class="finding-plot" viewBox={`0 0 ${WIDTH} ${2 * BAR + 8}`} role="img" aria-label={told.join(", ")}>
      {bars.map(([name, value], index) => {
        const length = Math.max(1, (LONGEST * Math.abs(value)) / most);
        const top = index * (BAR + 4);
        return (
          <g key={name}>
            <rect class={name} x={0} y={top} width={length} height={BAR} />
            <text x={length + 6} y={top + BAR - 4}>
              {told[index]}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
