import { useCallback } from "preact/hooks";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Board } from "../../protocol/leaderboard.ts";
import { describeClock } from "../describe-clock.ts";
import { EmptyState } from "../empty-state.tsx";
import { describeSizes } from "../format.ts";
import { nextCommands } from "../next-commands.ts";
import { Panel } from "../panel.tsx";
import { nameHardware } from "../series-choice.ts";
import { SoftwareBadge } from "../software-badge.tsx";
import { useRefreshOn } from "../use-feed.ts";
import { useResource } from "../use-resource.ts";
import type { ViewProps } from "../view-props.ts";
import { BoardTable } from "./board-table.tsx";

const LEADERBOARD_GAP_MS = 2_000;

interface LeaderboardPanelProps extends ViewProps {
  /** Name of an announced kernel, or id of a submitted one. */
  readonly name: string;
}

/** Who does a kernel's work fastest, by device: what one device did is never ranked among another's. */
export function LeaderboardPanel({ client, subscribe, address, onPick, name }: LeaderboardPanelProps) {
  const read = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(endpoints.getLeaderboard, { params: { kernel: name }, signal }),
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
            <label>
              Device
              <select value={device?.id} onChange={({ currentTarget }) => onPick({ device: currentTarget.value })}>
                {devices.map(({ id, software, fingerprint }) => (
                  <option key={id} value={id}>
                    {nameHardware(fingerprint) + (software ? " (software)" : "")}
                  </option>
                ))}
              </select>
            </label>
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
          {device.name} {device.software && <SoftwareBadge />}
          <small>{nameHardware(device.fingerprint)}</small>
        </p>
      )}
      {value?.boards
        .filter((board) => board.device.id === device?.id)
        .map((board) => (
          <section key={`${describeSizes(board.shape)} ${board.dtype} ${board.clock}`} class="board">
            <h3>
              {describeSizes(board.shape)} <span class="kind">{`${board.dtype}, by ${describeClock(board)}`}</span>
            </h3>
            <BoardTable board={board} own={name} />
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
