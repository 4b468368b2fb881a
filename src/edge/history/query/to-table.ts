import type { HistoryLeaderboard, HistoryQueryReply, Scaling } from "../../../protocol/history/history-query.ts";
import type { HistoryPoint, PointsReply } from "../../../protocol/history/history.ts";
import type { Series } from "../../../protocol/history/series.ts";
import { type Cell, type ColumnType, type Table, tableOf } from "../../http/write-table.ts";

type Column<Row> = readonly [name: string, type: ColumnType, cell: (row: Row) => Cell | undefined];

/** A point's values without its time; columns for the percentiles that the points have. */
function statisticsOf<Row>(
  rows: readonly Row[],
  of: (row: Row) => Pick<HistoryPoint, "count" | "min" | "max" | "mean" | "percentiles">,
): Column<Row>[] {
  const [first] = rows;
  const names = first === undefined ? [] : Object.keys(of(first).percentiles);
  return [
    ["count", "integer", (row) => of(row).count],
    ["min", "number", (row) => of(row).min],
    ["max", "number", (row) => of(row).max],
    ["mean", "number", (row) => of(row).mean],
    ...names.map((name): Column<Row> => [name, "number", (row) => of(row).percentiles[name]]),
  ];
}

interface Grouped {
  readonly group: HistoryQueryReply["groups"][number]["group"];
  readonly device: HistoryQueryReply["groups"][number]["device"];
}

/** A group's values as text: one dimension may hold numbers and names. */
function groupColumns<Row extends Grouped>(rows: readonly Row[]): Column<Row>[] {
  return [
    ...Object.keys(rows[0]?.group ?? {}).map((name): Column<Row> => {
      return [name, "text", ({ group }) => (group[name] === null ? null : String(group[name]))];
    }),
    ["deviceId", "text", ({ device }) => device?.id],
    ["deviceName", "text", ({ device }) => device?.name],
  ];
}

interface Measured {
  readonly metric: string;
  readonly unit: string;
  readonly clock: string | null;
  readonly direction: string;
  readonly software: boolean;
}

/** Columns of the quantity, without those that are dimensions already. */
function quantityColumns<Row extends Measured>(taken: readonly string[] = []): Column<Row>[] {
  const columns: Column<Row>[] = [
    ["metric", "text", ({ metric }) => metric],
    ["unit", "text", ({ unit }) => unit],
    ["clock", "text", ({ clock }) => clock],
    ["direction", "text", ({ direction }) => direction],
    ["software", "boolean", ({ software }) => software],
  ];
  return columns.filter(([name]) => !taken.includes(name));
}

export function seriesToTable({ items }: { readonly items: readonly Series[] }): Table {
  return tableOf(items, [
    ["id", "text", ({ id }) => id],
    ["subjectKind", "text", ({ subjectKind }) => subjectKind],
    ["subject", "text", ({ subject }) => subject],
    ...quantityColumns<Series>(),
    ["configuration", "text", ({ configuration }) => JSON.stringify(configuration)],
    ["fingerprintId", "text", ({ fingerprintId }) => fingerprintId],
    ["label", "text", ({ label }) => label],
    ["points", "integer", ({ points }) => points],
    ["createdAt", "time", ({ createdAt }) => createdAt],
    ["lastPointAt", "time", ({ lastPointAt }) => lastPointAt],
    ["mutedAt", "time", ({ mutedAt }) => mutedAt],
  ]);
}

export function pointsToTable({ series, points }: PointsReply): Table {
  return tableOf(points, [
    ["series", "text", () => series.id],
    ["at", "time", ({ at }) => at],
    ...statisticsOf(points, (point) => point),
    ["runId", "text", ({ runId }) => runId],
    ["sketch", "text", ({ sketch }) => sketch],
  ]);
}

export function groupsToTable({ groups }: HistoryQueryReply): Table {
  const rows = groups.flatMap(({ points, ...group }) => points.map((point) => ({ ...group, point })));
  return tableOf(rows, [
    ...groupColumns(rows),
    ...quantityColumns<(typeof rows)[number]>(Object.keys(rows[0]?.group ?? {})),
    ["at", "time", ({ point }) => point.at],
    ...statisticsOf(rows, ({ point }) => point),
  ]);
}

export function scalingToTable({ over, groups }: Scaling): Table {
  const rows = groups.flatMap(({ points, ...group }) => points.map((point) => ({ ...group, point })));
  return tableOf(rows, [
    ...groupColumns(rows),
    ...quantityColumns<(typeof rows)[number]>(Object.keys(rows[0]?.group ?? {})),
    ["over", "text", () => over],
    ["value", "number", ({ point }) => point.value],
    ...statisticsOf(rows, ({ point }) => point),
    ["medianLow", "number", ({ point }) => point.interval?.low],
    ["medianHigh", "number", ({ point }) => point.interval?.high],
  ]);
}

export function leaderboardToTable({ boards }: HistoryLeaderboard): Table {
  const rows = boards.flatMap(({ entries, ...board }) => entries.map((entry) => ({ ...board, ...entry })));
  return tableOf(rows, [
    ...quantityColumns<(typeof rows)[number]>(Object.keys(rows[0]?.group ?? {})),
    ["work", "text", ({ work }) => JSON.stringify(work)],
    ["rank", "integer", ({ rank }) => rank],
    ...groupColumns(rows),
    ["median", "number", ({ median }) => median],
    ["medianLow", "number", ({ interval }) => interval?.low],
    ["medianHigh", "number", ({ interval }) => interval?.high],
    ["timesWorse", "number", ({ timesWorse }) => timesWorse],
    ["count", "integer", ({ count }) => count],
    ["points", "integer", ({ points }) => points],
    ["lastPointAt", "time", ({ lastPointAt }) => lastPointAt],
  ]);
}
