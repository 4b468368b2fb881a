import { expect, it } from "vitest";
import type { GpuBoard } from "../../../../src/gpu-runner/host/sensors/gpu-board.ts";
import { listVisible } from "../../../../src/gpu-runner/providers/cuda-cards.ts";

const boards = ["GPU-aa11", "GPU-bb22", "GPU-cc33"].map((uuid) => ({ uuid }) as GpuBoard);

it.each([
  [undefined, ["GPU-aa11", "GPU-bb22", "GPU-cc33"]],
  ["2,0", ["GPU-cc33", "GPU-aa11"]],
  ["GPU-bb", ["GPU-bb22"]],
  // CUDA stops at the first that is no card.
  ["1,9,0", ["GPU-bb22"]],
  ["", []],
  ["-1", []],
])("with CUDA_VISIBLE_DEVICES=%s it sees %j", (visible, uuids) => {
  expect(listVisible(boards, visible).map(({ uuid }) => uuid)).toEqual(uuids);
});
