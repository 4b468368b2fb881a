import type { Job } from "../../protocol/job.ts";
import type { JobNames } from "../job-names.ts";
import type { PageAddress } from "../page-address.ts";

/** Where the page shows a result in depth. */
export interface ResultLink {
  readonly text: string;
  readonly address: PageAddress;
}

/** Where else a job's result is shown; nothing of one that has none. */
export function listResultLinks(
  { id, spec, runId, runnerId, result }: Pick<Job, "id" | "spec" | "runId" | "runnerId" | "result">,
  names: JobNames,
): ResultLink[] {
  const run = runId ?? undefined;
  if (result === null || run === undefined) return [];
  switch (spec.kind) {
    case "benchmark":
    case "throughput":
    case "tuning":
      return [{ text: `The kernel ${spec.kernel}`, address: { view: "kernels", kernel: spec.kernel } }];
    case "validation":
      return [{ text: "Verdicts and scenarios", address: { view: "validation", run } }];
    case "optimisation":
      return [{ text: "Trials and the best configuration", address: { view: "validation", run } }];
    case "evaluation":
      return [{ text: "Returns and episodes", address: { view: "evaluations", run } }];
    case "training":
      return [
        { text: "Learning curve in depth", address: { view: "evaluations", job: id } },
        ...(spec.publish === undefined ? [] : [linkModel(spec.publish.model)]),
        ...(result.kind === "training" && result.qualityDiversity !== null
          ? [{ text: "Archives of elites", address: { view: "archives" } as const }]
          : []),
      ];
    case "compression":
      return [linkModel(spec.model)];
    case "calibration": {
      const model = names.models.get(spec.modelVersionId)?.split("@")[0];
      return model === undefined ? [] : [linkModel(model)];
    }
    case "probe":
      return runnerId === null ? [] : [{ text: "The runner", address: { view: "runners", runner: runnerId } }];
    case "evolution":
    case "consensus":
      return [];
  }
}

function linkModel(model: string): ResultLink {
  return { text: `The model ${model}`, address: { view: "models", model } };
}
