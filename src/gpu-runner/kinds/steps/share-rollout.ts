import type { DeviceShare } from "../../../protocol/jobs/job-fields.ts";
import type { EvaluationSpec } from "../../../protocol/jobs/evaluation/evaluation.ts";
import type { Fault } from "../../../protocol/wire/fault.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { deathIn } from "../../environments/environment-source.ts";
import { mergeShares, type RolloutShare } from "../../rollout/merge-shares.ts";
import type { RollOutOutcome, RollOutRequest } from "../../rollout/roll-out.ts";
import type { DeviceFleet, FleetDevice } from "../../serving/device-fleet.ts";
import { shareWork } from "../../serving/share-work.ts";
import type { WorkOptions } from "../../device-host/device-host.ts";
import type { WorkloadContext } from "../kind.ts";
import { describeCard } from "./describe-run.ts";

/** GPUs that a job names to share it. Fails with `backend-failed` where this runner lacks one. */
export function findSharers(
  fleet: Pick<DeviceFleet, "all">,
  devices: NonNullable<EvaluationSpec["devices"]>,
): FleetDevice[] {
  const gpus = fleet.all().filter(({ host }) => host.device.backends.includes("wgsl"));
  const keys = gpus.map(({ host }) => host.device.key);
  const missing = devices === "all" ? [] : devices.filter((key) => !keys.includes(key));
  if (gpus.length > 0 && missing.length === 0) {
    return devices === "all" ? gpus : gpus.filter(({ host }) => devices.includes(host.device.key));
  }
  const wanted = missing.length === 0 ? "no GPU" : `no GPU ${missing.join(" and no ")}`;
  throw new ProblemError("backend-failed", `This runner has ${wanted}; its GPUs are: ${keys.join(", ") || "none"}.`);
}

/** Runs work that keeps all of these devices busy. */
export function useAll<Output>(
  fleet: Pick<DeviceFleet, "use">,
  devices: readonly FleetDevice[],
  work: () => Promise<Output>,
): Promise<Output> {
  return devices.reduce<() => Promise<Output>>((inner, device) => () => fleet.use(device, inner), work)();
}

/**
 * Splits a rollout along its longer side, members or episodes, in proportion to the speeds; shares without work are
 * left out. What becomes of an episode depends on its seed and numbers alone, so the split changes no result.
 */
export function splitRollout<Place>(
  whole: RolloutShare,
  places: readonly { readonly place: Place; readonly speed: number | null }[],
): { readonly place: Place; readonly share: RolloutShare }[] {
  const byMembers = whole.members >= whole.episodes;
  const counts = shareWork(
    byMembers ? whole.members : whole.episodes,
    places.map(({ speed }) => speed),
  );
  let before = 0;
  return places.flatMap(({ place }, index) => {
    const count = counts[index]!;
    const share = byMembers
      ? { ...whole, firstMember: whole.firstMember + before, members: count }
      : { ...whole, firstEpisode: whole.firstEpisode + before, episodes: count };
    before += count;
    return count === 0 ? [] : [{ place, share }];
  });
}

/** A share that a device computed. */
interface Done<Share, Result> {
  readonly device: FleetDevice;
  readonly share: Share;
  readonly result: Result;
}

interface Lost<Share> {
  readonly device: FleetDevice;
  readonly share: Share;
  readonly error: ProblemError;
}

/** Rounds until work is given up whose devices die under it again and again. */
const MOST_ROUNDS = 4;

/**
 * Has devices compute work in shares, all at once. The share of one that is lost is computed anew by the others, or by
 * its next process where there is no other, in another round; the result has the fault. Any other failure ends the
 * work.
 */
