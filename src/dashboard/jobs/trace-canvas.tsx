import { useEffect, useRef } from "preact/hooks";
import { readPlotTheme } from "../plots/plot-theme.ts";
import { useColourScheme, useWidth } from "../ui/hooks/use-screen.ts";
import { drawTrace, findSpan, heightOf } from "./draw-trace.ts";
import { type LaidSpan, type LaidTrace, moveStretch, type TraceStretch, zoomStretch } from "./lay-out-trace.ts";

const WHEEL_ZOOM = 1.002;
/** Further than this, a press is a move and picks nothing. */
const CLICK_PX = 3;

interface TraceCanvasProps {
  readonly trace: LaidTrace;
  readonly shown: TraceStretch;
  readonly picked: LaidSpan | null;
  readonly label: string;
  readonly onStretch: (change: (shown: TraceStretch) => TraceStretch) => void;
  readonly onPick: (span: LaidSpan | null) => void;
  readonly onKey: (key: string) => boolean;
}

/** The lanes of a trace: dragged along, zoomed by the wheel with Ctrl, picked from by a click. */
export function TraceCanvas({ trace, shown, picked, label, onStretch, onPick, onKey }: TraceCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const press = useRef<{ readonly atX: number; lastX: number } | null>(null);
  const width = useWidth(canvas) ?? 0;
  const scheme = useColourScheme();
  const height = heightOf(trace);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (canvas.current === null || context == null || width === 0) return;
    canvas.current.width = width * devicePixelRatio;
    canvas.current.height = height * devicePixelRatio;
    context.scale(devicePixelRatio, devicePixelRatio);
    drawTrace(context, readPlotTheme(canvas.current), { trace, shown, picked, width });
  }, [trace, shown, picked, width, height, scheme]);

  const usOf = (px: number, of: TraceStretch) => (px / width) * (of.endUs - of.startUs);
  const zoom = (event: WheelEvent) => {
    const { deltaX, deltaY, offsetX, ctrlKey, metaKey, shiftKey } = event;
    const byX = shiftKey ? deltaY : deltaX;
    // A wheel alone scrolls the page.
    if (!ctrlKey && !metaKey && byX === 0) return;
    event.preventDefault();
    onStretch((now) =>
      ctrlKey || metaKey
        ? zoomStretch(now, WHEEL_ZOOM ** deltaY, now.startUs + usOf(offsetX, now), trace)
        : moveStretch(now, usOf(byX, now), trace),
    );
  };
  const down = (event: PointerEvent) => {
    canvas.current?.setPointerCapture(event.pointerId);
    press.current = { atX: event.offsetX, lastX: event.offsetX };
  };
  const move = ({ offsetX }: PointerEvent) => {
    const held = press.current;
    if (held === null) return;
    const byPx = held.lastX - offsetX;
    held.lastX = offsetX;
    onStretch((now) => moveStretch(now, usOf(byPx, now), trace));
  };
  const up = ({ offsetX, offsetY }: PointerEvent) => {
    const isClick = press.current !== null && Math.abs(offsetX - press.current.atX) <= CLICK_PX;
    press.current = null;
    if (isClick) onPick(findSpan(trace, shown, width, { x: offsetX, y: offsetY }));
  };
  return (
    <canvas
      ref={canvas}
      class="trace-canvas"
      height={height}
      role="application"
      aria-roledescription="timeline"
      aria-label={label}
      tabIndex={0}
      onWheel={zoom}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={() => (press.current = null)}
      onKeyDown={(event) => {
        if (!event.ctrlKey && !event.metaKey && !event.altKey && onKey(event.key)) event.preventDefault();
      }}
    />
  );
}
