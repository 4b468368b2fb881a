import { and, asc, eq, isNotNull, or, sql } from "drizzle-orm";
import type { BenchmarkResult } from "../../../protocol/jobs/benchmark.ts";
import type { Clock, Distribution } from "../../../protocol/wire/distribution.ts";
import { fingerprintIdOf } from "../../../protocol/fleet/hardware.ts";
import { idGlob } from "../../../protocol/wire/id.ts";
import {
  type Board,
  fromShapeText,
  type Leaderboard,
  type LeaderboardQuery,
  toShapeText,
} from "../../../protocol/kernels/leaderboard.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { medianInterval } from "../../../stats/distribution/intervals.ts";
import type { ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { kernels, runs, standings } from "../schema.ts";

interface RankedRun {
  readonly runId: string;
  readonly atMs: number;
  /** Kernel that defines the work. */
  readonly reference: string;
}

/**
 * Records a benchmark that is its kernel's best by a clock: always the wall's, and the GPU's where the result trusts
 * it. Repeating it changes nothing.
 */
export async function recordStandings(db: ProjectDatabase, result: BenchmarkResult, run: RankedRun): Promise<void> {
  const { environment } = result;
  const byClock: [Clock, Distribution | null][] = [
    ["runner-wall", result.wallMs],
    ["gpu-timestamp", result.clock === "gpu-timestamp" ? result.gpuMs : null],
  ];
  for (const [clock, durations] of byClock) {
    if (durations === null || durations.count < LIMITS.rankedIterations) continue;
    const interval = medianInterval(durations);
    if (interval === null) continue;
    const measured = {
      variant: result.variant,
      medianMs: durations.p50,
      lowMs: interval.low,
      highMs: interval.high,
      iterations: durations.count,
      runId: run.runId,
      atMs: run.atMs,
    };
    await db
      .insert(standings)
      .values({
        ...measured,
        project: db.project,
        reference: run.reference,
        fingerprintId: await fingerprintIdOf(environment.fingerprint),
        shape: toShapeText(result.shape),
        dtype: result.dtype,
        clock,
        kernel: result.kernel,
        deviceName: environment.deviceName,
        software: environment.software,
        fingerprint: environment.fingerprint,
      })
      .onConflictDoUpdate({
        target: [
          standings.project,
          standings.reference,
          standings.fingerprintId,
          standings.shape,
          standings.dtype,
          standings.clock,
          standings.kernel,
        ],
        set: measured,
        setWhere: sql`excluded.median_ms < ${standings.medianMs}`,
      });
  }
}

/** The standings of kernels that do the work of `reference`, board by board. */
export async function readLeaderboard(
  db: ProjectDatabase,
  reference: string,
  query: LeaderboardQuery,
): Promise<Leaderboard> {
  const { shape, device, clock, limit } = query;
  const rows = await db
    .select({ standing: standings, name: kernels.name, shareOfRoof: SHARE_OF_ROOF })
    .from(standings)
    .leftJoin(kernels, eq(kernels.id, standings.kernel))
    .leftJoin(runs, eq(runs.id, standings.runId))
    .where(
      and(
        eq(standings.project, db.project),
        eq(standings.reference, reference),
        // A run of a kernel that was deleted while it ran.
        or(isNotNull(kernels.id), sql`${standings.kernel} not glob ${idGlob("kernel")}`),
        shape === undefined ? undefined : eq(standings.shape, shape),
        device === undefined ? undefined : eq(standings.fingerprintId, device),
        clock === undefined ? undefined : eq(standings.clock, clock),
      ),
    )
    .orderBy(
      asc(standings.fingerprintId),
      asc(standings.shape),
      asc(standings.dtype),
      asc(standings.clock),
      asc(standings.medianMs),
      asc(standings.kernel),
    )
    .limit(limit + 1);
  const boards = Map.groupBy(rows.slice(0, limit), ({ standing: { fingerprintId, shape: sizes, dtype, clock: by } }) =>
    JSON.stringify([fingerprintId, sizes, dtype, by]),
  );
  return { kernel: reference, boards: [...boards.values()].map(toBoard), truncated: rows.length > limit };
}

/** A run's share is by the same clock as its rates. */
const SHARE_OF_ROOF = sql<number | null>`case when ${runs.result} ->> 'clock' = ${standings.clock}
  then ${runs.result} ->> '$.roofline.shareOfRoof' end`;

interface Row {
  readonly standing: typeof standings.$inferSelect;
  readonly name: string | null;
  readonly shareOfRoof: number | null;
}

function toBoard(rows: readonly Row[]): Board {
  const { shape, dtype, clock, fingerprintId, deviceName, software, fingerprint } = rows[0]!.standing;
  return {
    shape: fromShapeText(shape),
    dtype,
    clock,
    device: { id: fingerprintId, name: deviceName, software, fingerprint },
    entries: rows.map(({ standing, name, shareOfRoof }, index) => ({
      rank: index + 1,
      kernel: standing.kernel,
      name: name ?? standing.kernel,
      variant: standing.variant,
      medianMs: standing.medianMs,
      interval: { lowMs: standing.lowMs, highMs: standing.highMs },
      iterations: standing.iterations,
      shareOfRoof,
      runId: standing.runId,
      at: toInstant(standing.atMs),
    })),
  };
}