export async function shareOut<Share, Result>(
  whole: Share,
  devices: readonly FleetDevice[],
  split: (
    share: Share,
    able: readonly FleetDevice[],
  ) => readonly { readonly place: FleetDevice; readonly share: Share }[],
  compute: (device: FleetDevice, share: Share, signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): Promise<{ readonly rounds: readonly (readonly Done<Share, Result>[])[]; readonly faults: readonly Fault[] }> {
  const failed = new AbortController();
  const wanted = AbortSignal.any([signal, failed.signal]);
  const run = async (device: FleetDevice, share: Share): Promise<Done<Share, Result> | Lost<Share>> => {
    try {
      return { device, share, result: await compute(device, share, wanted) };
    } catch (error) {
      if (error instanceof ProblemError && error.problem.code === "device-lost") return { device, share, error };
      failed.abort();
      throw error;
    }
  };
  const rounds: Done<Share, Result>[][] = [];
  const faults: Fault[] = [];
  let [able, open] = [devices, [whole]];
  while (open.length > 0) {
    const planned = open.flatMap((share) => split(share, able));
    const ended = await Promise.all(planned.map(({ place, share }) => run(place, share)));
    const lost = ended.filter((each) => "error" in each);
    rounds.push(ended.filter((each) => "result" in each));
    if (lost.length > 0 && rounds.length === MOST_ROUNDS) throw lost[0]!.error;
    const left = able.filter((device) => lost.every((each) => each.device !== device));
    faults.push(...lost.map((each) => toFault(each, left)));
    able = left.length > 0 ? left : devices;
    open = lost.map(({ share }) => share);
  }
  return { rounds, faults };
}

function toFault({ device, error }: Lost<unknown>, left: readonly FleetDevice[]): Fault {
  const { key } = device.host.device;
  const others = left.map(({ host }) => host.device.key).join(", ");
  const by = left.length > 0 ? others : "its next process";
  const detail = `${key} was lost, and ${by} computed its share anew: ${error.problem.detail}`;
  return { code: "device-lost", detail, action: left.length > 0 ? "retried-elsewhere" : "retried" };
}

export interface SharedOutcome {
  /** Results in the order of one device's; the time is that of the slowest device. */
  readonly outcome: RollOutOutcome;
  readonly done: readonly Worked[];
  readonly faults: readonly Fault[];
}

/** How and where the shares of a rollout are computed. */
interface Sharing {
  readonly devices: readonly FleetDevice[];
  /** Computes one share; fails with `device-lost` where the device is lost under it. */
  readonly roll: (
    device: FleetDevice,
    part: RollOutRequest,
    options: Pick<WorkOptions, "signal" | "onProgress">,
  ) => Promise<RollOutOutcome>;
  /** Speed in any unit; null where it is not known. */
  readonly speedOf: (device: FleetDevice) => number | null;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/** Rolls a population out on several devices at once, in shares by their speeds; see `shareOut`. */
export async function shareRollout(
  request: RollOutRequest,
  { devices, roll, speedOf, signal, onProgress }: Sharing,
): Promise<SharedOutcome> {
  const { members, episodes } = request;
  const whole: RolloutShare = { firstMember: 0, members, firstEpisode: 0, episodes };
  const progress = new ProgressSum(members * episodes, onProgress);
  const { rounds, faults } = await shareOut(
    whole,
    devices,
    (share, able) =>
      splitRollout(
        share,
        able.map((place) => ({ place, speed: speedOf(place) })),
      ),
    (device, share, wanted) => {
      const options = { signal: wanted, onProgress: progress.part(share.members * share.episodes) };
      return roll(device, takeShare(request, share), options);
    },
    signal,
  );
  const done = rounds.flat();
  // Shares that one device takes in a round follow each other.
  const busyMs = (round: readonly Done<RolloutShare, RollOutOutcome>[]) =>
    Math.max(0, ...sumByDevice(round.map(measureShare)).map((each) => each.durationMs));
  const durationMs = rounds.reduce((sum, round) => sum + busyMs(round), 0);
  const parts = done.map(({ share, result }) => ({ share, results: result }));
  return { outcome: { ...mergeShares(whole, parts), durationMs }, done: done.map(measureShare), faults };
}

/**
 * The same once, each share in a process of its own. Speeds of earlier rollouts of this kind decide on the size of the
 * shares.
 */
export async function shareOnce(
  request: RollOutRequest,
  devices: readonly FleetDevice[],
  timeoutMs: number,
  { fleet, signal, onProgress }: Pick<WorkloadContext, "fleet" | "signal" | "onProgress">,
): Promise<SharedOutcome> {
  const { environment, network } = request;
  const work = `roll-out ${typeof environment === "string" ? environment : "submitted"} ${network.kind}`;
  const shared = await shareRollout(request, {
    devices,
    roll: ({ host }, part, options) => host.workApart("rollOut", part, timeoutMs, deathIn(environment), options),
    speedOf: (device) => fleet.speedOf(device, work),
    signal,
    onProgress: (done, total) => onProgress({ phase: "roll-out", done, total }),
  });
  for (const { device, steps, durationMs } of sumByDevice(shared.done))
    fleet.noteSpeed(device, work, steps / durationMs);
  return shared;
}

/** The part of a rollout that is a share of it. */
function takeShare({ weights, ...request }: RollOutRequest, share: RolloutShare): RollOutRequest {
  const parameters = weights.length / request.members;
  const rows = weights.slice(share.firstMember * parameters, (share.firstMember + share.members) * parameters);
  return { ...request, ...share, firstEpisode: request.firstEpisode + share.firstEpisode, weights: rows };
}

/** Work and time of a device in one share, or in many. */
export interface Worked {
  readonly device: FleetDevice;
  readonly evaluations: number;
  readonly steps: number;
  readonly durationMs: number;
}

function measureShare({ device, result: { lengths, durationMs } }: Done<RolloutShare, RollOutOutcome>): Worked {
  return { device, evaluations: lengths.length, steps: lengths.reduce((sum, length) => sum + length, 0), durationMs };
}

/** Work and time of each device. */
export function sumByDevice(done: readonly Worked[]) {
  return [...Map.groupBy(done, ({ device }) => device)].map(([device, own]) => {
    const sumOf = (key: keyof Omit<Worked, "device">) => own.reduce((sum, each) => sum + each[key], 0);
    const durationMs = Math.max(Number.EPSILON, sumOf("durationMs"));
    return { device, evaluations: sumOf("evaluations"), steps: sumOf("steps"), durationMs };
  });
}

/** What each device did, for the result. */
export function describeShares(done: readonly Worked[]): DeviceShare[] {
  return sumByDevice(done)
    .map(({ device: { host }, evaluations, steps, durationMs }) => {
      const { key, name } = host.device;
      const work = { evaluations, steps, durationMs, stepsPerSecond: (1_000 * steps) / durationMs };
      return { deviceKey: key, deviceName: name, ...describeCard(host.device), ...work };
    })
    .toSorted((a, b) => a.deviceKey.localeCompare(b.deviceKey, "en", { numeric: true }));
}

/** Progress of parts that run at once as that of the whole; it never decreases. */
class ProgressSum {
  readonly #total: number;
  readonly #report: (done: number, total: number) => void;
  readonly #parts: number[] = [];
  #told = 0;

  constructor(total: number, report: (done: number, total: number) => void) {
    this.#total = total;
    this.#report = report;
  }

  /** Listener for one more part of this size. */
  part(size: number): (progress: { readonly done: number; readonly total: number }) => void {
    const index = this.#parts.push(0) - 1;
    return ({ done, total }) => {
      this.#parts[index] = (size * done) / Math.max(1, total);
      const sum = Math.floor(this.#parts.reduce((before, each) => before + each, 0));
      this.#told = Math.max(this.#told, Math.min(sum, this.#total));
      this.#report(this.#told, this.#total);
    };
  }
}
