import { useCallback } from "preact/hooks";
import { evaluationEndpoints } from "../../protocol/jobs/evaluation/evaluation.ts";
import { EvaluationComparison } from "../../protocol/jobs/evaluation/evaluation-comparison.ts";
import type { JobSummary } from "../../protocol/jobs/job.ts";
import { Fact, Panel } from "../ui/panels.tsx";
import { evaluation } from "../../words/kinds/evaluation.ts";
import { describeEstimate } from "../../words/kinds/kind.ts";
import { formatNumber, PAGE_NUMBERS } from "../../words/numbers.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { Picker } from "../ui/forms/picker.tsx";

interface ComparisonPanelProps extends Pick<ViewProps, "client" | "address" | "onPick"> {
  /** Evaluations that ended, the newest first. */
  readonly jobs: readonly JobSummary[];
  readonly environment: string;
}

/** One entrant of a run. */
interface Side {
  /** As the API names it. */
  readonly value: string;
  readonly name: string;
}

/** Two policies in one environment against each other; nothing where there is one alone. */
export function ComparisonPanel({ client, address, onPick, jobs, environment }: ComparisonPanelProps) {
  const sides = sidesIn(jobs, environment);
  const [first, second] = sides;
  const a = sides.find(({ value }) => value === address.a) ?? second;
  const b = sides.find(({ value }) => value === address.b) ?? first;
  const query = a === undefined || b === undefined ? null : { a: a.value, b: b.value };
  const compared = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        if (query === null) return null;
        // The endpoint's own query is parsed already; this is its text.
        const response = await client.send(evaluationEndpoints.compareEvaluations, { query, signal });
        return EvaluationComparison.parse(await response.json());
      },
      [client, query?.a, query?.b],
    ),
  );
  if (a === undefined || b === undefined) return null;
  const task = compared.value?.tasks[0];
  const options = sides.map(({ value, name }) => [value, name] as const);
  return (
    <Panel
      id="compared-policies"
      title="Compared"
      resource={compared}
      aside={
        <div class="picker">
          <Picker
            label="A"
            class="variant"
            value={a.value}
            options={options}
            onPick={(value) => onPick({ a: value })}
          />
          <Picker
            label="B"
            class="variant"
            value={b.value}
            options={options}
            onPick={(value) => onPick({ b: value })}
          />
        </div>
      }
    >
      <dl class="facts compared-facts">
        <Fact name="Mean return, A">{task === undefined ? "–" : formatNumber(task.a.meanReturn)}</Fact>
        <Fact name="Mean return, B">{task === undefined ? "–" : formatNumber(task.b.meanReturn)}</Fact>
        <Fact name="B less A">{task === undefined ? "–" : describeEstimate(task.returnDifference, PAGE_NUMBERS)}</Fact>
        <Fact name="B gets more than A">
          {compared.value == null
            ? "–"
            : `${describeEstimate(compared.value.probabilityOfImprovement, PAGE_NUMBERS)} of the time, ties half`}
        </Fact>
        <Fact name="Episodes">
          {task === undefined ? "–" : task.paired ? "paired: the same draws" : `not paired: ${task.unpairedBecause}`}
        </Fact>
      </dl>
    </Panel>
  );
}

function sidesIn(jobs: readonly JobSummary[], environment: string): Side[] {
  return jobs.flatMap(({ runId, spec, endedAt }) => {
    if (runId === null || spec.kind !== evaluation.kind || spec.environment !== environment) return [];
    const at = endedAt === null ? "" : `, ${new Date(endedAt).toLocaleString()}`;
    return spec.entrants.map(({ name }, place) => ({
      value: `${runId}:${place}`,
      name: `${name}, seed ${spec.seed}${at}`,
    }));
  });
}
