import { describe, expect, it } from "vitest";
import {
  cardsNamed,
  describeBoard,
  type GpuBoard,
  matchBoards,
  noteBoards,
} from "../../../../../src/gpu-runner/host/sensors/gpu-board.ts";
import { Device } from "../../../../../src/protocol/fleet/hardware.ts";
import { capabilities } from "../../../../edge/stack/samples.ts";
import { createSensorReader, readCards } from "../../../../../src/gpu-runner/host/sensors/read-sensors.ts";
import { parseClockTable } from "../../../../../src/gpu-runner/host/sensors/read-drm-boards.ts";
import { parseNvidiaRows } from "../../../../../src/gpu-runner/host/sensors/nvidia-smi.ts";
import { changeFiles, layOutMachine } from "./machine-files.ts";

const none = { read: async () => [] };
const gpu = (key: string, name: string, adapter: string) => ({
  key,
  name,
  kind: "gpu" as const,
  software: false,
  fingerprint: { adapter },
});
const CPUFREQ = "sys/devices/system/cpu/cpufreq";
const unread = { temperatureC: null, limitC: null, utilisation: null, throttled: null };

describe("the sensors of a CPU", () => {
  it("are the fastest core's clock and the hottest sensor of an Intel processor", async () => {
    const root = await layOutMachine({
      [`${CPUFREQ}/policy0/scaling_cur_freq`]: 800_000,
      [`${CPUFREQ}/policy0/cpuinfo_max_freq`]: 4_700_000,
      [`${CPUFREQ}/policy10/scaling_cur_freq`]: 3_912_345,
      [`${CPUFREQ}/policy10/cpuinfo_max_freq`]: 5_000_000,
      "sys/class/hwmon/hwmon0/name": "nvme",
      "sys/class/hwmon/hwmon0/temp1_input": 99_000,
      "sys/class/hwmon/hwmon3/name": "coretemp",
      "sys/class/hwmon/hwmon3/temp1_label": "Package id 0",
      "sys/class/hwmon/hwmon3/temp1_input": 67_000,
      "sys/class/hwmon/hwmon3/temp1_max": 84_000,
      "sys/class/hwmon/hwmon3/temp1_crit": 100_000,
      "sys/class/hwmon/hwmon3/temp2_label": "Core 0",
      "sys/class/hwmon/hwmon3/temp2_input": 61_000,
    });
    const sensors = await createSensorReader({ root, nvidia: none })([]);
    const heat = { temperatureC: 67, limitC: 100, utilisation: null, throttled: null };
    expect(sensors).toEqual([{ of: "cpu", clockMhz: 3_912.345, maxClockMhz: 5_000, ...heat, source: "sysfs" }]);
  });

  it("are the temperature of an AMD processor, not the one that its fans go by", async () => {
    const root = await layOutMachine({
      "sys/class/hwmon/hwmon0/name": "k10temp",
      "sys/class/hwmon/hwmon0/temp1_label": "Tctl",
      "sys/class/hwmon/hwmon0/temp1_input": 95_125,
      "sys/class/hwmon/hwmon0/temp2_label": "Tdie",
      "sys/class/hwmon/hwmon0/temp2_input": 68_125,
    });
    expect(await createSensorReader({ root, nvidia: none })([])).toMatchObject([
      { temperatureC: 68.125, limitC: null },
    ]);
  });

  it("are those of the thermal zones where no chip is reported, as on an ARM board", async () => {
    const zone = "sys/class/thermal/thermal_zone1";
    const root = await layOutMachine({
      "sys/class/thermal/thermal_zone0/type": "gpu-thermal",
      "sys/class/thermal/thermal_zone0/temp": 90_000,
      [`${zone}/type`]: "cpu-thermal",
      [`${zone}/temp`]: 51_540,
      [`${zone}/trip_point_0_type`]: "critical",
      [`${zone}/trip_point_0_temp`]: 104_500,
      [`${zone}/trip_point_1_type`]: "passive",
      [`${zone}/trip_point_1_temp`]: 99_000,
      "proc/cpuinfo": "processor\t: 0\nFeatures\t: fp asimd",
    });
    const sensors = await createSensorReader({ root, nvidia: none })([]);
    expect(sensors).toMatchObject([{ clockMhz: null, temperatureC: 51.54, limitC: 99 }]);
  });

  it("are the clock of /proc/cpuinfo in a virtual machine", async () => {
    const root = await layOutMachine({
      "proc/cpuinfo": "processor\t: 0\ncpu MHz\t\t: 2299.998\n\nprocessor\t: 1\ncpu MHz\t\t: 2300.100",
    });
    const sensors = await createSensorReader({ root, nvidia: none })([]);
    expect(sensors).toEqual([{ of: "cpu", clockMhz: 2_300.1, maxClockMhz: null, ...unread, source: "proc" }]);
  });

  it("are none where nothing can be read", async () => {
    expect(await createSensorReader({ root: await layOutMachine({}), nvidia: none })([])).toEqual([]);
  });

  it("say that it slows itself down while the counters grow", async () => {
    const counters = "sys/devices/system/cpu/cpu1/thermal_throttle";
    const root = await layOutMachine({
      [`${CPUFREQ}/policy0/scaling_cur_freq`]: 1_000_000,
      [`${counters}/core_throttle_count`]: 7,
      [`${counters}/package_throttle_count`]: 2,
    });
    const read = createSensorReader({ root, nvidia: none });
    expect((await read([]))[0]?.throttled).toBeNull();
    await changeFiles(root, { [`${counters}/core_throttle_count`]: 10 });
    expect((await read([]))[0]?.throttled).toBe("too hot 3 times since the last reading");
    expect((await read([]))[0]?.throttled).toBeNull();
  });
});

