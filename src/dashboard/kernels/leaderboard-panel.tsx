import { kernelEndpoints } from "../../protocol/kernels/kernel-endpoints.ts";
import { useCallback } from "preact/hooks";
import { type Board, toShapeText } from "../../protocol/kernels/leaderboard.ts";
import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { describeClock, nameHardware } from "../../words/history.ts";
import { nameToAsk } from "../../words/kernels.ts";
import { describeSizes, formatMeasure, formatNumber, formatShare } from "../../words/numbers.ts";
import { markSoftware } from "../../words/runners.ts";
import { MarkedName } from "../ui/badges.tsx";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { nextCommands } from "../ui/next-commands.ts";
import { writeAddress } from "../ui/page-address.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import type { ViewProps } from "../ui/view-props.ts";
import { DataTable } from "../ui/data-table.tsx";
import { Picker } from "../ui/forms/picker.tsx";

interface BoardTableProps {
  readonly board: Board;
  /** Name of the kernel that the page shows. */
  readonly own: string;
}

/** One board: the best run of each kernel, the fastest first. */
function BoardTable({ board: { entries }, own }: BoardTableProps) {
  const bestMs = entries[0]?.medianMs ?? Number.NaN;
  return (
    <DataTable
      class="boards"
      rows={entries}
      keyOf={({ kernel }) => kernel}
      isCurrent={({ kernel }) => kernel === own}
      columns={[
        {
          name: "Rank and kernel",
          head: true,
          cell: ({ rank, kernel, name, variant }) => (
            <>
              {`${rank}. `}
              {kernel === own ? name : <a href={`/${writeAddress({ view: "kernels", kernel })}`}>{name}</a>}
              <small>{variant}</small>
            </>
          ),
        },
        {
          name: "Median",
          cell: ({ medianMs }) => formatMeasure(medianMs, "ms"),
          note: ({ interval }) => `${formatNumber(interval.lowMs)} to ${formatNumber(interval.highMs)} ms`,
        },
        {
          name: "Beside the best",
          cell: ({ rank, medianMs }) => (rank === 1 ? "best" : `${formatNumber(medianMs / bestMs)} ×`),
        },
        {
          name: "Share of the roof",
          cell: ({ shareOfRoof }) =>
            shareOfRoof === null ? <span class="muted">not known</span> : formatShare(shareOfRoof),
        },
        { name: "Iterations", cell: ({ iterations }) => iterations },
        { name: "Run", title: ({ runId }) => runId, cell: ({ at }) => <Timestamp at={at} /> },
      ]}
    />
  );
}

const LEADERBOARD_GAP_MS = 2_000;

interface LeaderboardPanelProps extends ViewProps {
  readonly kernel: ListedKernel;
}

/** Ranking of kernels for the same work, one table for each device. */
export function LeaderboardPanel({ client, subscribe, address, onPick, kernel }: LeaderboardPanelProps) {
  const name = nameToAsk(kernel);
  const read = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(kernelEndpoints.getLeaderboard, { params: { kernel: name }, signal }),
      [client, name],
    ),
    LEADERBOARD_GAP_MS,
  );
  useRefreshOn(subscribe, "history", read.refresh);
  const { value, error } = read;
  const devices = listDevices(value?.boards ?? []);
  const device = devices.find(({ id }) => id === address.device) ?? devices[0];
  return (
    <Panel
      id="leaderboard"
      title="Leaderboard"
      resource={read}
      aside={
        devices.length > 1 && (
          <div class="picker">
            <Picker
              label="Device"
              value={device?.id}
              options={devices.map(({ id, software, fingerprint }) => [
                id,
                markSoftware(nameHardware(fingerprint), software),
              ])}
              onPick={(id) => onPick({ device: id })}
            />
          </div>
        )
      }
    >
      {value === null && error === null && <p class="muted loading">Reading the leaderboard …</p>}
      {value?.boards.length === 0 && (
        <EmptyState says="Nobody stands here yet." command={nextCommands.benchmarkKernel(name)}>
          A run of 20 iterations or more takes its place by itself:
        </EmptyState>
      )}
      {device !== undefined && (
        <p>
          <MarkedName name={device.name} software={device.software} />
          <small>{nameHardware(device.fingerprint)}</small>
        </p>
      )}
      {listShapes(value?.boards ?? [], device?.id, kernel).map(({ key, shape, boards: [first, ...others] }) => (
        <section key={key} class="board" aria-label={shape}>
          {first !== undefined && (
            <>
              <h3>
                {shape} <span class="kind">{nameBoard(first)}</span>
              </h3>
              <BoardTable board={first} own={name} />
            </>
          )}
          {others.map((board) => (
            <details key={nameBoard(board)}>
              <summary>{nameBoard(board)}</summary>
              <BoardTable board={board} own={name} />
            </details>
          ))}
        </section>
      ))}
      {value?.truncated === true && <p class="muted">More runs stand on it than are shown here.</p>}
    </Panel>
  );
}

/** Each device once, GPUs before what emulates them. */
function listDevices(boards: readonly Board[]): Board["device"][] {
  const byId = new Map(boards.map(({ device }) => [device.id, device]));
  return [...byId.values()].toSorted((a, b) => Number(a.software) - Number(b.software));
}

interface ShapeBoards {
  readonly key: string;
  readonly shape: string;
  /** The device's own clock before the wall's. */
  readonly boards: readonly Board[];
}

/** The boards of a device by shape, small shapes first; sizes in the kernel's own order. */
function listShapes(boards: readonly Board[], device: string | undefined, { dimensions }: ListedKernel): ShapeBoards[] {
  const sizesOf = ({ shape }: Board) => dimensions.map(({ name }) => shape[name] ?? 0);
  const work = (board: Board) => sizesOf(board).reduce((product, size) => product * size, 1);
  const own = boards.filter((board) => board.device.id === device).toSorted((a, b) => work(a) - work(b));
  const byShape = Map.groupBy(own, ({ shape, dtype }) => `${toShapeText(shape)} ${dtype}`);
  return [...byShape].map(([key, some]) => ({
    key,
    shape: describeSizes(Object.fromEntries(dimensions.map(({ name }) => [name, some[0]?.shape[name] ?? 0]))),
    boards: some.toSorted((a, b) => a.clock.localeCompare(b.clock)),
  }));
}

function nameBoard(board: Board): string {
  return `${board.dtype}, by ${describeClock(board)}`;
}
