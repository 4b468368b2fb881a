import { countStateWords, type EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import { countParameters } from "../../../../kernels/rollout/policy-layout.ts";
import type { PolicyNetwork } from "../../../protocol/models/policy-network.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { BufferPool } from "../../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { assertWanted } from "../../devices/progress.ts";
import { compileRollout } from "../../environments/compose-rollout.ts";
import type { EpisodePlan, EpisodeResults, Population, RolloutWatch } from "../population.ts";
import { BreedPass } from "./breed-pass.ts";
import { DispatchPace, LaneSearch } from "./dispatch-tuning.ts";
import { ENGINE_LANES, EpisodeEngine, OUTCOME_WORDS, sizeSlot, type WaveResults } from "./episode-engine.ts";
import { openGpuArchive } from "./gpu-archive.ts";
import { type MemberPart, planPopulation, type PopulationPlan, type Room } from "./member-parts.ts";
import { NoisePass } from "./noise-pass.ts";
import { RolloutProgram } from "./rollout-program.ts";
import { RowMover } from "./row-mover.ts";
import { WeightShelf } from "./weight-shelf.ts";

/** Binding of the states in rollout.wgsl, among those of `begin`. */
const STATES = 2;
const BINDINGS = [0, STATES, 3, 4, 5, 6];
/** More than any of the other bindings needs. */
const OTHER_BYTES = 256;

/**
 * Throws `kernel-invalid` where a `State` is larger than the announced words. A device knows the size, and refuses to
 * bind a buffer that is too small for one.
 */
async function assertStateSize(device: GPUDevice, begin: GPUComputePipeline, words: number): Promise<void> {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM;
  const state = device.createBuffer({ size: 4 * words, usage });
  const other = device.createBuffer({ size: OTHER_BYTES, usage });
  const entries = BINDINGS.map((binding) => ({ binding, resource: { buffer: binding === STATES ? state : other } }));
  try {
    await withErrorScopes(device, () => device.createBindGroup({ layout: begin.getBindGroupLayout(0), entries }));
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== "kernel-invalid") throw error;
    throw new ProblemError("kernel-invalid", `\`State\` takes more than the ${words} words that \`stateWords\` says`);
  } finally {
    for (const buffer of [state, other]) buffer.destroy();
  }
}

/** Reserve for rows in transfer, results during readback, and the driver. */
const SPARE_BYTES = 2 ** 26;

export interface GpuPopulationRequest {
  readonly environment: EnvironmentSpec;
  readonly network: PolicyNetwork;
  readonly members: number;
  /** Dispatch settings; determined here where absent. They do not affect results. */
  readonly settings?: { readonly lanes?: number; readonly steps?: number; readonly room?: Partial<Room> };
}

/**
 * Population on a GPU; see `Population`. Fails with `kernel-invalid` for faulty WGSL of the environment, and with
 * `out-of-memory` where not even a part fits, or the host has no room for the others.
 */
