import { useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { inferFrame } from "../../client/infer.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { ModelVersion } from "../../protocol/models/model.ts";
import { type Problem, ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { formatMeasure } from "../../words/numbers.ts";
import { type InferenceAnswer, InferenceRefusal, InferenceReport } from "./inference-report.tsx";
import { TensorField } from "./tensor-field.tsx";

const USUAL_BUDGET_MS = 100;

interface TryPanelProps {
  readonly client: Client;
  readonly model: string;
  readonly version: ModelVersion;
}

type Outcome = { readonly answer: InferenceAnswer } | { readonly problem: Problem } | { readonly failure: string };

/** Asks a model for one answer within a budget, and shows what it said, where, and what took how long. */
export function TryPanel({ client, model, version: { version, inputs } }: TryPanelProps) {
  const [tensors, setTensors] = useState<ReadonlyMap<string, Tensor>>(new Map());
  const [budgetMs, setBudgetMs] = useState(USUAL_BUDGET_MS);
  const [confidence, setConfidence] = useState(0.99);
  const [refuseWithinMs, setRefuseWithinMs] = useState(0);
  const [minFidelity, setMinFidelity] = useState(0);
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);

  const keep = (name: string, tensor: Tensor | null) =>
    setTensors((before) => {
      const after = new Map(before);
      if (tensor === null) after.delete(name);
      else after.set(name, tensor);
      return after;
    });
  const missing = inputs.filter(({ name }) => !tensors.has(name)).map(({ name }) => name);
  const isForbidden = outcome !== null && "problem" in outcome && outcome.problem.code === "forbidden";
  const isReady = missing.length === 0 && !isBusy && !isForbidden;

  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!isReady) return;
    abort.current = new AbortController();
    const { signal } = abort.current;
    setBusy(true);
    const next = await ask({ signal });
    if (signal.aborted) return;
    setOutcome(next);
    setBusy(false);
  };
  const ask = async ({ signal }: { readonly signal: AbortSignal }): Promise<Outcome> => {
    const ordered = inputs.flatMap(({ name }) => tensors.get(name) ?? []);
    const wishes = { model: `${model}@${version}`, budgetMs, confidence, refuseWithinMs, minFidelity };
    try {
      return { answer: await inferFrame(client, { ...wishes, inputs: ordered, signal }) };
    } catch (error) {
      return error instanceof ProblemError ? { problem: error.problem } : { failure: (error as Error).message };
    }
  };

  return (
    <section class="panel" aria-labelledby="try">
      <div class="panel-head">
        <h2 id="try">Try it</h2>
      </div>
      <form class="try" onSubmit={(event) => void send(event)}>
        {inputs.map((spec) => (
          <TensorField key={spec.name} spec={spec} onTensor={(tensor) => keep(spec.name, tensor)} />
        ))}
        <div class="try-row">
          <Wish
            name="Budget (ms)"
            value={budgetMs}
            least={LIMITS.minBudgetMs}
            most={LIMITS.maxBudgetMs}
            onValue={setBudgetMs}
          />
          <Wish name="Confidence" value={confidence} least={0.5} most={0.999} onValue={setConfidence} />
          <Wish
            name="Refuse within (ms)"
            value={refuseWithinMs}
            least={0}
            most={LIMITS.maxBudgetMs}
            onValue={setRefuseWithinMs}
          />
          <Wish name="Least fidelity" value={minFidelity} least={0} most={1} onValue={setMinFidelity} />
          <button type="submit" class="primary" aria-disabled={!isReady} aria-describedby="try-note">
            {isBusy ? "Asking …" : "Ask the model"}
          </button>
          <span id="try-note" class="muted">
            {missing.length > 0 && `Wanting: ${missing.join(", ")}`}
          </span>
        </div>
      </form>
      <p class="unseen" role="status">
        {describeOutcome(isBusy, outcome)}
      </p>
      <div class="try-outcome">
        {outcome !== null && "problem" in outcome && (
          <InferenceRefusal problem={outcome.problem} onBudget={(fitting) => setBudgetMs(fitting)} />
        )}
        {outcome !== null && "failure" in outcome && <p class="notice bad">{outcome.failure}</p>}
        {outcome !== null && "answer" in outcome && <InferenceReport answer={outcome.answer} />}
      </div>
    </section>
  );
}

/** Short text about the outcome for screen readers. */
function describeOutcome(isBusy: boolean, outcome: Outcome | null): string {
  if (isBusy) return "Asking the model";
  if (outcome === null) return "";
  if ("answer" in outcome) return `Answered in ${formatMeasure(outcome.answer.header.latency.totalMs, "ms")}`;
  return "problem" in outcome ? outcome.problem.title : outcome.failure;
}

interface WishProps {
  readonly name: string;
  readonly value: number;
  readonly least: number;
  readonly most: number;
  readonly onValue: (value: number) => void;
}

/** One number of a request, which the browser holds to its bounds. */
function Wish({ name, value, least, most, onValue }: WishProps) {
  return (
    <label>
      {name}
      <input
        type="number"
        min={least}
        max={most}
        step="any"
        required
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.valueAsNumber)}
      />
    </label>
  );
}
