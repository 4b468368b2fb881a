import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { readConfig } from "../../src/gpu-runner/config.ts";
import { DeviceFleet } from "../../src/gpu-runner/serving/device-fleet.ts";
import { ModelLoader } from "../../src/gpu-runner/serving/model-loader.ts";
import type { WorkloadContext } from "../../src/gpu-runner/kinds/kind.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import type { PlacedModel } from "../../src/protocol/link.ts";
import type { OptimisedModel } from "./optimised-models.ts";

/** A runner's parts for the model: its devices as it starts them, and a loader of its files. */
export interface OpenModel {
  readonly model: PlacedModel;
  readonly context: Pick<WorkloadContext, "fleet" | "models" | "residency" | "signal">;
  close(): Promise<void>;
}

/** Starts the devices of this machine like a runner, and registers a model in all its variants. */
export async function openModel({ variants, inputs, outputs }: OptimisedModel): Promise<OpenModel> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-optimise-"));
  const logger = pino({ level: "silent" });
  const fleet = await DeviceFleet.start(readConfig({ MILLRACE_RUNNER_DIR: folder }), logger);
  const read = async (digest: string) => variants.get(digest)!;
  const models = new ModelLoader({ keep: () => {}, read }, logger);
  const model: PlacedModel = {
    modelVersionId: createId("modelVersion"),
    // The loader only passes the digest on to the reader.
    variants: [...variants.keys()].map((name) => ({ name, digest: name })),
    inputs,
    outputs,
  };
  return {
    model,
    context: {
      fleet,
      models,
      // Only files are read.
      residency: { read } as unknown as WorkloadContext["residency"],
      signal: new AbortController().signal,
    },
    async close() {
      await fleet.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
