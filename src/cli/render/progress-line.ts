import { performance } from "node:perf_hooks";
import type { Shell } from "../shell/shell.ts";
import { formatSpan } from "./format-values.ts";

const BAR_COLUMNS = 24;
const EIGHTHS = " ▏▎▍▌▋▊▉";

/** Progress of long work for the user. */
export interface Progress {
  readonly what: string;
  readonly done: number;
  /** 0 if unknown. */
  readonly total: number;
  readonly note?: string | undefined;
}

/** Shows progress: a bar that is drawn over on a terminal, a line for each new thing elsewhere, nothing where not wanted. */
export interface ProgressLine {
  show(progress: Progress): void;
  /** Takes the bar away. */
  clear(): void;
}

export function openProgressLine(shell: Shell, wanted: boolean): ProgressLine {
  if (!wanted) return { show: () => {}, clear: () => {} };
  const columns = shell.warnColumns;
  if (columns === undefined) return plainLines(shell);
  const startedMs = performance.now();
  let last: Progress | null = null;
  const draw = () => {
    if (last !== null) shell.warn(`\r\x1b[K${renderProgress(last, performance.now() - startedMs, columns - 1)}`);
  };
  // The time beside the bar goes on where nothing else does.
  const timer = setInterval(draw, 1_000);
  timer.unref();
  return {
    show: (progress) => {
      last = progress;
      draw();
    },
    clear: () => {
      clearInterval(timer);
      if (last !== null) shell.warn("\r\x1b[K");
      last = null;
    },
  };
}

function plainLines({ warn }: Shell): ProgressLine {
  let told = "";
  return {
    show: ({ what }) => {
      if (what !== told) warn(`${what}\n`);
      told = what;
    },
    clear: () => {},
  };
}

/** At most so many characters: `measuring ███████▌      53 % 8/15 · 12.0 s`. */
export function renderProgress({ what, done, total, note }: Progress, elapsedMs: number, columns: number): string {
  const share = total > 0 ? Math.min(1, done / total) : null;
  const parts = [
    share === null ? what : `${what} ${renderBar(share, BAR_COLUMNS)} ${Math.floor(100 * share)} % ${done}/${total}`,
    ...(note === undefined ? [] : [note]),
    formatSpan(elapsedMs),
  ];
  return Array.from(parts.join(" · ")).slice(0, Math.max(0, columns)).join("");
}

/** A share as a bar of blocks, to an eighth of a column. */
export function renderBar(share: number, columns: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * columns * 8);
  const full = "█".repeat(Math.floor(eighths / 8));
  const rest = eighths % 8 === 0 ? "" : EIGHTHS.charAt(eighths % 8);
  return (full + rest).padEnd(columns);
}
