import type { KernelSpec } from "../../../kernels/kernel-spec.ts";
import type { UsedPipeline } from "../process/messages.ts";
import type { PipelineCache } from "./pipeline-cache.ts";

/** Compiles pipelines that an earlier life of this device used; what does not compile any more is left to whoever asks for it. */
export async function warmPipelines(
  cache: PipelineCache,
  kernels: ReadonlyMap<string, KernelSpec>,
  pipelines: readonly UsedPipeline[],
): Promise<null> {
  for (const { kernel, variant, constants } of pipelines) {
    const spec = kernels.get(kernel);
    const structure = spec?.variants.find(({ name }) => name === variant);
    if (spec !== undefined && structure !== undefined) await cache.compile(spec, structure, constants).catch(() => {});
  }
  return null;
}