const row = (cells: Partial<Record<"name" | "address" | "clock" | "busy" | "reasons" | "degrees", string>>) =>
  [
    cells.name ?? "NVIDIA H100 80GB HBM3",
    "GPU-5a1f0c3e-aaaa-bbbb-cccc-0123456789ab",
    cells.address ?? "00000000:41:00.0",
    "81559",
    "700.00",
    "1980",
    "2619",
    cells.clock ?? "1755",
    cells.degrees ?? "41",
    cells.busy ?? "97",
    cells.reasons ?? "0x0000000000000000",
  ].join(", ");

describe("a row of nvidia-smi", () => {
  it("is a card", () => {
    expect(parseNvidiaRows(`${row({})}\n`)).toEqual([
      {
        source: "nvidia-smi",
        vendor: "nvidia",
        name: "NVIDIA H100 80GB HBM3",
        uuid: "GPU-5a1f0c3e-aaaa-bbbb-cccc-0123456789ab",
        pciAddress: "0000:41:00.0",
        memoryBytes: 81_559 * 2 ** 20,
        powerLimitW: 700,
        maxClockMhz: 1_980,
        maxMemoryClockMhz: 2_619,
        clockMhz: 1_755,
        temperatureC: 41,
        limitC: null,
        utilisation: 0.97,
        throttled: null,
      } satisfies GpuBoard,
    ]);
  });

  it("holds nulls for values that the card does not report", () => {
    const [board] = parseNvidiaRows(row({ busy: "[N/A]", degrees: "[Not Supported]", reasons: "[Unknown Error]" }));
    expect(board).toMatchObject({ utilisation: null, temperatureC: null, throttled: null, clockMhz: 1_755 });
  });

  it.each([
    ["0x0000000000000001", null],
    ["0x0000000000000002", null],
    ["0x0000000000000004", "power cap"],
    ["0x0000000000000048", "hardware slowdown, thermal slowdown by the card"],
    ["0x0000000000000021", "thermal slowdown by the driver"],
  ])("with the reasons %s is throttled by %s", (reasons, throttled) => {
    expect(parseNvidiaRows(row({ reasons }))[0]?.throttled).toBe(throttled);
  });

  it("is none where a line is a message", () => {
    expect(parseNvidiaRows("No devices were found\n")).toEqual([]);
  });
});

