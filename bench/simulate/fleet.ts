import { DEFAULT_CONFIGURATION } from "../../src/protocol/fleet/serving.ts";
import type { Placement } from "../../src/protocol/models/model.ts";
import type { LivePlacement } from "../../src/edge/store/fleet/live-placement-store.ts";
import { type DurationSampler, mapDistribution, sampleDistribution, serviceSampler } from "./duration-sampler.ts";

/** Parts of a measured placement that say how long things take. */
export type Calibration = Pick<Placement, "sweep" | "linkMs" | "loadMs">;

/** A runner with one device: its placements, and the true durations there. */
export interface SimulatedHost {
  readonly id: string;
  /** Name of the speed; hosts with the same name are equally fast. */
  readonly speed: string;
  readonly placements: readonly LivePlacement[];
  /** Service times by version. */
  readonly services: ReadonlyMap<string, (rows: number) => DurationSampler>;
  /** Time from the Worker to the runner and back, less the time spent there. */
  readonly link: DurationSampler;
}

export interface FleetWishes {
  readonly runners: number;
  readonly models: number;
  /** Median service time of a single row on a runner of middle speed. */
  readonly serviceMs: number;
  /** Added to the measured time of the link, for a longer way than between two processes. */
  readonly wayMs: number;
  readonly calibration: Calibration;
}

/** Factors of the service time, compared with the middle speed. */
const SPEEDS = { fast: 0.5, middle: 1, slow: 2 } as const;
/** Number of models that each runner serves, if there are as many. */
const MODELS_PER_RUNNER = 2;

/** Creates a fleet of three speeds with a third of the runners each; neighbours serve different models. */
export function createFleet({ runners, models, serviceMs, wayMs, calibration }: FleetWishes): SimulatedHost[] {
  const scale = serviceMs / calibration.sweep[0]!.serviceMs.p50;
  const linkMs = mapDistribution(calibration.linkMs, (measuredMs) => measuredMs + wayMs);
  const link = sampleDistribution(linkMs);
  const kinds = Object.entries(SPEEDS).map(([speed, factor]) => {
    const sweep = calibration.sweep.map(({ rows, serviceMs: measured }) => ({
      rows,
      serviceMs: mapDistribution(measured, (measuredMs) => measuredMs * scale * factor),
    }));
    return { speed, measured: { ...calibration, sweep, linkMs }, service: serviceSampler(sweep) };
  });
  return Array.from({ length: runners }, (_, index) => {
    const { speed, measured, service } = kinds[index % kinds.length]!;
    // A runner's models do not depend on its speed.
    const first = Math.floor(index / kinds.length);
    const versions = Array.from({ length: Math.min(models, MODELS_PER_RUNNER) }, (_each, place) =>
      versionOf((first + place * Math.ceil(models / MODELS_PER_RUNNER)) % models),
    );
    const id = `runner-${index}`;
    return {
      id,
      speed,
      link,
      placements: versions.map((version) => livePlacementOf(id, version, measured)),
      services: new Map(versions.map((version) => [version, service])),
    };
  });
}

export function versionOf(model: number): string {
  return `version-${model}`;
}

/** A placement as in an isolate's snapshot, on a runner that has been connected for long. */
export function livePlacementOf(
  runnerId: string,
  modelVersionId: string,
  measured: Calibration & Partial<Pick<Placement, "configuration" | "backend">>,
): LivePlacement {
  return {
    configuration: DEFAULT_CONFIGURATION,
    backend: "ort-cpu",
    ...measured,
    id: `${runnerId}/${modelVersionId}`,
    modelVersionId,
    project: "simulated",
    runnerId,
    deviceKey: "cpu",
    software: false,
    variant: "fp32",
    state: "eligible",
    fidelity: 1,
    sizes: [],
    measuredElements: 1,
    memory: null,
    validated: null,
    updatedAt: "2026-11-22T00:00:00.000Z",
    fingerprint: { adapter: null, driver: null, dawn: null, toggles: [], ort: null, cpu: "simulated" },
    online: true,
    draining: false,
    direct: false,
    labels: {},
    profiles: [],
    connectedAtMs: Number.NEGATIVE_INFINITY,
    warmAtMs: Number.NEGATIVE_INFINITY,
  };
}
