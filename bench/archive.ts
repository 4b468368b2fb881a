import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import { type ArchiveCase, checkArchive, writeCase } from "./archive/archive-case.ts";
import type { GenerationCase } from "./archive/generation.ts";
import { installPyribs, pyribs } from "./archive/pyribs.ts";
import type { Bench } from "./benches.ts";
import { type Contender, runContest } from "./contest.ts";
import { openAdapter } from "./open-adapter.ts";
import { inProcess } from "./process-contender.ts";

const GRID = { dims: [100, 100], parameters: 32 };
/** Batches of a round: both sizes have the same number of members in total. */
const BATCHES = [
  { batch: 1_024, batches: 256 },
  { batch: 65_536, batches: 4 },
] as const;
const OURS = {
  wgsl: new URL("./archive/wgsl.ts", import.meta.url),
  "typed-arrays": new URL("./archive/typed-arrays.ts", import.meta.url),
};

/** Trainings whose archive share is measured. */
const GENERATIONS: readonly { readonly name: string; readonly input: GenerationCase }[] = [
  {
    name: "generation arm 1024",
    input: { environment: "arm", network: { kind: "direct" }, members: 1_024, episodes: 1, generations: 10 },
  },
  {
    name: "generation cartpole 4-32-2 1024 × 4",
    input: {
      environment: "cartpole",
      network: { kind: "mlp", hidden: [32], activation: "tanh", outputActivation: "none" },
      members: 1_024,
      episodes: 4,
      generations: 5,
    },
  },
];

/** Inserts into an archive on the adapter and in typed arrays, against pyribs; the archive's share of a generation. */
export const benchArchive: Bench = async function* benchArchive(context) {
  const { device, environment } = await openAdapter();
  const cpu = { name: cpus()[0]?.model.trim() ?? "unknown", software: false };
  const missing = await installPyribs(context.say).then(() => null, refuse);
  const folder = await mkdtemp(path.join(tmpdir(), "archive-"));
  try {
    for (const size of BATCHES) {
      const dataFile = path.join(folder, `${size.batch}.f32`);
      await writeFile(dataFile, writeCase({ ...GRID, ...size }));
      for (const [backend, module] of Object.entries(OURS)) {
        yield* runContest<ArchiveCase>(
          {
            metrics: { inserts: { unit: "1/s", better: "higher" } },
            cases: [{ name: `${backend} batch ${size.batch}`, input: { ...GRID, ...size, dataFile } }],
            device: backend === "wgsl" ? device : cpu,
            ours: inProcess(module, environment),
            peers: { pyribs: missing ?? pyribs },
            check: checkArchive,
          },
          context,
        );
      }
      await rm(dataFile);
    }
    yield* runContest<GenerationCase>(
      {
        metrics: {
          share: { unit: "share", better: "lower", oursOnly: true },
          generation: { unit: "ms", better: "lower", oursOnly: true },
        },
        cases: GENERATIONS,
        device,
        ours: inProcess(new URL("./archive/generation.ts", import.meta.url), environment),
        peers: {},
        check: (_, output) => {
          if (output.length === 0 || !output.every((right) => right === 1))
            throw new Error("an elite is in another cell");
        },
      },
      context,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** A contender that is not available, with the reason. */
function refuse(error: unknown): Contender<ArchiveCase> {
  return async () => {
    throw error;
  };
}
