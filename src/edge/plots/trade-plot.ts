import type { Trade, TradedPlacement } from "../../protocol/trade.ts";
import { paretoFront } from "../../stats/pareto-front.ts";
import type { ColourName } from "./plot-colours.ts";
import type { MarkShape, PlotLayer, PlotMark, PlotSpec } from "./plot-spec.ts";
import { valueText } from "./plot-text.ts";

interface PlacedMark extends PlotMark {
  readonly software: boolean;
}

/**
 * Placements of a version by the latency of one row and the fidelity that is lost, since most lose little. The line is
 * the front in these two alone, of real hardware; where there is none, of software devices, which are never compared
 * with it. Null where none was measured.
 */
export function tradePlot({ model, version, items }: Trade): PlotSpec | null {
  const marks = items.flatMap(toMark);
  if (marks.length === 0) return null;
  const [real, emulated] = [false, true].map((software) => marks.filter((mark) => mark.software === software));
  const compared = real!.length > 0 ? real! : emulated!;
  const front = frontOf(compared);
  const isOn = new Set(front);
  const others = compared.filter((mark) => !isOn.has(mark));
  const layers: PlotLayer[] = [
    { kind: "line", name: "front", colour: "first", points: front.map(({ x, y }) => [x, y] as const) },
    ...layerOf("beaten", "muted", "ring", others),
    ...layerOf("on the front", "first", "dot", front),
    ...(compared === emulated ? [] : layerOf("software device", "third", "square", emulated!)),
  ];
  return {
    title: `${model}@${version}: latency against fidelity`,
    description: `${marks.length} placements. On the front: ${front.map(({ title }) => title).join("; ")}.`,
    xLabel: "p50 of one row, ms",
    panels: [{ label: "fidelity lost, %", layers }],
  };
}

function toMark({ variant, deviceKey, backend, software, state, fidelity, p50Ms }: TradedPlacement): PlacedMark[] {
  if (state !== "eligible" || fidelity === null) return [];
  const title = `${variant} on ${deviceKey} by ${backend}: ${valueText(p50Ms)} ms, fidelity ${valueText(fidelity)}`;
  // Without the digits that only the subtraction makes.
  return [{ x: p50Ms, y: Number((100 * (1 - fidelity)).toFixed(9)), title, software }];
}

/** By latency, rising. */
function frontOf(marks: readonly PlacedMark[]): PlacedMark[] {
  return paretoFront(marks, ["lower", "lower"], ({ x, y }) => [x, y]).toSorted((a, b) => a.x - b.x);
}

function layerOf(name: string, colour: ColourName, shape: MarkShape, marks: readonly PlotMark[]): PlotLayer[] {
  return marks.length === 0 ? [] : [{ kind: "marks", name, colour, shape, marks }];
}
