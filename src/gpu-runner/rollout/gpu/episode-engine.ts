import { countStateWords, type EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import { MAX_GROUPS } from "../../../../kernels/webgpu-limits.ts";
import { assertWanted } from "../../devices/progress.ts";
import type { BufferPool } from "../../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { readBuffer, readStaging } from "../../devices/gpu/readback.ts";
import { addDispatch, type RolloutProgram, storageUsage, uniformUsage } from "./rollout-program.ts";
import type { DispatchPace } from "./dispatch-tuning.ts";
import type { MemberPart } from "./member-parts.ts";
import type { EpisodePlan } from "../population.ts";

/** Lanes of all entry points except `play`. */
export const ENGINE_LANES = 64;
/** Dispatches in flight: while the host reads one's result, the device runs the next. */
const DEPTH = 2;
/** Layout of rollout.wgsl: bytes of `Groups`, its word that counts episodes, and the offset of the steps in `Plan`. */
const GROUPS_BYTES = 16;
const PLAYING = 3;
const STEPS_AT = 28;
/** Words of an outcome: return, length, cause. */
export const OUTCOME_WORDS = 3;

/** Episodes that are played together. */
export interface Wave extends MemberPart {
  readonly weights: GPUBuffer;
  readonly firstEpisode: number;
  readonly episodes: number;
}

/** Observation of a wave: `onProgress` receives the share of its steps that are taken or saved. */
export interface WaveWatch {
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (share: number) => void;
}

/** Results of a wave in the device's order: episode by episode, each with all members. */
export interface WaveResults {
  readonly outcomes: ArrayBuffer;
  readonly behaviours: Float32Array;
  /** Flag of each member; see `EpisodeResults.unsound`. */
  readonly unsound: Uint32Array;
}

/** Bytes of an episode in the buffer of each kind, and on both lists. */
export function sizeSlot(environment: EnvironmentSpec): { readonly largestBytes: number; readonly totalBytes: number } {
  const sizes = [4 * countStateWords(environment), 4 * OUTCOME_WORDS, 8, 4 * environment.measures];
  return { largestBytes: Math.max(...sizes), totalBytes: sizes.reduce((sum, size) => sum + size, 0) };
}

interface WaveBuffers {
  readonly plan: GPUBuffer;
  readonly states: GPUBuffer;
  readonly outcomes: GPUBuffer;
  readonly slots: GPUBuffer;
  readonly lists: GPUBuffer;
  readonly unsound: GPUBuffer;
  readonly groups: GPUBuffer;
  readonly behaviours: GPUBuffer | null;
}

/** Plays episodes on a device; see rollout.wgsl. */
export class EpisodeEngine {
  readonly #device: GPUDevice;
  readonly #pool: BufferPool;
  readonly #program: RolloutProgram;
  readonly #environment: EnvironmentSpec;
  readonly #parameters: number;

  constructor(
    { device, pool }: { readonly device: GPUDevice; readonly pool: BufferPool },
    program: RolloutProgram,
    environment: EnvironmentSpec,
    parameters: number,
  ) {
    this.#device = device;
    this.#pool = pool;
    this.#program = program;
    this.#environment = environment;
    this.#parameters = parameters;
  }

  /** Plays a wave to its end, with workgroups of this many lanes. Fails with `out-of-memory` where it is too large. */
  async play(
    wave: Wave,
    plan: Pick<EpisodePlan, "seed" | "commonRandom">,
    lanes: number,
    pace: DispatchPace,
    watch: WaveWatch,
  ): Promise<WaveResults> {
    const kept: GPUBuffer[] = [];
    try {
      const buffers = await this.#acquire(wave, kept);
      return await withErrorScopes(this.#device, async () => {
        await this.#begin(wave, plan, lanes, buffers);
        if (wave.episodes > 0) await this.#playOn(wave, lanes, buffers, pace, watch);
        return this.#read(wave, buffers);
      });
    } finally {
      for (const buffer of kept) this.#pool.release(buffer);
    }
  }

  async #acquire({ count, episodes }: Wave, kept: GPUBuffer[]): Promise<WaveBuffers> {
    const acquire = async (bytes: number, usage = storageUsage()) => {
      const buffer = await this.#pool.acquireSurely(Math.max(16, bytes), usage);
      kept.push(buffer);
      return buffer;
    };
    const slots = count * episodes;
    const { measures } = this.#environment;
    return {
      plan: await acquire(48, uniformUsage()),
      states: await acquire(4 * countStateWords(this.#environment) * slots),
      outcomes: await acquire(4 * OUTCOME_WORDS * slots),
      slots: await acquire(8 * slots),
      lists: await acquire(16),
      unsound: await acquire(4 * count),
      groups: await acquire(GROUPS_BYTES, storageUsage() | GPUBufferUsage.INDIRECT),
      behaviours: measures === 0 ? null : await acquire(4 * measures * slots),
    };
  }

  /** Checks the weights, resets the environments and lists the episodes to play. */
  async #begin(
    { first, count, weights, firstEpisode, episodes }: Wave,
    { seed, commonRandom }: Pick<EpisodePlan, "seed" | "commonRandom">,
    lanes: number,
    { plan, states, outcomes, slots, lists, unsound, groups, behaviours }: WaveBuffers,
  ): Promise<void> {
    const [check, begin, takeTurns] = await Promise.all([
      this.#program.pipeline("check_weights", ENGINE_LANES),
      this.#program.pipeline("begin", ENGINE_LANES),
      this.#program.pipeline("take_turns", null),
    ]);
    const { stepLimit } = this.#environment;
    const words = [
      count,
      first,
      this.#parameters,
      episodes,
      firstEpisode,
      seed,
      stepLimit,
      0,
      commonRandom ? 1 : 0,
      lanes,
    ];
    const { queue } = this.#device;
    queue.writeBuffer(plan, 0, Uint32Array.from(words));
    // Both lists are empty, and the first one is written first.
    queue.writeBuffer(lists, 0, Uint32Array.of(0, 0, 1));
    const encoder = this.#device.createCommandEncoder();
    if (behaviours !== null) encoder.clearBuffer(behaviours);
    const pass = encoder.beginComputePass();
    const add = (pipeline: GPUComputePipeline, buffers: (GPUBuffer | null)[], invocations: number) =>
      addDispatch(this.#device, pass, pipeline, buffers, layOut(invocations));
    add(check, [plan, weights, null, null, null, null, unsound], count);
    if (episodes > 0) {
      add(begin, [plan, null, states, outcomes, slots, lists, unsound], count * episodes);
      add(takeTurns, [plan, null, null, null, null, lists, null, groups], 1);
    }
    pass.end();
    queue.submit([encoder.finish()]);
  }

  /** Dispatches steps until no episode is in play, and reads the number in play after each. */
  async #playOn(
    wave: Wave,
    lanes: number,
    buffers: WaveBuffers,
    pace: DispatchPace,
    { signal, onProgress }: WaveWatch,
  ): Promise<void> {
    const [play, takeTurns] = await Promise.all([
      this.#program.pipeline("play", lanes),
      this.#program.pipeline("take_turns", null),
    ]);
    const { stepLimit } = this.#environment;
    const all = wave.count * wave.episodes;
    const flight: { readonly steps: number; readonly taken: number; readonly left: Promise<number> }[] = [];
    let playing = all;
    let lastAtMs = performance.now();
    try {
      for (let taken = 0; taken < stepLimit && playing > 0;) {
        if (signal !== undefined) assertWanted(signal);
        const steps = pace.stepsFor(playing, taken);
        taken += steps;
        const left = this.#submit(play, takeTurns, wave.weights, buffers, steps);
        // The waiting caller sees the failure; until then the rejection must count as handled.
        left.catch(() => {});
        flight.push({ steps, taken, left });
        if (flight.length < DEPTH) continue;
        const done = flight.shift()!;
        const stillPlaying = await done.left;
        const nowMs = performance.now();
        pace.note(done.steps, playing, nowMs - lastAtMs);
        lastAtMs = nowMs;
        playing = stillPlaying;
        onProgress(1 - (playing / all) * Math.max(0, 1 - done.taken / stepLimit));
      }
    } finally {
      await Promise.allSettled(flight.map(({ left }) => left));
    }
  }

  /** Dispatches this many steps; returns the number of episodes in play afterwards. */
  async #submit(
    play: GPUComputePipeline,
    takeTurns: GPUComputePipeline,
    weights: GPUBuffer,
    { plan, states, outcomes, slots, lists, groups, behaviours }: WaveBuffers,
    steps: number,
  ): Promise<number> {
    this.#device.queue.writeBuffer(plan, STEPS_AT, Uint32Array.of(steps));
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    const staging = this.#pool.acquire(GROUPS_BYTES, usage, "overwritten");
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    const bound = [plan, weights, states, outcomes, slots, lists, null, null, behaviours];
    addDispatch(this.#device, pass, play, bound, groups);
    addDispatch(this.#device, pass, takeTurns, [plan, null, null, null, null, lists, null, groups], [1, 1]);
    pass.end();
    encoder.copyBufferToBuffer(groups, 0, staging, 0, GROUPS_BYTES);
    this.#device.queue.submit([encoder.finish()]);
    try {
      const words = new Uint32Array(await readStaging(staging, GROUPS_BYTES, 0));
      this.#pool.release(staging);
      return words[PLAYING]!;
    } catch (error) {
      this.#pool.discard(staging);
      throw error;
    }
  }

  async #read({ count, episodes }: Wave, { outcomes, unsound, behaviours }: WaveBuffers): Promise<WaveResults> {
    const read = (buffer: GPUBuffer, bytes: number) => readBuffer(this.#device, this.#pool, buffer, bytes);
    const slots = count * episodes;
    const behaviourBytes = 4 * this.#environment.measures * slots;
    return {
      outcomes: slots === 0 ? new ArrayBuffer(0) : await read(outcomes, 4 * OUTCOME_WORDS * slots),
      behaviours: new Float32Array(
        behaviours === null || slots === 0 ? new ArrayBuffer(0) : await read(behaviours, behaviourBytes),
      ),
      unsound: new Uint32Array(await read(unsound, 4 * count)),
    };
  }
}

/** Workgroups for this many invocations. */
function layOut(invocations: number): [number, number] {
  const groups = Math.ceil(invocations / ENGINE_LANES);
  const rows = Math.ceil(groups / MAX_GROUPS);
  return [Math.ceil(groups / rows), rows];
}
