import { formatShare } from "../numbers.ts";
import { type KindWords, linkModel } from "./kind.ts";

export const calibration: KindWords<"calibration"> = {
  kind: "calibration",
  name: ({ modelVersionId }, { models }) => models.get(modelVersionId) ?? modelVersionId,
  parts: ({ iterations }) => [`${iterations} iterations`],
  result: ({ placements, skipped = [], linkMs }, { measure, bytes }) => ({
    table: {
      caption: "Placements",
      columns: ["placement", "answers", "fidelity", "one row", "loaded in", "memory"],
      rows: placements.map(({ variant, backend, deviceKey, agrees, fidelity, sweep, loadMs, memory }) => [
        `${variant} on ${deviceKey} by ${backend}`,
        agrees ? { tone: "good", word: "agree" } : { tone: "bad", word: "differ" },
        formatShare(fidelity),
        measure(sweep[0]?.serviceMs.p50, "ms"),
        measure(loadMs, "ms"),
        bytes(memory?.baseBytes),
      ]),
    },
    facts: [
      ["link", { distribution: linkMs, unit: "ms" }],
      ...placements.flatMap(({ variant, backend, deviceKey, nodes }) => {
        const onCpu = Object.entries(nodes?.onCpu ?? {});
        if (onCpu.length === 0) return [];
        const where = `${variant} on ${deviceKey} by ${backend}`;
        return [["on the CPU", `${where}: ${onCpu.map(([name, count]) => `${count} ${name}`).join(", ")}`] as const];
      }),
      ...skipped.map(
        ({ variant, backend, deviceKey, problem }) =>
          ["left out", `${variant} on ${deviceKey} by ${backend}: ${problem.detail}`] as const,
      ),
    ],
  }),
  links: ({ spec: { modelVersionId } }, { models }) => {
    const model = models.get(modelVersionId)?.split("@")[0];
    return model === undefined ? [] : [linkModel(model)];
  },
  again: (spec) => spec,
};
