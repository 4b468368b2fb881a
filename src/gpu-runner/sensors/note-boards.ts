import type { Device } from "../../protocol/hardware.ts";
import type { GpuBoard } from "./gpu-board.ts";

/** Adds to devices what is known of their cards, and with it the memory that WebGPU does not tell. */
export function noteBoards(devices: readonly Device[], boards: ReadonlyMap<string, GpuBoard>): void {
  for (const device of devices) {
    const board = boards.get(device.key);
    if (board === undefined) continue;
    const { name, uuid, memoryBytes, maxClockMhz, maxMemoryClockMhz, powerLimitW, source } = board;
    device.board = { name, uuid, memoryBytes, maxClockMhz, maxMemoryClockMhz, powerLimitW, source };
    device.memoryBytes ??= memoryBytes;
  }
}
