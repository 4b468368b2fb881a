import type { ReplayField } from "../../protocol/jobs/evaluation/replay-file.ts";
import { numbersOf, type ReplayRecord } from "./replay.ts";
import { drawScene, type Scene, type Shape } from "./scene.ts";

const GAME_SIDE = 10;

interface ScenePictureProps {
  readonly environment: string;
  readonly fields: readonly ReplayField[];
  readonly record: ReplayRecord;
  /** Text alternative for screen readers. */
  readonly label: string;
}

/** A state as a picture: a scene, a game's cells; nothing of an environment that has neither. */
export function ScenePicture({ environment, fields, record, label }: ScenePictureProps) {
  const cells = numbersOf(fields, record, "cells");
  if (cells !== null) return <GamePicture cells={cells} label={label} />;
  const scene = drawScene(environment, fields, record);
  return scene === null ? null : <Picture scene={scene} label={label} />;
}

function Picture({ scene: { left, bottom, width, height, shapes }, label }: { scene: Scene; label: string }) {
  return (
    <svg class="scene" viewBox={`${left} ${-bottom - height} ${width} ${height}`} role="img" aria-label={label}>
      {shapes.map((shape, index) => (
        <ShapeOf key={index} shape={shape} />
      ))}
    </svg>
  );
}

/** Heights grow upwards, and an SVG's downwards. */
function ShapeOf({ shape }: { shape: Shape }) {
  if (shape.kind === "line") {
    return <polyline class={shape.role} points={shape.points.map(([x, y]) => `${x},${-y}`).join(" ")} />;
  }
  const [x, y] = shape.at;
  if (shape.kind === "circle") return <circle class={shape.role} cx={x} cy={-y} r={shape.r} />;
  const [width, height] = shape.size;
  return <rect class={shape.role} x={x - width / 2} y={-y - height / 2} width={width} height={height} />;
}

/** Cells in the colour of their first channel; the state table lists cells with several. */
function GamePicture({ cells, label }: { cells: readonly number[]; label: string }) {
  return (
    <svg class="scene game" viewBox={`0 0 ${GAME_SIDE} ${GAME_SIDE}`} role="img" aria-label={label}>
      <rect class="board" width={GAME_SIDE} height={GAME_SIDE} />
      {cells.map((bits, cell) =>
        bits === 0 ? null : (
          <rect
            key={cell}
            class={`channel-${31 - Math.clz32(bits & -bits)}`}
            x={(cell % GAME_SIDE) + 0.04}
            y={Math.floor(cell / GAME_SIDE) + 0.04}
            width={0.92}
            height={0.92}
          />
        ),
      )}
    </svg>
  );
}
