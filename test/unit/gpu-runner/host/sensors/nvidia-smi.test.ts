import { describe, expect, it } from "vitest";
import { NvidiaSmi, type RunProgram } from "../../../../../src/gpu-runner/host/sensors/nvidia-smi.ts";

const ROW = "NVIDIA T4, GPU-1, 00000000:00:1E.0, 15360, 70.00, 1590, 5001, 585, 44, 3, 0x0000000000000001";

/** A program that answers each call by the next of these. */
function scripted(...answers: (string | Error)[]) {
  const asked: string[] = [];
  const run: RunProgram = async (_, [query = ""]) => {
    asked.push(query);
    const answer = answers.shift() ?? expect.unreachable();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, smi: new NvidiaSmi(run) };
}

const failure = (fields: object) => Object.assign(new Error("failed"), fields);

describe("nvidia-smi", () => {
  it("is asked once for readings that follow at once, and again later", async () => {
    const { asked, smi } = scripted(ROW, ROW.replace("585", "1590"));
    expect((await smi.read(0))[0]?.clockMhz).toBe(585);
    expect((await smi.read(1_999))[0]?.clockMhz).toBe(585);
    expect(asked).toHaveLength(1);
    expect((await smi.read(2_000))[0]?.clockMhz).toBe(1_590);
  });

  it("is asked once at a time", async () => {
    const { asked, smi } = scripted(ROW);
    const both = await Promise.all([smi.read(0), smi.read(0)]);
    expect(both.map(([board]) => board?.name)).toEqual(["NVIDIA T4", "NVIDIA T4"]);
    expect(asked).toHaveLength(1);
  });

  it("is not looked for again where it is not there", async () => {
    const { asked, smi } = scripted(failure({ code: "ENOENT" }));
    expect(await smi.read(0)).toEqual([]);
    expect(await smi.read(1e9)).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it("is left alone for a minute where its driver does not answer", async () => {
    const { asked, smi } = scripted(failure({ code: 9 }), ROW);
    expect(await smi.read(0)).toEqual([]);
    expect(await smi.read(59_999)).toEqual([]);
    expect(asked).toHaveLength(1);
    expect(await smi.read(60_000)).toHaveLength(1);
  });

  it("of an older driver is asked by the older name, from then on", async () => {
    const stdout = 'Field "clocks_event_reasons.active" is not a valid field to query.\n';
    const { asked, smi } = scripted(failure({ code: 2, stdout }), ROW, ROW);
    expect(await smi.read(0)).toHaveLength(1);
    expect(await smi.read(5_000)).toHaveLength(1);
    expect(asked.map((query) => query.split(",").at(-1))).toEqual([
      "clocks_event_reasons.active",
      "clocks_throttle_reasons.active",
      "clocks_throttle_reasons.active",
    ]);
  });
});
