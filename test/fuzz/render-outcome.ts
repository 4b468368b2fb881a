import type { CodecOutcome } from "./codecs/fuzz-codecs.ts";
import type { HttpOutcome } from "./http/fuzz-http.ts";
import type { WgslOutcome } from "./wgsl/fuzz-wgsl.ts";

/** Result of a run of the fuzzer; null for parts that were not requested. */
export interface FuzzOutcome {
  readonly seed: number;
  readonly http: HttpOutcome | null;
  readonly codecs: CodecOutcome | null;
  readonly wgsl: WgslOutcome | null;
}

/** Shown length of a finding, enough to recognise it. `--json` and `--out` have all of it. */
const SHOWN_LENGTH = 800;

/** The outcome as lines of text: figures first, then every finding. */
export function renderOutcome({ seed, http, codecs, wgsl }: FuzzOutcome): string {
  return [
    `seed ${seed}`,
    ...(http === null ? [] : renderHttp(http)),
    ...(codecs === null ? [] : renderCodecs(codecs)),
    ...(wgsl === null ? [] : renderWgsl(wgsl)),
  ].join("\n");
}

/** True if anything was found. */
export function hasFindings({ http, codecs, wgsl }: FuzzOutcome): boolean {
  return [http, codecs, wgsl].some((part) => part !== null && part.findings.length > 0);
}

function renderHttp({ requests, seconds, operations, neverDone, byStatus, findings, ...rest }: HttpOutcome): string[] {
  const statuses = Object.entries(byStatus).map(([status, count]) => `${status}: ${count}`);
  const { fewestReplies, edgeBytesBefore, edgeBytesAfter } = rest;
  return [
    `${requests} requests in ${seconds.toFixed(0)} s (${(requests / seconds).toFixed(0)} a second)`,
    `${operations} operations, ${fewestReplies} replies of each at least; ${operations - neverDone.length} of them did what they are for`,
    `replies by status: ${statuses.join(", ")}`,
    `memory of the edge: ${inMiB(edgeBytesBefore)} before, ${inMiB(edgeBytesAfter)} after`,
    `${findings.length} findings`,
    ...findings.map(
      ({ operationId, count, what, request }) => `\n${operationId} (${count}×): ${cut(what)}\n  ${cut(request)}`,
    ),
  ];
}

function renderCodecs({ inputs, seconds, byTarget, findings }: CodecOutcome): string[] {
  return [
    `${inputs} inputs in ${seconds.toFixed(0)} s`,
    ...Object.entries(byTarget).map(([name, count]) => `  ${name.padEnd(18)} ${String(count).padStart(9)}`),
    `${findings.length} findings`,
    ...findings.map(
      ({ target, seed, what, input }) => `\n${target} (--only ${target} --seed ${seed}): ${cut(what)}\n  ${cut(input)}`,
    ),
  ];
}

function renderWgsl({ programs, compiled, seconds, bytesBefore, bytesAfter, findings }: WgslOutcome): string[] {
  return [
    `${programs} programs in WGSL in ${seconds.toFixed(0)} s, ${compiled} of them compiled`,
    `memory of the process: ${inMiB(bytesBefore)} after the first, ${inMiB(bytesAfter)} after the last`,
    `${findings.length} findings`,
    ...findings.map(({ seed, what, code }) => `\nwgsl (--seed ${seed}): ${cut(what)}\n  ${cut(code)}`),
  ];
}

function inMiB(bytes: number | null): string {
  return bytes === null ? "unknown" : `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

function cut(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}