describe("the sensors of GPUs", () => {
  const nvidia = (...rows: string[]) => ({ read: async () => parseNvidiaRows(rows.join("\n")) });

  it("are matched by name; a GPU by two runtimes is one card", async () => {
    const root = await layOutMachine({});
    const read = createSensorReader({ root, nvidia: nvidia(row({ name: "NVIDIA T400", clock: "420" }), row({})) });
    const sensors = await read([
      gpu("gpu0", "nvidia-h100-80gb-hbm3", "nvidia hopper nvidia-h100-80gb-hbm3"),
      gpu("ort-gpu0", "nvidia-h100-80gb-hbm3", "nvidia hopper nvidia-h100-80gb-hbm3"),
      gpu("gpu1", "nvidia-t400", "nvidia turing nvidia-t400"),
    ]);
    expect(sensors.map(({ of, clockMhz }) => [of, clockMhz])).toEqual([
      ["gpu0", 1_755],
      ["ort-gpu0", 1_755],
      ["gpu1", 420],
    ]);
  });

  it("of equal cards are told apart by the address of the card that a device was shown", async () => {
    const rows = nvidia(row({}), row({ address: "00000000:42:00.0", clock: "300" }));
    const cards = await readCards({ root: await layOutMachine({}), nvidia: rows });
    const shown = (key: string, place: number) => ({
      ...gpu(key, "nvidia-h100-80gb-hbm3", "nvidia hopper"),
      board: describeBoard({ ...cards[place]!, matchedBy: "address" }),
    });
    const read = createSensorReader({ root: await layOutMachine({}), nvidia: rows });
    expect(await read([shown("gpu0", 1), shown("gpu1", 0)])).toMatchObject([
      { of: "gpu0", clockMhz: 300 },
      { of: "gpu1", clockMhz: 1_755 },
    ]);
    // A device that was shown every card gets one that no other has.
    const other = gpu("gpu1", "nvidia-h100-80gb-hbm3", "nvidia hopper");
    expect(await read([shown("gpu0", 0), other])).toMatchObject([{ clockMhz: 1_755 }, { clockMhz: 300 }]);
  });

  it("are those of AMD's cards, the one with the most memory for the first adapter", async () => {
    const chip = "sys/class/drm/card1/device/hwmon/hwmon4";
    const root = await layOutMachine({
      "sys/class/drm/card0/device/vendor": "0x1002",
      "sys/class/drm/card0/device/mem_info_vram_total": 536_870_912,
      "sys/class/drm/card0/device/pp_dpm_sclk": "0: 200Mhz \n1: 800Mhz *\n2: 2200Mhz ",
      "sys/class/drm/card0-HDMI-A-1/status": "connected",
      "sys/class/drm/card1/device/vendor": "0x1002",
      "sys/class/drm/card1/device/mem_info_vram_total": 17_163_091_968,
      "sys/class/drm/card1/device/gpu_busy_percent": 64,
      "sys/class/drm/card1/device/pp_dpm_sclk": "0: 500Mhz\n1: 2105Mhz *\n2: 2575Mhz",
      [`${chip}/name`]: "amdgpu",
      [`${chip}/temp1_input`]: 71_000,
      [`${chip}/temp1_crit`]: 100_000,
      [`${chip}/freq1_input`]: 2_104_000_000,
    });
    const sensors = await createSensorReader({ root, nvidia: none })([
      gpu("gpu0", "amd-radeon-rx-6900-xt-radv-navi21", "amd rdna-2 amd-radeon-rx-6900-xt-radv-navi21"),
      gpu("gpu1", "amd-radeon-graphics-radv-raphael", "amd rdna-2 amd-radeon-graphics-radv-raphael"),
    ]);
    const large = { of: "gpu0", clockMhz: 2_104, maxClockMhz: 2_575, temperatureC: 71, limitC: 100, utilisation: 0.64 };
    const small = { of: "gpu1", clockMhz: 800, maxClockMhz: 2_200, ...unread };
    expect(sensors).toEqual([
      { ...large, throttled: null, source: "sysfs" },
      { ...small, source: "sysfs" },
    ]);
  });

  it("are those of Intel's cards by either driver, with why they are slow", async () => {
    const arc = "sys/class/drm/card1";
    const files = {
      i915: {
        [`${arc}/gt_act_freq_mhz`]: 600,
        [`${arc}/gt_RP0_freq_mhz`]: 2_400,
        [`${arc}/gt/gt0/throttle_reason_status`]: 1,
        [`${arc}/gt/gt0/throttle_reason_thermal`]: 1,
        [`${arc}/gt/gt0/throttle_reason_pl1`]: 0,
      },
      xe: {
        [`${arc}/device/tile0/gt0/freq0/act_freq`]: 600,
        [`${arc}/device/tile0/gt0/freq0/rp0_freq`]: 2_400,
        [`${arc}/device/tile0/gt0/freq0/throttle/status`]: 1,
        [`${arc}/device/tile0/gt0/freq0/throttle/reason_thermal`]: 1,
      },
    };
    for (const driver of Object.values(files)) {
      const root = await layOutMachine({ [`${arc}/device/vendor`]: "0x8086", ...driver });
      const sensors = await createSensorReader({ root, nvidia: none })([
        gpu("gpu0", "intel-r-arc-tm-a770-graphics-dg2", "intel gen-12hp intel-r-arc-tm-a770-graphics-dg2"),
      ]);
      expect(sensors).toMatchObject([{ clockMhz: 600, maxClockMhz: 2_400, throttled: "thermal" }]);
    }
  });

  it("are none of an emulation, and no program is asked for it", async () => {
    const asked = { read: async () => expect.unreachable() };
    const software = { ...gpu("gpu0", "swiftshader", "google swiftshader"), software: true };
    expect(await createSensorReader({ root: await layOutMachine({}), nvidia: asked })([software])).toEqual([]);
  });

  it("are left out where the card stays open", async () => {
    const rows = nvidia(row({ name: "NVIDIA A" }), row({ name: "NVIDIA B" }));
    const read = createSensorReader({ root: await layOutMachine({}), nvidia: rows });
    expect(await read([gpu("gpu0", "nvidia-c", "nvidia ampere nvidia-c")])).toEqual([]);
  });
});

