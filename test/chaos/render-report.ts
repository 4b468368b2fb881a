import { renderTable } from "../../src/cli/render/render-table.ts";
import type { ChaosReport } from "./main.ts";
import type { RunSummary, Times } from "./summarise-run.ts";

/** The figures of all seeds for people, and the violations with the faults before them. */
export function renderReport({ minutes, runs, summary }: ChaosReport): string {
  const violations = runs.flatMap(({ violations: found }) => found);
  const seeds = runs.map(({ seed }) => seed).join(", ");
  const total = summary.faults.reduce((sum, { injected }) => sum + injected, 0);
  return [
    `${minutes} minutes of faults over the seeds ${seeds}: ${total} faults, ${violations.length} violations`,
    "",
    renderFaults(summary),
    renderLoad(summary),
    ...runs.filter((run) => run.violations.length > 0).map(renderViolations),
  ].join("\n");
}

function renderFaults({ faults }: RunSummary): string {
  const heading = ["part", "fault", "times", "answers again (median, p95, max)", "a job done (median, p95, max)"];
  const rows = faults.map(({ part, kind, injected, answersAgain, jobsAgain }) => {
    return [part, kind, String(injected), renderTimes(answersAgain), renderTimes(jobsAgain)];
  });
  return renderTable([heading, ...rows]);
}

function renderLoad({ jobs, reports, inferences, lateness, pulse, unaskedEnds }: RunSummary): string {
  const answers = Object.entries(inferences.byAnswer).map(([answer, count]) => `${answer} ${count}`);
  return renderTable([
    ["jobs accepted", String(jobs.accepted)],
    ["jobs seen to succeed", String(jobs.seenToSucceed)],
    ["offers to runners", String(jobs.offers)],
    ["reports acknowledged", `${reports.acknowledged} of ${reports.sent}`],
    ["inferences", `${inferences.sent}: ${answers.join(", ")}`],
    ["answers beyond the bare budget", renderTimes(lateness)],
    ["requests without any work", renderTimes(pulse)],
    ["runners that ended unasked", String(unaskedEnds)],
  ]);
}

function renderViolations({ seed, violations, timeline }: ChaosReport["runs"][number]): string {
  return [`Seed ${seed} violated:`, ...violations.map((what) => `  ${what}`), "after", ...timeline].join("\n");
}

function renderTimes({ median, p95, max }: Times): string {
  return median === null ? "–" : `${[median, p95, max].map((ms) => ((ms ?? 0) / 1e3).toFixed(2)).join(", ")} s`;
}