export async function openGpuPopulation(
  place: { readonly device: GPUDevice; readonly pool: BufferPool },
  { environment, network, members, settings = {} }: GpuPopulationRequest,
): Promise<Population> {
  const { device } = place;
  const parameters = countParameters(network, environment);
  const program = new RolloutProgram(device, () => compileRollout(device, environment, network));
  const search = new LaneSearch();
  // Reports compile errors before anything is written.
  await program.pipeline("play", settings.lanes ?? search.lanes);
  await assertStateSize(device, await program.pipeline("begin", ENGINE_LANES), countStateWords(environment));
  const room = { ...readRoom(place), ...settings.room };
  const { plan, shelf } = await openShelf(place, members, parameters, environment, room);
  const engine = new EpisodeEngine(place, program, environment, parameters);
  const mover = new RowMover(place, parameters);
  const noise = new NoisePass(place);
  const breeder = new BreedPass(place);
  const pace = new DispatchPace(settings.steps);

  /** Calls back for each part that has some of these rows. */
  async function visitRows(
    first: number,
    rows: Float32Array<ArrayBuffer>,
    visit: (part: MemberPart, weights: GPUBuffer, first: number, rows: Float32Array<ArrayBuffer>) => Promise<void>,
  ): Promise<void> {
    const end = first + rows.length / parameters;
    for (const [index, part] of shelf.parts.entries()) {
      const from = Math.max(first, part.first);
      const to = Math.min(end, part.first + part.count);
      if (from >= to) continue;
      const some = rows.subarray((from - first) * parameters, (to - first) * parameters);
      await visit(part, await shelf.take(index), from - part.first, some);
    }
  }

  async function evaluate(
    { episodes, firstEpisode, firstMember = 0, ...key }: EpisodePlan,
    { signal, onProgress }: RolloutWatch = {},
  ): Promise<EpisodeResults> {
    const results = createResults(members, episodes, environment.measures);
    const total = members * episodes * environment.stepLimit;
    let waves = 0;
    let done = 0;
    for (const [index, part] of shelf.parts.entries()) {
      const weights = await shelf.take(index);
      const atOnce = Math.max(1, Math.floor(plan.waveSlots / part.count));
      for (let from = 0; from < Math.max(1, episodes); from += atOnce) {
        if (signal !== undefined) assertWanted(signal);
        const some = Math.min(atOnce, episodes - from);
        const share = part.count * some * environment.stepLimit;
        const first = firstMember + part.first;
        const wave = { ...part, first, weights, firstEpisode: firstEpisode + from, episodes: some };
        const report = (played: number) => onProgress?.(Math.round(done + played * share), total);
        const lanes = settings.lanes ?? search.lanes;
        await program.pipeline("play", lanes);
        const startedMs = performance.now();
        const played = await engine.play(wave, key, lanes, pace, { signal, onProgress: report });
        const steps = collect(results, played, part, { from, some, episodes });
        if (settings.lanes === undefined) search.note(lanes, steps, performance.now() - startedMs);
        done += share;
        waves++;
        onProgress?.(done, total);
      }
    }
    return { ...results, waves };
  }

  return {
    backend: "wgsl",
    members,
    parameters,
    write: (first, rows) => visitRows(first, rows, (...part) => mover.write(...part)),
    async read(first, count) {
      const rows = new Float32Array(count * parameters);
      await visitRows(first, rows, (...part) => mover.read(...part));
      return rows;
    },
    async perturb(request) {
      for (const [index, part] of shelf.parts.entries()) await noise.perturb(part, await shelf.take(index), request);
    },
    async recombine(request) {
      const { sums, squares } = await noise.recombine(request, parameters);
      return { sums, squares: request.squares ? squares : null };
    },
    openArchive: (grid) =>
      openGpuArchive(place, { parameters, parts: shelf.parts, take: (index) => shelf.take(index) }, grid),
    breed: async (breeding) => shelf.replace(await breeder.breed(shelf.takeAll(), breeding, parameters)),
    evaluate,
    release: async () => shelf.release(),
  };
}

function readRoom({ device, pool }: { readonly device: GPUDevice; readonly pool: BufferPool }): Room {
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits;
  return {
    bindingBytes: Math.min(maxStorageBufferBindingSize, maxBufferSize),
    totalBytes: Math.max(SPARE_BYTES, pool.capBytes - pool.counters.liveBytes - SPARE_BYTES),
    hostBytes: process.availableMemory() / 2,
  };
}

/** Opens the shelf for a population, with less room than planned where the driver does not have it. */
async function openShelf(
  place: { readonly device: GPUDevice; readonly pool: BufferPool },
  members: number,
  parameters: number,
  environment: EnvironmentSpec,
  room: Room,
): Promise<{ readonly plan: PopulationPlan; readonly shelf: WeightShelf }> {
  const plan = planPopulation(members, parameters, sizeSlot(environment), room);
  try {
    return { plan, shelf: await WeightShelf.open(place, plan, parameters) };
  } catch (error) {
    const weightBytes = 4 * parameters * members;
    const isTooLarge = error instanceof ProblemError && error.problem.code === "out-of-memory";
    if (!isTooLarge || (!plan.resident && plan.parts[0]!.count <= 2)) throw error;
    const totalBytes = Math.min(room.totalBytes, 2 * weightBytes) / 2;
    return openShelf(place, members, parameters, environment, { ...room, totalBytes });
  }
}

type Collected = Omit<EpisodeResults, "waves">;

function createResults(members: number, episodes: number, measures: number): Collected {
  const slots = members * episodes;
  return {
    returns: new Float32Array(slots),
    lengths: new Uint32Array(slots),
    causes: new Uint8Array(slots),
    measures: new Float32Array(slots * measures),
    unsound: new Uint8Array(members),
  };
}

/** Reorders a wave's results from episode-major to member-major; returns its steps. */
function collect(
  { returns, lengths, causes, measures, unsound }: Collected,
  wave: WaveResults,
  { first, count }: MemberPart,
  { from, some, episodes }: { readonly from: number; readonly some: number; readonly episodes: number },
): number {
  const floats = new Float32Array(wave.outcomes);
  const integers = new Uint32Array(wave.outcomes);
  const width = measures.length / Math.max(1, returns.length);
  let steps = 0;
  for (let member = 0; member < count; member++) {
    unsound[first + member] = wave.unsound[member]!;
    for (let episode = 0; episode < some; episode++) {
      const slot = episode * count + member;
      const to = (first + member) * episodes + from + episode;
      returns[to] = floats[OUTCOME_WORDS * slot]!;
      lengths[to] = integers[OUTCOME_WORDS * slot + 1]!;
      steps += lengths[to];
      causes[to] = integers[OUTCOME_WORDS * slot + 2]!;
      for (let index = 0; index < width; index++) {
        measures[to * width + index] = wave.behaviours[slot * width + index]!;
      }
    }
  }
  return steps;
}
