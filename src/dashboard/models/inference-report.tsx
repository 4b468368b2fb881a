import type { InferFrameReply } from "../../client/infer.ts";
import type { Problem } from "../../protocol/wire/problem.ts";
import { formatMeasure, formatShare } from "../../words/numbers.ts";
import { Badge, SoftwareBadge } from "../ui/badges.tsx";
import { writeAddress } from "../ui/page-address.ts";
import { Fact } from "../ui/panels.tsx";
import { LatencyBars } from "./latency-bars.tsx";
import { OutputFigure } from "./output-figure.tsx";

interface InferenceRefusalProps {
  readonly problem: Problem;
  /** Takes the budget that would do. */
  readonly onBudget: (budgetMs: number) => void;
}

/** Why a model was not asked or did not answer in time, and what would help. */
export function InferenceRefusal({ problem, onBudget }: InferenceRefusalProps) {
  const { type, title, detail, code, errors, fits, retryAfterMs } = problem;
  return (
    <div class="notice bad">
      <p>
        <a href={type}>{title}</a>:{" "}
        {code === "forbidden"
          ? "this key may not ask models; one with the infer scope can, and the page takes it in place of this one."
          : detail}
      </p>
      {errors !== undefined && errors.length > 0 && (
        <ul class="notes">
          {errors.map(({ pointer, message }) => (
            <li key={pointer}>
              <code>{pointer}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {fits !== undefined && (
        <p class="try-row">
          <button type="button" onClick={() => onBudget(roundUp(fits.budgetMs))}>
            {`Fits in ${formatMeasure(roundUp(fits.budgetMs), "ms")}: take that budget`}
          </button>
          <span class="muted">{`by ${fits.variant}, with a confidence of ${formatShare(fits.confidence)}`}</span>
        </p>
      )}
      {retryAfterMs !== undefined && (
        <p class="muted">{`Worth another try in ${formatMeasure(retryAfterMs, "ms")}.`}</p>
      )}
    </div>
  );
}

/** Rounds up to tenths, so that the result is never below the given value. */
function roundUp(ms: number): number {
  return Math.ceil(ms * 10) / 10;
}

export type InferenceAnswer = InferFrameReply;

/** Answer of a model, its place, and the parts of its latency. */
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
