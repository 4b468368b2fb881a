import * as fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { ZodError } from "zod";
import { readHeader } from "../../../src/edge/kinds/evaluation/receive-population.ts";
import { decodePng } from "../../../src/cli/infer/decode-png.ts";
import { decodeWav } from "../../../src/cli/infer/decode-wav.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../../../src/gpu-runner/training/checkpoint-file.ts";
import { NEW_TRAINING } from "../../../src/gpu-runner/training/train-policy.ts";
import { decodeArchive, encodeArchive } from "../../../src/protocol/policies/archive-file.ts";
import {
  createEpisodesFile,
  EPISODE_BYTES,
  EPISODES_OFFSET,
  readEpisode,
  writeEpisode,
} from "../../../src/protocol/jobs/evaluation/episodes-file.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import { readReplay, REPLAY_FIELDS, writeReplay } from "../../../src/protocol/jobs/evaluation/replay-file.ts";
import { POPULATION_FILES } from "../../edge/stack/population-files.ts";
import { encodePng } from "../../unit/cli/encode-png.ts";
import { wrapWav } from "../../unit/cli/wrap-wav.ts";
import { type CodecTarget, hold, orRefused } from "./codec-target.ts";
import { damaged } from "./inputs.ts";

const populations = fc.constantFrom(
  ...Object.values(POPULATION_FILES).map((text): Uint8Array => new Uint8Array(Buffer.from(text, "base64"))),
);

function checkPopulation(input: Uint8Array): void {
  const read = readHeader(input);
  if (read.state !== "read") return;
  const { members, parameters, tensors } = read.layout;
  hold(tensors.reduce((sum, { width }) => sum + width, 0) === parameters, "tensors have a member's numbers");
  hold(members >= 0 && parameters >= 0, "there are no fewer members than none");
}

const replay = writeReplay(
  [...REPLAY_FIELDS, { name: "state.at", type: "<f4", count: 3 }, { name: "cells", type: "<u2", count: 2 }],
  [
    [1, 70_000, 2, 0, 0, 0, 0.5, -0.25, 8, 65_535, 0],
    [1, 70_000, 2, 1, -1.5, 3, 0, 0.125, 7, 1, 512],
  ],
);

/** Checks that reading returns what was written, and accepts nothing else. */
function checkReplay(input: Uint8Array): void {
  const read = orRefused(() => readReplay(input), TypeError);
  if (read === undefined) return;
  hold(
    isDeepStrictEqual(readReplay(writeReplay(read.fields, read.records)), read),
    "a replay is kept when it is written",
  );
  hold(writeReplay(read.fields, read.records).length === input.length, "a replay has no unread bytes");
}

const archives = fc
  .tuple(fc.nat(4), fc.constantFrom("float32" as const, "float16" as const, "int8" as const))
  .map(([filled, format]): Uint8Array => {
    const about = { environment: "arm", network: null, parameters: 3, dims: [2, 2], offset: 0, prunedFrom: null };
    const ranges = [0, 1].map(() => ({ low: 0, high: 1 }));
    const floats = (count: number) => Float32Array.from({ length: count }, (_, at) => at / 7);
    const elites = {
      cells: Uint32Array.from({ length: filled }, (_, at) => at),
      fitness: floats(filled),
      measures: floats(2 * filled),
      thresholds: floats(filled),
      genomes: floats(3 * filled),
    };
    return encodeArchive({ ...about, ranges }, elites, format).bytes;
  });

function checkArchiveFile(input: Uint8Array): void {
  const copy = input.slice();
  const read = orRefused(() => decodeArchive(copy), RangeError, SyntaxError, TypeError, ZodError);
  if (read === undefined) return;
  const { summary, cells, fitness, measures, thresholds, genomes } = read;
  const rows = [cells.length, fitness.length, thresholds.length, measures.length / summary.dims.length];
  hold(
    rows.every((count) => count === summary.filled),
    "an archive has the elites that it says",
  );
  hold(genomes.length === summary.filled * summary.parameters, "an archive has the genomes that it says");
}

const checkpoint = encodeCheckpoint({
  environmentDigest: null,
  state: { ...NEW_TRAINING, generations: 3, best: { generation: 2, mean: 5, policy: Float32Array.of(1, 2) } },
  strategy: { mean: Float64Array.of(0.5, 1), order: Uint32Array.of(3, 4), sigma: Float32Array.of(1) },
});

function checkCheckpoint(input: Uint8Array): void {
  const read = orRefused(() => decodeCheckpoint(input), RangeError, SyntaxError, TypeError, ZodError);
  if (read !== undefined)
    hold(isDeepStrictEqual(decodeCheckpoint(encodeCheckpoint(read)), read), "a checkpoint is kept");
}

function checkEpisode(input: Uint8Array): void {
  if (input.length < EPISODE_BYTES) return;
  const view = new DataView(input.buffer, input.byteOffset);
  const episode = readEpisode(view, 0);
  const cause = view.getUint8(18) & 7;
  const file = new DataView(createEpisodesFile(1).buffer);
  writeEpisode(file, 0, { ...episode, return: episode.return ?? Number.NaN, cause });
  hold(isDeepStrictEqual(readEpisode(file, EPISODES_OFFSET), episode), "an episode is kept");
}

const pictures = fc
  .record({
    width: fc.integer({ min: 1, max: 5 }),
    height: fc.integer({ min: 1, max: 6 }),
    channels: fc.constantFrom(1, 2, 3, 4),
  })
  .map(({ width, height, channels }): Uint8Array => {
    const pixels = Uint8Array.from({ length: width * height * channels }, (_, at) => (37 * at) % 256);
    return new Uint8Array(encodePng({ width, height, channels, pixels }));
  });

function checkPicture(input: Uint8Array): void {
  const picture = orRefused(() => decodePng(input), ProblemError);
  if (picture === undefined) return;
  const { width, height, channels, pixels } = picture;
  hold(pixels.length === width * height * channels, "a picture has its pixels");
}

const sounds = fc.constantFrom(
  ...[
    wrapWav(1, 16, 2, Buffer.alloc(16, 1)),
    wrapWav(3, 32, 1, Buffer.alloc(16)),
    wrapWav(0xfffe, 24, 1, Buffer.alloc(9), { guid: 1 }),
  ].map((bytes) => new Uint8Array(bytes)),
);

/** Files that people and runners hand over. */
export const FILE_TARGETS: readonly CodecTarget[] = [
  { name: "population", weight: 6, inputs: damaged(populations), check: checkPopulation },
  { name: "replay", weight: 6, inputs: damaged(fc.constant(replay)), check: checkReplay },
  { name: "archive", weight: 5, inputs: damaged(archives), check: checkArchiveFile },
  { name: "checkpoint", weight: 3, inputs: damaged(fc.constant(checkpoint)), check: checkCheckpoint },
  { name: "episodes", weight: 2, inputs: fc.uint8Array({ maxLength: 40 }), check: checkEpisode },
  { name: "png", weight: 4, inputs: damaged(pictures), check: checkPicture },
  {
    name: "wav",
    weight: 3,
    inputs: damaged(sounds),
    check: (input) => void orRefused(() => decodeWav(input), ProblemError),
  },
];
