import { parseInput } from "../../../protocol/wire/parse-input.ts";
import { z } from "zod";
import { type Imported, type ImportedMeasurement, toImported, toNumbers, WALL } from "./imported.ts";

const Output = z.object({
  results: z.array(
    z.object({
      command: z.string(),
      mean: z.number(),
      user: z.number().nullish(),
      system: z.number().nullish(),
      times: z.array(z.number()).nullish(),
      memory_usage_byte: z.array(z.number()).nullish(),
      parameters: z.record(z.string(), z.string()).nullish(),
    }),
  ),
});

const MS_PER_SECOND = 1_000;

/**
 * Output of hyperfine's `--export-json`, in seconds: the times of every run, the mean user and system times, and memory
 * where it was measured. Parameters become configuration.
 */
export function importHyperfine(json: unknown): Imported {
  const { results } = parseInput(Output, json);
  return toImported(
    results.flatMap(({ command, mean, user, system, times, memory_usage_byte, parameters }, index) => {
      const place = `#/results/${index}`;
      const base = { subject: command, configuration: parameters ?? {} };
      const seconds = times ?? [];
      const timed = seconds.length > 0 ? seconds : [mean];
      const single = (field: string, metric: string, value: number | null | undefined): ImportedMeasurement[] =>
        typeof value === "number"
          ? [{ ...base, ...WALL, metric, value: value * MS_PER_SECOND, pointer: `${place}/${field}` }]
          : [];
      const memory = memory_usage_byte ?? [];
      return [
        {
          ...base,
          ...WALL,
          ...toNumbers(timed.map((value) => value * MS_PER_SECOND)),
          pointer: seconds.length > 0 ? `${place}/times` : `${place}/mean`,
        },
        ...single("user", "userMs", user),
        ...single("system", "systemMs", system),
        ...(memory.length === 0
          ? []
          : [
              {
                ...base,
                metric: "memoryBytes",
                unit: "B",
                ...toNumbers(memory),
                pointer: `${place}/memory_usage_byte`,
              },
            ]),
      ];
    }),
  );
}
