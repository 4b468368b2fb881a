import { LIMITS } from "../../protocol/limits.ts";
import { Trace } from "../../protocol/trace.ts";

/** Whether a trace, if there is one, may be kept and given to people's viewers: within its limit, and of its form. */
export function isSoundTrace(text: string | undefined): boolean {
  if (text === undefined) return true;
  if (text.length > LIMITS.traceBytes || new TextEncoder().encode(text).byteLength > LIMITS.traceBytes) return false;
  try {
    return Trace.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}
