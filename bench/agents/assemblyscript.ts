import type { KernelArray, KernelArrays, KernelShape } from "../../kernels/kernel-spec.ts";
import { createBatchEntry } from "../batch-entry.ts";
import { instantiateAssembly } from "../instantiate-assembly.ts";
import type { Contender } from "../contest.ts";
import { joinOutputs } from "../join-outputs.ts";
import { inputsOf } from "../kernel-at-shape.ts";
import type { StreamCase } from "../kernel-contest/kernel-case.ts";

/** A compiled source, whose functions take addresses in its memory and numbers. */
interface Program {
  readonly memory: WebAssembly.Memory;
  allocate(sizeBytes: number): number;
  readonly [work: string]: unknown;
}

/** Bytes by which reads and SIMD rows may exceed their array. */
const SLACK_BYTES = 256;
/** Rows of genes are padded to multiples of this. */
const GENE_GROUP = 16;

/** Memory and calls of a program for one kind of work. */
class Workshop {
  readonly #program: Program;

  constructor(program: Program) {
    this.#program = program;
  }

  /** Allocates this many numbers of four bytes. */
  room(length: number): number {
    return this.#program.allocate(4 * length + SLACK_BYTES);
  }

  /** Allocates and fills an array with these numbers. */
  put(values: KernelArray): number {
    const place = this.room(values.length);
    new Uint8Array(this.#program.memory.buffer, place).set(new Uint8Array(values.buffer));
    return place;
  }

  call(work: string, ...numbers: readonly number[]): number {
    return (this.#program[work] as (...numbers: readonly number[]) => number)(...numbers);
  }

  integers(place: number, length: number): Int32Array {
    return new Int32Array(this.#program.memory.buffer, place, length);
  }

  floats(place: number, length: number): Float32Array {
    return new Float32Array(this.#program.memory.buffer, place, length);
  }
}

/** Allocates its arrays once; a call does the work and returns the outputs in the order of the references. */
type Work = (
  workshop: Workshop,
  inputs: KernelArrays,
  shape: Readonly<Record<string, number>>,
) => () => readonly ArrayLike<number>[];

const tallyVotes: Work = (workshop, inputs, { ballots = 0, voters = 0, options = 0 }) => {
  const places = ["votes", "electorate", "percent"].map((name) => workshop.put(inputs[name]!));
  const masked = workshop.room(voters);
  const tally = workshop.room(ballots * options);
  const quorum = workshop.room(ballots);
  return () => {
    workshop.call("tallyVotes", ...places, masked, tally, quorum, ballots, voters, options);
    return [workshop.integers(tally, ballots * options), workshop.integers(quorum, ballots)];
  };
};

const findLeaders: Work = (workshop, inputs, { elections = 0, candidates = 0 }) => {
  const scores = workshop.put(inputs["scores"]!);
  const leader = workshop.room(elections);
  return () => {
    workshop.call("findLeaders", scores, leader, elections, candidates);
    return [workshop.integers(leader, elections)];
  };
};

const findConflicts: Work = (workshop, inputs, { sessions = 0, proposals = 0, rounds = 0, proposers = 0 }) => {
  const list = workshop.put(inputs["proposals"]!);
  const first = workshop.room(rounds + proposers);
  const ofRounds = workshop.room(sessions * rounds);
  const ofProposers = workshop.room(sessions * proposers);
  return () => {
    workshop.call("findConflicts", list, first, ofRounds, ofProposers, sessions, proposals, rounds, proposers);
    return [workshop.integers(ofRounds, sessions * rounds), workshop.integers(ofProposers, sessions * proposers)];
  };
};

const evolve: Work = (workshop, inputs, { members = 0, genes = 0, tournament = 0, elites = 0 }) => {
  const [rate = 0, sigma = 0, lowest = 0, highest = 0] = inputs["settings"]!;
  const fitness = (inputs["fitness"] as Float32Array<ArrayBuffer>).map((value) =>
    Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value,
  );
  const pitch = Math.ceil(genes / GENE_GROUP) * GENE_GROUP;
  const population = workshop.put(padRows(inputs["population"]!, genes, pitch));
  const places = [population, workshop.put(fitness), workshop.room(members), workshop.room(members)];
  const children = workshop.room(members * pitch);
  const settings = [Math.floor(rate * 2 ** 31), sigma, lowest, highest, ...inputs["key"]!];
  return () => {
    workshop.call("evolve", ...places, children, members, pitch, tournament, elites, ...settings);
    return [dropPadding(workshop.floats(children, members * pitch), genes, pitch)];
  };
};

const rankFronts: Work = (workshop, inputs, { populations = 0, members = 0, objectives = 0 }) => {
  const values = workshop.put(inputs["objectives"]!);
  const scratch = Array.from({ length: 4 }, () => workshop.room(members));
  const rank = workshop.room(populations * members);
  return () => {
    workshop.call("rankFronts", values, ...scratch, rank, populations, members, objectives);
    return [workshop.integers(rank, populations * members)];
  };
};

const measureCrowding: Work = (workshop, inputs, { populations = 0, members = 0, objectives = 0 }) => {
  const places = [workshop.put(inputs["objectives"]!), workshop.put(inputs["rank"]!)];
  const scratch = [workshop.room(members), workshop.room(members)];
  const distance = workshop.room(populations * members);
  return () => {
    workshop.call("measureCrowding", ...places, ...scratch, distance, populations, members, objectives);
    return [workshop.floats(distance, populations * members)];
  };
};

const measureDiversity: Work = (workshop, inputs, { members = 0, genes = 0 }) => {
  const pitch = Math.ceil(genes / GENE_GROUP) * GENE_GROUP;
  const population = workshop.put(padRows(inputs["population"]!, genes, pitch));
  const pairs = Math.max(1, (members * (members - 1)) / 2);
  return () => [[workshop.call("measureDiversity", population, members, pitch) / pairs]];
};

function padRows(values: KernelArray, length: number, pitch: number): Float32Array<ArrayBuffer> {
  const rows = values.length / length;
  const padded = new Float32Array(rows * pitch);
  for (let row = 0; row < rows; row++) padded.set(values.subarray(row * length, (row + 1) * length), row * pitch);
  return padded;
}

function dropPadding(padded: Float32Array, length: number, pitch: number): Float32Array {
  if (length === pitch) return padded;
  const rows = padded.length / pitch;
  const values = new Float32Array(rows * length);
  for (let row = 0; row < rows; row++) values.set(padded.subarray(row * pitch, row * pitch + length), row * length);
  return values;
}

const CONSENSUS = new URL("consensus.as", import.meta.url);
const EVOLUTION = new URL("evolution.as", import.meta.url);

const WORKS: Readonly<Record<string, readonly [source: URL, work: Work]>> = {
  "consensus-tally": [CONSENSUS, tallyVotes],
  "consensus-leader": [CONSENSUS, findLeaders],
  "consensus-conflicts": [CONSENSUS, findConflicts],
  "evolution-step": [EVOLUTION, evolve],
  "non-dominated-rank": [EVOLUTION, rankFronts],
  "crowding-distance": [EVOLUTION, measureCrowding],
  "pairwise-distance": [EVOLUTION, measureDiversity],
};

/** WebAssembly of AssemblyScript, one thread, with SIMD where it helps. */
export const contender: Contender<StreamCase> = async (input) => {
  const known = WORKS[input.kernel];
  if (known === undefined) throw new Error("nobody wrote it");
  const [source, work] = known;
  const program = await instantiateAssembly<Program>(source);
  const once = work(new Workshop(program), inputsOf(input), input.shape satisfies KernelShape);
  const run = async (count: number): Promise<Float32Array> => {
    for (let i = 1; i < count; i++) once();
    return joinOutputs(once());
  };
  return createBatchEntry(run, input.runs, { adapter: null });
};
