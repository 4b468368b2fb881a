import { styleText } from "node:util";
import type { Shell } from "../shell.ts";

const STYLES = { good: "green", bad: "red", doubtful: "yellow", faint: "dim", strong: "bold" } as const;
export type Tone = keyof typeof STYLES;

/** The text in a tone, where the output may have colours. */
export function paint({ colour }: Pick<Shell, "colour">, tone: Tone | undefined, text: string): string {
  return colour && tone !== undefined ? styleText(STYLES[tone], text, { validateStream: false }) : text;
}
