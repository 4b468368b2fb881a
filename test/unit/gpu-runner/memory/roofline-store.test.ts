import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RooflineStore } from "../../../../src/gpu-runner/memory/roofline-store.ts";
import type { Device } from "../../../../src/protocol/fleet/hardware.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import type { Roofline } from "../../../../src/protocol/fleet/roofline.ts";
import { capabilities } from "../../../edge/stack/samples.ts";

const NOW_MS = Date.parse("2026-11-21T09:30:00.000Z");
const DAY_MS = 86_400_000;
const roofline: Roofline = {
  measuredAt: new Date(NOW_MS).toISOString(),
  tookMs: 1,
  loadAverage: 0,
  gflops: { float32: null, float16: null, int8: null },
  gigabytesPerSecond: { triad: null, copy: null, read: null },
  missing: {},
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-rooflines-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const newDevice = (changes: Partial<Device["fingerprint"]> = {}): Device => {
  const [, gpu] = structuredClone(capabilities.devices);
  return { ...gpu!, fingerprint: { ...gpu!.fingerprint, ...changes } };
};

function openStore(device: Device, measure = async (): Promise<Roofline> => roofline) {
  const told: Device[] = [];
  const store = new RooflineStore(folder, (each) => told.push(each));
  const work = vi.fn<typeof measure>(measure);
  const ensure = (nowMs = NOW_MS) => store.ensure({ device, work } as never, nowMs, {});
  return { store, told, work, ensure };
}

describe("the roofs of a device", () => {
  it("are measured once, reported, and kept with the device", async () => {
    const device = newDevice();
    const { told, work, ensure } = openStore(device);
    expect(await ensure()).toEqual({ roofline, missing: null });
    expect(await ensure()).toEqual({ roofline, missing: null });
    expect(work).toHaveBeenCalledOnce();
    expect(told).toEqual([device]);
    expect(device.roofline).toEqual(roofline);
  });

  it("are remembered on the disk for the same fingerprint only, until they are too old", async () => {
    await openStore(newDevice()).ensure();
    const recalled = async (device: Device, nowMs = NOW_MS) => {
      await openStore(device).store.recall(device, nowMs);
      return device.roofline;
    };
    expect(await recalled(newDevice())).toEqual(roofline);
    expect(await recalled(newDevice({ driver: "2" }))).toBeNull();
    expect(await recalled(newDevice(), NOW_MS + 29 * DAY_MS)).toEqual(roofline);
    expect(await recalled(newDevice(), NOW_MS + 31 * DAY_MS)).toBeNull();
  });

  it("are measured anew where they have grown old", async () => {
    const { work, ensure } = openStore(newDevice());
    await ensure();
    await ensure(NOW_MS + 31 * DAY_MS);
    expect(work).toHaveBeenCalledTimes(2);
  });

  it("are not taken from a file that holds something else", async () => {
    await openStore(newDevice()).ensure();
    const [file] = await readdir(join(folder, "rooflines"));
    await writeFile(join(folder, "rooflines", file!), '{"measuredAt": "never"}');
    const device = newDevice();
    await openStore(device).store.recall(device, NOW_MS);
    expect(device.roofline).toBeNull();
  });

  it("that cannot be measured are missing with the reason, and not tried again and again", async () => {
    const { work, told, ensure } = openStore(newDevice(), () =>
      Promise.reject(new ProblemError("kernel-timeout", "It hung.")),
    );
    for (let i = 0; i < 2; i++) {
      expect(await ensure()).toEqual({ roofline: null, missing: expect.stringContaining("It hung.") });
    }
    expect(work).toHaveBeenCalledOnce();
    expect(told).toEqual([]);
  });

  it("end with the job that wanted them", async () => {
    const { ensure } = openStore(newDevice(), () => Promise.reject(new ProblemError("cancelled", "Enough.")));
    await expect(ensure()).rejects.toThrow("Enough.");
  });

  it("cost no job its result where the disk is full", async () => {
    await writeFile(join(folder, "rooflines"), "in the way");
    expect(await openStore(newDevice()).ensure()).toEqual({ roofline, missing: null });
  });
});
