/** Reason for a first run without its benchmark. */
export const NO_GPU =
  "the runner has no GPU, neither a real nor a software one: MILLRACE_GPU is none, or runner.log in the data folder has the reason";

/** Findings of the first run; `npm start -- --json` prints them as they are. */
export interface Summary {
  readonly edge: string;
  readonly runner: { readonly id: string; readonly device: string; readonly software: boolean } | null;
  readonly benchmark: {
    readonly kernel: string;
    readonly correct: boolean;
    readonly gflops: number | null;
    /** Share of the roof that the device has over this kernel, and what bounds it; null where that cannot be said. */
    readonly shareOfRoof: number | null;
    readonly bound: "memory" | "compute" | null;
    readonly p50Ms: number;
    readonly n: number;
  } | null;
  readonly inference: {
    readonly model: string;
    readonly budgetMs: number;
    readonly totalMs: number;
    readonly predictedP99Ms: number;
    readonly budgetMet: boolean;
    readonly label: number;
    readonly expected: number;
  } | null;
  readonly history: { readonly series: number; readonly points: number };
  readonly elapsedMs: number;
}

/** The summary for people. */
export function renderSummary(summary: Summary, pageUrl: string): string {
  const { runner, benchmark, inference, history } = summary;
  const lines = [
    ["edge", summary.edge],
    [
      "runner",
      runner === null
        ? "none (--no-runner)"
        : `${runner.id} on ${runner.device}${runner.software ? " (software)" : ""}`,
    ],
  ];
  if (benchmark === null && runner !== null) lines.push(["benchmark", `none: ${NO_GPU}`]);
  if (benchmark !== null) {
    const rate = benchmark.gflops === null ? "" : `, ${benchmark.gflops.toFixed(2)} GFLOP/s`;
    const share = benchmark.shareOfRoof === null ? "" : `, ${(100 * benchmark.shareOfRoof).toFixed(0)} % of its roof`;
    const bound = benchmark.bound === null ? "" : ` (${benchmark.bound}-bound)`;
    const check = benchmark.correct ? "outputs equal the reference" : "WRONG outputs";
    lines.push([
      "benchmark",
      `${benchmark.kernel}: ${check}, p50 ${benchmark.p50Ms.toFixed(3)} ms of ${benchmark.n}${rate}${share}${bound}`,
    ]);
  }
  if (inference !== null) {
    const verdict = inference.budgetMet ? "within" : "OVER";
    lines.push([
      "inference",
      `${inference.model} saw a ${inference.label} (it is a ${inference.expected}) in ${inference.totalMs.toFixed(1)} ms, ${verdict} its budget of ${inference.budgetMs} ms; predicted p99 ${inference.predictedP99Ms.toFixed(2)} ms`,
    ]);
  }
  lines.push(["history", `${history.points} points in ${history.series} series`]);
  lines.push(["took", `${(summary.elapsedMs / 1_000).toFixed(1)} s`], ["page", pageUrl]);
  return lines.map(([name, text]) => `  ${(name ?? "").padEnd(10)} ${text}`).join("\n");
}
