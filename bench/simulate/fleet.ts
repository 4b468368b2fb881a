import { DEFAULT_CONFIGURATION } from "../../src/protocol/fleet/serving.ts";
import type { Placement } from "../../src/protocol/models/model.ts";
import type { LivePlacement } from "../../src/edge/store/fleet/live-placement-store.ts";
import { type DurationSampler, mapDistribution, sampleDistribution, serviceSampler } from "./duration-sampler.ts";

/** What was measured of a placement, as far as it says how long things take. */
export type Calibration = Pick<Placement, "sweep" | "linkMs" | "loadMs">;

/** A runner with one device: how it is placed, and what things really take there. */
export interface SimulatedHost {
  readonly id: string;
  /** As fast as others of the same name. */
  readonly speed: string;
  readonly placements: readonly LivePlacement[];
  /** By version. */
  readonly services: ReadonlyMap<string, (rows: number) => DurationSampler>;
  /** From the Worker to the runner and back, less what happens there. */
  readonly link: DurationSampler;
}

export interface FleetWishes {
  readonly runners: number;
  readonly models: number;
  /** Median of a single row on a runner of middle speed. */
  readonly serviceMs: number;
  /** Added to what was measured of the link: a way further than from one process to another. */
  readonly wayMs: number;
  readonly calibration: Calibration;
}

/** How many times as long as on the middle one a service takes. */
const SPEEDS = { fast: 0.5, middle: 1, slow: 2 } as const;
/** Each runner serves so many models, if there are as many. */
const MODELS_PER_RUNNER = 2;

/** A fleet of three speeds, each of a third of the runners; neighbours serve different models. */
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
    // The models of a runner have nothing to do with its speed.
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

/** A placement as the snapshot of an isolate has it, whose runner has been connected for long. */
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
    runnerId,
    deviceKey: "cpu",
    software: false,
    variant: "fp32",
    state: "eligible",
    fidelity: 1,
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
