import type { ViewProps } from "../view-props.ts";
import { EvaluationPanel } from "./evaluation-panel.tsx";
import { TrainingPanel } from "./training-panel.tsx";

const PARTS = [
  [undefined, "Evaluations"],
  ["trainings", "Trainings"],
] as const;

/** The view of evaluations and trainings: the latest of either, and one of them in depth. */
export function EvaluationView(props: ViewProps) {
  const { address, onPick } = props;
  const isTraining = address.part === "trainings";
  return (
    <main id="content" tabIndex={-1}>
      <h1 class="unseen">Evaluations</h1>
      <div class="parts" role="group" aria-label="Part">
        {PARTS.map(([part, name]) => (
          <button
            key={name}
            type="button"
            aria-pressed={isTraining === (part !== undefined)}
            onClick={() => onPick({ part })}
          >
            {name}
          </button>
        ))}
      </div>
      {isTraining ? <TrainingPanel {...props} /> : <EvaluationPanel {...props} />}
    </main>
  );
}
