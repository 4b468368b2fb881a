import { readFile } from "node:fs/promises";
import { ROLLOUT_FOLDER } from "../../../../kernels/rollout/write-prelude.ts";
import { compileModule } from "../../devices/gpu/kernel-loader.ts";
import { RolloutProgram } from "./rollout-program.ts";

const ARCHIVE_FOLDER = new URL("../archive/", ROLLOUT_FOLDER);

/** Programs of archives on a device: judging batches, copying genomes, and emitting members. */
interface ArchivePrograms {
  readonly insert: RolloutProgram;
  readonly keep: RolloutProgram;
  readonly emit: RolloutProgram;
}

const known = new WeakMap<GPUDevice, ArchivePrograms>();

/** Programs of a device, shared by its archives: compilation takes longer than most of their work. */
export function archivePrograms(device: GPUDevice): ArchivePrograms {
  const programs = known.get(device) ?? openPrograms(device);
  known.set(device, programs);
  return programs;
}

function openPrograms(device: GPUDevice): ArchivePrograms {
  const shared = ["philox.wgsl", "arithmetic.wgsl", "normal.wgsl", "noise.wgsl"];
  const program = (...sources: [URL, string[]][]) => new RolloutProgram(device, () => compile(device, ...sources));
  return {
    insert: program([ARCHIVE_FOLDER, ["order.wgsl", "insert.wgsl"]]),
    keep: program([ARCHIVE_FOLDER, ["keep.wgsl"]]),
    emit: program([ROLLOUT_FOLDER, shared], [ARCHIVE_FOLDER, ["emit.wgsl"]]),
  };
}

async function compile(device: GPUDevice, ...sources: [URL, string[]][]): Promise<GPUShaderModule> {
  const files = sources.flatMap(([folder, names]) => names.map((name) => new URL(name, folder)));
  const parts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return compileModule(device, `archive/${sources.at(-1)![1].at(-1)}`, parts.join("\n"));
}
