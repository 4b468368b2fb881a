import type { InferFrameReply } from "../../client/infer-frame.ts";
import { Badge } from "../badge.tsx";
import { Fact } from "../fact.tsx";
import { formatMeasure, formatShare } from "../format.ts";
import { writeAddress } from "../page-address.ts";
import { SoftwareBadge } from "../software-badge.tsx";
import { LatencyBars } from "./latency-bars.tsx";
import { OutputFigure } from "./output-figure.tsx";

export type InferenceAnswer = InferFrameReply;

/** What a model answered, where it ran, and what took how long. */
export function InferenceReport({ answer: { header, outputs } }: { readonly answer: InferenceAnswer }) {
  const { placement, budgetMs, budgetMet, latency, prediction, faults } = header;
  return (
    <>
      {outputs.map((output) => (
        <OutputFigure key={output.name} output={output} />
      ))}
      <h3 class="part">Where it ran, and what took how long</h3>
      <dl class="facts">
        <Fact name="Budget">
          <Badge tone={budgetMet ? "good" : "bad"}>
            {`${budgetMet ? "met" : "missed"}: ${formatMeasure(latency.totalMs, "ms")} of ${formatMeasure(budgetMs, "ms")}`}
          </Badge>
        </Fact>
        <Fact name="Predicted">
          {`${formatMeasure(prediction.latencyMs, "ms")} with a confidence of ${formatShare(prediction.confidence)}`}
        </Fact>
        <Fact name="Variant">{`${placement.variant} by ${placement.backend}, fidelity ${formatShare(placement.fidelity)}`}</Fact>
        <Fact name="Device">
          {placement.backend === "edge-wasm" ? (
            "the edge itself"
          ) : (
            <a href={writeAddress({ view: "runners", runner: placement.runnerId })}>{placement.deviceKey}</a>
          )}{" "}
          {placement.software && <SoftwareBadge />}
        </Fact>
        <Fact name="Batch">{`${placement.batch} ${placement.batch === 1 ? "row" : "rows"}`}</Fact>
      </dl>
      {faults !== undefined && (
        <ul class="findings">
          {faults.map(({ code, detail, action }, index) => (
            <li key={index}>{`${code}: ${detail} (${action})`}</li>
          ))}
        </ul>
      )}
      <LatencyBars reply={header} />
    </>
  );
}
