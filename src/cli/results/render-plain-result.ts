import type { JobResult } from "../../protocol/job.ts";
import { formatValue } from "../render/format-values.ts";
import { renderFacts } from "../render/render-facts.ts";

/** A result that has no picture of its own: its kind and what of it is a number or a word; --json has the rest. */
export function renderPlainResult({ kind, ...result }: JobResult): string {
  const facts = Object.entries(result).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    if (typeof value === "number") return [[name, formatValue(value)]];
    return typeof value === "string" || typeof value === "boolean" ? [[name, String(value)]] : [];
  });
  return renderFacts([["job", `${kind}; --json prints all of it`], ...facts]);
}
