/**
 * Equal cards of one machine: two copies of SwiftShader are two Vulkan devices of one name, and each copy's library is
 * the file by which a process reaches its card.
 */
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { startGpus } from "../../src/gpu-runner/device-host/start-gpus.ts";
import { installSoftwareGpu } from "../../src/gpu-runner/devices/gpu/software-gpu.ts";
import type { Card } from "../../src/gpu-runner/host/sensors/read-sensors.ts";
import { CACHE_DIR } from "../kernels/software-gpu-cache.ts";

const TIMEOUT_MS = 300_000;
const ADDRESSES = ["0000:41:00.0", "0000:42:00.0"];
const logger = pino({ level: "silent" });
const shared = { cacheDir: CACHE_DIR, logger };

let folder = "";
let name = "";
let cards: readonly Card[] = [];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-cards-"));
  const environment = await installSoftwareGpu(CACHE_DIR);
  const original = path.dirname(environment["VK_DRIVER_FILES"]!);
  const copies = ["a", "b"].map((copy) => path.join(folder, copy));
  for (const copy of copies) await cp(original, copy, { recursive: true });
  vi.stubEnv("LD_LIBRARY_PATH", copies[0]);
  vi.stubEnv("VK_DRIVER_FILES", copies.map((copy) => path.join(copy, "vk_swiftshader_icd.json")).join(":"));
  const both = await DeviceHost.start({ role: "gpu", deviceKey: "gpu0", driver: "own", ...shared });
  expect(both.adapters).toHaveLength(2);
  expect(new Set(both.adapters).size).toBe(1);
  [name = ""] = both.adapters;
  await both.stop();
  cards = copies.map((copy, place) => cardAt(ADDRESSES[place]!, [path.join(copy, "libvk_swiftshader.so")]));
}, TIMEOUT_MS);
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

function cardAt(pciAddress: string, nodes: readonly string[]): Card {
  const unknown = { memoryBytes: null, powerLimitW: null, maxClockMhz: null, maxMemoryClockMhz: null, clockMhz: null };
  const state = { temperatureC: null, limitC: null, utilisation: null, throttled: null };
  return { source: "sysfs", vendor: "nvidia", name, uuid: null, pciAddress, nodes, ...unknown, ...state };
}

/** Files of a driver that a process can execute. */
async function driversOf(host: DeviceHost): Promise<string[]> {
  const maps = await readFile(`/proc/${host.pid}/maps`, "utf8");
  return [...new Set([...maps.matchAll(/ r-xp .*?(\/\S+libvk_swiftshader\.so)/g)].map(([, file = ""]) => file))];
}

test("each of two equal cards is a device of its own, known by its address", { timeout: TIMEOUT_MS }, async () => {
  const hosts = await startGpus(ADDRESSES, shared, async () => cards);
  try {
    expect(hosts.map(({ device }) => [device.key, device.board?.pciAddress, device.board?.matchedBy])).toEqual([
      ["gpu0", ADDRESSES[0], "address"],
      ["gpu1", ADDRESSES[1], "address"],
    ]);
    expect(hosts.map(({ adapters }) => adapters)).toEqual([[name], [name]]);
    expect(hosts[0]!.device.fingerprint).toEqual(hosts[1]!.device.fingerprint);
    const used = await Promise.all(hosts.map(driversOf));
    expect(used).toEqual(cards.map(({ nodes }) => nodes));
    // A killed process comes back with the same card, and work apart has it, too.
    process.kill(hosts[1]!.pid!, "SIGKILL");
    await vi.waitFor(() => expect(hosts[1]).toMatchObject({ restarts: 1, isDown: false }), TIMEOUT_MS);
    expect(await driversOf(hosts[1]!)).toEqual(cards[1]!.nodes);
  } finally {
    await Promise.all(hosts.map((host) => host.stop()));
  }
});

test("a card that cannot be shown alone, or is not there, is left out and told", { timeout: TIMEOUT_MS }, async () => {
  const told: unknown[] = [];
  const warn = (fields: object, message: string) => told.push([message, fields]);
  const loud = { ...shared, logger: { info: () => {}, error: () => {}, warn } as never };
  // Without a known file of the other card, a process sees both.
  const open = [cards[0]!, { ...cards[1]!, nodes: [] }];
  const hosts = await startGpus([ADDRESSES[0]!, "0000:43:00.0"], loud, async () => open);
  expect(hosts).toEqual([]);
  expect(told).toEqual(
    expect.arrayContaining([
      [expect.stringContaining("a card cannot be shown alone"), expect.objectContaining({})],
      ["a card is not alone", expect.objectContaining({ adapters: [name, name] })],
      ["no card of this machine has this address or UUID", expect.objectContaining({ entry: "0000:43:00.0" })],
    ]),
  );
});

test("a card of the list whose name no other has needs no view of its own", { timeout: TIMEOUT_MS }, async () => {
  const open = [cards[0]!, { ...cards[1]!, name: "NVIDIA H100" }];
  const [host, ...others] = await startGpus([ADDRESSES[0]!], shared, async () => open);
  expect(others).toEqual([]);
  expect(host).toMatchObject({ view: undefined, device: { key: "gpu0" } });
  await host?.stop();
});

test(
  "without a list the equal cards are told apart, and the first is used where that fails",
  async () => {
    const entry = new URL("faulty/posing-device.ts", import.meta.url);
    const warn = vi.fn<(fields: object, message: string) => void>();
    const posing = { ...shared, entry, logger: { info: () => {}, error: () => {}, warn } as never };
    const real = cards.map((card) => ({ ...card, name: "NVIDIA Poser" }));
    const apart = await startGpus("auto", posing, async () => real);
    expect(apart.map(({ device }) => [device.key, device.board?.pciAddress])).toEqual([
      ["gpu0", ADDRESSES[0]],
      ["gpu1", ADDRESSES[1]],
    ]);
    expect(warn).not.toHaveBeenCalled();
    await Promise.all(apart.map((host) => host.stop()));

    const together = await startGpus("auto", posing, async () => []);
    expect(together.map(({ device }) => [device.key, device.board])).toEqual([["gpu0", undefined]]);
    expect(warn).toHaveBeenCalledWith(
      { adapter: "NVIDIA Poser", seen: 2, used: 1 },
      expect.stringContaining("equal GPUs cannot be told apart here"),
    );
    await Promise.all(together.map((host) => host.stop()));
  },
  TIMEOUT_MS,
);
