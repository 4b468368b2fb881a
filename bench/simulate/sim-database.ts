import type { LivePlacement } from "../../src/edge/store/fleet/live-placement-store.ts";
import type { SimulatedHost } from "./fleet.ts";
import type { SimClock } from "./sim-clock.ts";

/** Placements by version, as one read of the database returns them. */
export type Placements = ReadonlyMap<string, readonly LivePlacement[]>;

/** The database's view of the runners: those that are connected. */
export class SimDatabase {
  readonly #clock: SimClock;
  readonly #byVersion = new Map<string, readonly LivePlacement[]>();
  /** Number of rows that a snapshot of the one project reads: every placement, and every runner. */
  readonly rows: number;
  #changes = 0;

  constructor(hosts: readonly SimulatedHost[], clock: SimClock) {
    this.#clock = clock;
    const all = hosts.flatMap(({ placements }) => placements);
    for (const [version, placements] of Map.groupBy(all, ({ modelVersionId }) => modelVersionId))
      this.#byVersion.set(version, placements);
    this.rows = all.length + hosts.length;
  }

  read(): Placements {
    return new Map(this.#byVersion);
  }

  /** Number of changes so far, in place of the mark that triggers write. */
  get changes(): number {
    return this.#changes;
  }

  setOnline({ id, placements: own }: SimulatedHost, online: boolean): void {
    const loadMs = own.reduce((sum, placement) => sum + placement.loadMs, 0);
    const nowMs = this.#clock.nowMs;
    this.#changes++;
    const changes = online ? { online, connectedAtMs: nowMs, warmAtMs: nowMs + loadMs } : { online };
    for (const { modelVersionId } of own) {
      const placements = this.#byVersion.get(modelVersionId) ?? [];
      this.#byVersion.set(
        modelVersionId,
        placements.map((each) => (each.runnerId === id ? { ...each, ...changes } : each)),
      );
    }
  }
}
