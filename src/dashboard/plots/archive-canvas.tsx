import { useEffect, useRef } from "preact/hooks";
import { type ArchiveMap, type MapPlace, moveInMap, placeOf, shadeFitness } from "./map-cells.ts";
import { readPlotTheme } from "./plot-theme.ts";
import { useColourScheme, useWidth } from "../ui/hooks/use-screen.ts";

const KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);

interface ArchiveCanvasProps {
  readonly map: ArchiveMap;
  readonly place: MapPlace | null;
  readonly label: string;
  readonly onPlace: (place: MapPlace | null) => void;
}

/** The cells of an archive, by pointer and by keys; too many for elements of the page. */
export function ArchiveCanvas({ map, place, label, onPlace }: ArchiveCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const side = useWidth(canvas) ?? 0;
  const scheme = useColourScheme();
  const height = map.rows === 1 ? side / 8 : side;
  useEffect(() => {
    if (canvas.current !== null && side > 0) drawMap(canvas.current, map, place, { width: side, height });
  }, [map, place, side, height, scheme]);

  const point = (event: PointerEvent) => {
    const { left, top, width, height: tall } = canvas.current!.getBoundingClientRect();
    const column = Math.floor(((event.clientX - left) / width) * map.columns);
    const row = map.rows - 1 - Math.floor(((event.clientY - top) / tall) * map.rows);
    const isInside = column >= 0 && row >= 0 && column < map.columns && row < map.rows;
    onPlace(isInside ? { column, row } : null);
  };
  const move = (event: KeyboardEvent) => {
    if (!KEYS.has(event.key)) return;
    event.preventDefault();
    onPlace(place === null ? bestPlace(map) : moveInMap(place, event.key, map));
  };
  return (
    <canvas
      ref={canvas}
      width={side}
      height={height}
      role="application"
      aria-roledescription="heat map"
      aria-label={label}
      tabIndex={0}
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={() => onPlace(null)}
      onKeyDown={move}
    />
  );
}

function bestPlace(map: ArchiveMap): MapPlace {
  const [best] = [...map.elites].toSorted(([, a], [, b]) => b.fitness - a.fitness);
  return placeOf(map, best?.[0] ?? 0);
}

function drawMap(
  canvas: HTMLCanvasElement,
  map: ArchiveMap,
  place: MapPlace | null,
  { width, height }: { readonly width: number; readonly height: number },
): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const ratio = window.devicePixelRatio;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  context.scale(ratio, ratio);
  const { colour } = readPlotTheme(canvas);
  // On whole pixels, or seams would show between cells.
  const across = (column: number) => Math.round((column * width) / map.columns);
  const down = (row: number) => Math.round(((map.rows - row) * height) / map.rows);
  const boxOf = ({ column, row }: MapPlace) => {
    const [x, y] = [across(column), down(row + 1)];
    return [x, y, across(column + 1) - x, down(row) - y] as const;
  };
  context.fillStyle = colour("p50");
  for (const [pair, { fitness }] of map.elites) {
    context.globalAlpha = shadeFitness(fitness, map);
    context.fillRect(...boxOf(placeOf(map, pair)));
  }
  context.globalAlpha = 1;
  if (place === null) return;
  context.strokeStyle = colour("text");
  context.lineWidth = 2;
  const [x, y, wide, tall] = boxOf(place);
  context.strokeRect(x - 1, y - 1, wide + 2, tall + 2);
}
