import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import type { GpuBoard } from "../../../../src/gpu-runner/host/sensors/gpu-board.ts";
import { NvidiaSmi, type RunProgram } from "../../../../src/gpu-runner/host/sensors/nvidia-smi.ts";
import { askBoards, findCudaCards, listVisible } from "../../../../src/gpu-runner/providers/cuda-cards.ts";
import { locateBinding } from "../../../../src/gpu-runner/providers/installed-provider.ts";

const boards = ["GPU-aa11", "GPU-bb22", "GPU-cc33"].map((uuid) => ({ uuid }) as GpuBoard);

it.each([
  [undefined, ["GPU-aa11", "GPU-bb22", "GPU-cc33"]],
  ["2,0", ["GPU-cc33", "GPU-aa11"]],
  ["GPU-bb", ["GPU-bb22"]],
  // CUDA stops at the first that is no card.
  ["1,9,0", ["GPU-bb22"]],
  ["", []],
  ["-1", []],
  ["MIG-GPU-aa11/1/0", undefined],
])("with CUDA_VISIBLE_DEVICES=%s it sees %j", (visible, uuids) => {
  expect(listVisible(boards, visible)?.map(({ uuid }) => uuid)).toEqual(uuids);
});

it("knows of a card without NVIDIA's program only where nothing hides it", () => {
  expect([undefined, "0", "", "-1"].map((visible) => listVisible(null, visible))).toEqual([null, null, [], []]);
});

it("asks NVIDIA's program twice, unless there is none", async () => {
  const ask = (run: RunProgram) => askBoards(() => new NvidiaSmi(run));
  const late = vi.fn<RunProgram>(() => Promise.reject(new Error("timeout")));
  await expect(ask(late)).rejects.toThrow("nvidia-smi lists no card");
  expect(late).toHaveBeenCalledTimes(2);
  late
    .mockRejectedValueOnce(new Error("timeout"))
    .mockResolvedValueOnce("T4, GPU-1, 00000000:41:00.0, 16, 70, 1, 1, 1, 1, 1, 0");
  expect(await ask(late)).toMatchObject([{ name: "T4" }]);
  const absent = vi.fn<RunProgram>(() => Promise.reject(Object.assign(new Error("absent"), { code: "ENOENT" })));
  expect(await ask(absent)).toBeNull();
  expect(absent).toHaveBeenCalledTimes(1);
});

it.each([
  ["auto", "auto", ["cuda0", "cuda1"]],
  [["rtx 4090"], "auto", ["cuda1"]],
  [["0000:41:00.0"], "auto", ["cuda0"]],
  [["GPU-2"], "auto", ["cuda1"]],
  [["software"], "auto", expect.stringContaining("MILLRACE_GPU leaves out")],
  [[], "auto", expect.stringContaining("MILLRACE_GPU leaves out")],
  [[], "on", ["cuda0", "cuda1"]],
] as const)("with MILLRACE_GPU=%j and %s it has %j", async (gpu, wanted, keys) => {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-cards-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const { version: ort } = await locateBinding();
  await mkdir(join(dataDir, "providers/ort-cuda"), { recursive: true });
  const record = { ort, cuda: 13, files: {}, libraries: [], from: "a test" };
  await writeFile(join(dataDir, "providers/ort-cuda/installed.json"), JSON.stringify(record));
  vi.stubEnv("CUDA_VISIBLE_DEVICES", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const named = [
    { name: "Tesla T4", uuid: "GPU-1", pciAddress: "0000:41:00.0" },
    { name: "NVIDIA GeForce RTX 4090", uuid: "GPU-2", pciAddress: "0000:42:00.0" },
  ].map((card) => card as GpuBoard);
  const sight = { wanted, gpu, tf32: true, gpus: [], dataDir };
  const found = await findCudaCards(sight, async () => named);
  expect(typeof found === "string" ? found : found.map(({ deviceKey }) => deviceKey)).toEqual(keys);
  if (typeof found !== "string") expect(found[0]?.environment).toHaveProperty("NVIDIA_TF32_OVERRIDE", undefined);
});
