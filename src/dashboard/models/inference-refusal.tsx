import type { Problem } from "../../protocol/problem.ts";
import { formatMeasure, formatShare } from "../format.ts";

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

/** To tenths, and never below what is wanted. */
function roundUp(ms: number): number {
  return Math.ceil(ms * 10) / 10;
}
