import type { Finding } from "../../protocol/fleet/health.ts";
import { formatQuantity } from "../../words/runners.ts";
import { writeAddress } from "../ui/page-address.ts";
import { Fact } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";

const WIDTH = 320;
const BAR = 16;
/** The longer of both bars; the rest is for its figure. */
const LONGEST = 120;

/** Measured value beside the expected one, as two bars of one scale. */
function FindingPlot({ finding: { measured, expected, unit } }: { finding: Finding }) {
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

/** A finding of the watch: its size, and advice. */
export function FindingFacts({ finding, note }: { finding: Finding; note: string | null }) {
  const { runnerId, measured, expected, unit, detail, advice, cause, since, at } = finding;
  const tell = (value: number) => formatQuantity(value, unit);
  return (
    <>
      <p>{detail}</p>
      <FindingPlot finding={finding} />
      <dl class="alert-facts">
        <Fact name="Since">
          <Timestamp at={since} />
        </Fact>
        <Fact name="Last seen">
          <Timestamp at={at} />
        </Fact>
        <Fact name="Measured">{`${tell(measured)} where ${tell(expected)} was expected`}</Fact>
        {cause !== null && <Fact name="Likely cause">{cause}</Fact>}
        <Fact name="Runner">
          <a href={`/${writeAddress({ view: "runners", runner: runnerId })}`}>its diagnosis</a>
        </Fact>
        <Fact name="Advice">{advice}</Fact>
        {note !== null && <Fact name="Note">{note}</Fact>}
      </dl>
    </>
  );
}
