import { openGpuArchive } from "../../src/gpu-runner/rollout/gpu/gpu-archive.ts";
import { storageUsage } from "../../src/gpu-runner/rollout/gpu/rollout-program.ts";
import { RowMover } from "../../src/gpu-runner/rollout/gpu/row-mover.ts";
import type { Contender } from "../contest.ts";
import { openOwnGpu } from "../own-gpu.ts";
import { type ArchiveCase, gridOf, readCase, readOutput } from "./archive-case.ts";

/** Our archive on the adapter, with the population there; fitness and measures come from the host. */
export const contender: Contender<ArchiveCase> = async (input) => {
  const own = await openOwnGpu();
  const { genomes, offers } = await readCase(input);
  const { batch, parameters } = input;
  const part = { first: 0, count: batch };
  const weights = await own.pool.acquireSurely(4 * batch * parameters, storageUsage());
  await new RowMover(own, parameters).write(part, weights, 0, genomes);
  const held = { parameters, parts: [part], take: async () => weights };
  const archive = await openGpuArchive(own, held, gridOf(input));
  const empty = await archive.read();
  const play = async () => {
    await archive.write(empty);
    await own.device.queue.onSubmittedWorkDone();
    const startedMs = performance.now();
    for (const { fitness, measures } of offers) await archive.add(fitness, measures);
    await own.device.queue.onSubmittedWorkDone();
    return (performance.now() - startedMs) / 1e3;
  };
  await play();
  const { vendor, architecture, device } = own.gpu.adapter.info;
  return {
    opened: {
      output: await readOutput(input, archive),
      adapter: [vendor, architecture, device].filter(Boolean).join(" "),
    },
    measure: async () => ({ inserts: (batch * input.batches) / (await play()) }),
    close: async () => undefined,
  };
};