describe("a table of clocks", () => {
  it("reports the one in force and the highest", () => {
    expect(parseClockTable("0: 300Mhz\n1: 1800Mhz *\n2: 2100Mhz")).toEqual({ currentMhz: 1_800, maxMhz: 2_100 });
    expect(parseClockTable("S: 19Mhz *\n0: 615MHz\n1: 800MHz")).toEqual({ currentMhz: 19, maxMhz: 800 });
    expect(parseClockTable("")).toEqual({ currentMhz: null, maxMhz: null });
  });
});

describe("what is known of cards", () => {
  it("stands with their devices, with the memory that WebGPU does not report", () => {
    const [cpu, sample] = capabilities.devices;
    const device: Device = { ...sample!, name: "nvidia-h100-80gb-hbm3", software: false };
    device.fingerprint = { ...device.fingerprint, adapter: "nvidia hopper" };
    const other: Device = { ...sample!, key: "gpu1", memoryBytes: 5 };
    const [board] = matchBoards([device], parseNvidiaRows(row({}))).values();
    noteBoards(
      [cpu!, device, other],
      new Map([
        ["gpu0", board!],
        ["gpu1", board!],
      ]),
    );
    expect(cpu!.board).toBeUndefined();
    expect(Device.parse(device)).toMatchObject({
      memoryBytes: 81_559 * 2 ** 20,
      board: { name: "NVIDIA H100 80GB HBM3", powerLimitW: 700, source: "nvidia-smi", matchedBy: "name" },
    });
    expect(other.memoryBytes).toBe(5);
  });
});

describe("the cards of a machine", () => {
  it("have the nodes by which programs reach them, of those that there are", async () => {
    const pci = "sys/bus/pci/devices/0000:42:00.0/drm";
    const root = await layOutMachine({
      "proc/driver/nvidia/gpus/0000:41:00.0/information": "Model: \t NVIDIA H100\nDevice Minor: \t 3",
      [`${pci}/card1/dev`]: "226:1",
      [`${pci}/renderD129/dev`]: "226:129",
      "dev/nvidia3": "",
      "dev/dri/renderD129": "",
    });
    const rows = [row({}), row({ address: "00000000:42:00.0" }), row({ address: "[N/A]" })];
    const cards = await readCards({ root, nvidia: { read: async () => parseNvidiaRows(rows.join("\n")) } });
    expect(cards.map(({ pciAddress, nodes }) => [pciAddress, nodes])).toEqual([
      ["0000:41:00.0", ["/dev/nvidia3"]],
      ["0000:42:00.0", ["/dev/dri/renderD129"]],
    ]);
  });

  it("are found for an adapter by name, and where they have none by vendor", () => {
    const [named] = parseNvidiaRows(row({}));
    const radeon: GpuBoard = { ...named!, vendor: "amd", name: null };
    expect(cardsNamed("NVIDIA H100 80GB HBM3", [radeon, named!])).toEqual([named]);
    expect(cardsNamed("AMD Radeon RX 7900 XTX (RADV NAVI31)", [radeon, named!])).toEqual([radeon]);
    expect(cardsNamed("Intel(R) Arc(tm) A770", [radeon, named!])).toEqual([]);
  });
});
