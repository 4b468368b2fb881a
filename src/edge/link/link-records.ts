import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { HealthReport } from "../../protocol/fleet/health.ts";
import type { Roofline } from "../../protocol/fleet/roofline.ts";
import type { DirectOutcome } from "../../protocol/inference/ticket.ts";
import type { Offer, PlacedModel } from "../../protocol/link.ts";
import type { Env } from "../config.ts";
import { planRunner, type RunnerPlan } from "../fleet/plan-runner.ts";
import type { WatchLog } from "../fleet/watch/watch-log.ts";
import { endWatch, watchRunner } from "../fleet/watch/watch-runner.ts";
import { readOfferContext } from "../kinds/registry.ts";
import { type Database, openDatabase } from "../store/database.ts";
import { deletePlacements, readForeignPlacements, readMeasuredPlaces } from "../store/fleet/placement-store.ts";
import {
  type AnnouncedRunner,
  recordCapabilities,
  recordDisconnect,
  recordHello,
  recordRoofline,
  recordSeen,
} from "../store/fleet/runner-store.ts";
import { appendMeasurements, type Measurement } from "../store/history/point-store.ts";
import { findAnyVersion, readVersionsInSight, toPlacedModel } from "../store/models/model-store.ts";
import type { LinkRecords } from "./link-parts.ts";
import { toRequestOutcomes } from "./outbox.ts";

/** A link's records in D1. */
export class DatabaseRecords implements LinkRecords {
  readonly #env: () => Env;
  readonly #watchLog: WatchLog;

  constructor(env: () => Env, watchLog: WatchLog) {
    this.#env = env;
    this.#watchLog = watchLog;
  }

  get #db(): Database {
    return openDatabase(this.#env().DB);
  }

  hello(runnerId: string, capabilities: Capabilities) {
    return recordHello(this.#db, runnerId, capabilities);
  }

  async plan(runner: AnnouncedRunner): Promise<RunnerPlan> {
    const { DB } = this.#env();
    const plan = await planRunner(DB, await readVersionsInSight(this.#db, runner), runner);
    if (runner.shared) return plan;
    // Of the time when it was shared, where its restriction was cut off.
    const foreign = await readForeignPlacements(this.#db, runner.id, runner.project);
    return { ...plan, outdated: [...plan.outdated, ...foreign] };
  }

  dropPlacements(ids: string[], beforeMs: number): Promise<void> {
    return deletePlacements(this.#db, ids, beforeMs);
  }

  seen(runnerId: string): Promise<void> {
    return recordSeen(this.#db, runnerId);
  }

  disconnected(runnerId: string, atMs: number): Promise<void> {
    return recordDisconnect(this.#db, runnerId, atMs);
  }

  capabilities(runnerId: string, capabilities: Capabilities): Promise<void> {
    return recordCapabilities(this.#db, runnerId, capabilities);
  }

  roofline(runnerId: string, deviceKey: string, roofline: Roofline): Promise<void> {
    return recordRoofline(this.#db, runnerId, deviceKey, roofline);
  }

  measureDirect(runnerId: string, outcomes: readonly DirectOutcome[]) {
    return toRequestOutcomes(this.#db, runnerId, outcomes);
  }

  append(measurements: Measurement[]): Promise<void> {
    return appendMeasurements(this.#env().DB, measurements);
  }

  offerContext(spec: Offer["spec"], runnerId: string) {
    return readOfferContext(this.#db, spec, runnerId);
  }

  async placedModel(runnerId: string, modelVersionId: string): Promise<PlacedModel | null> {
    const db = this.#db;
    const version = await findAnyVersion(db, modelVersionId);
    const measured = await readMeasuredPlaces(db, runnerId, modelVersionId);
    const places = measured.filter(({ isEligible }) => isEligible);
    return version === null || places.length === 0 ? null : toPlacedModel(version, places);
  }

  keepReport(report: HealthReport): void {
    this.#watchLog.add(report, Date.now());
  }

  watch(runnerId: string): Promise<void> {
    return watchRunner(this.#env(), this.#watchLog, runnerId);
  }

  endWatch(runnerId: string): Promise<void> {
    return endWatch(this.#env(), this.#watchLog, runnerId);
  }
}
