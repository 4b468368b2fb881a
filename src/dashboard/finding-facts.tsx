import type { Finding } from "../protocol/health.ts";
import { formatQuantity } from "./diagnosis-words.ts";
import { Fact } from "./fact.tsx";
import { FindingPlot } from "./finding-plot.tsx";
import { writeAddress } from "./page-address.ts";
import { Timestamp } from "./timestamp.tsx";

/** What the watch found, by how much it is off, and what to do about it. */
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
