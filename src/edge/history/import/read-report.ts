import type { ReportFormat } from "../../../protocol/history/run.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ReportInput, type ReportQuery } from "../../../protocol/history/report.ts";
import { checkInput, invalidRequest, unsupportedMediaType } from "../../../protocol/wire/parse-input.ts";
import { importCriterion } from "./criterion.ts";
import { importGoogleBenchmark } from "./google-benchmark.ts";
import { importHyperfine } from "./hyperfine.ts";
import type { Imported } from "./imported.ts";
import { importMitata } from "./mitata.ts";
import { importTinybench } from "./tinybench.ts";
import { checkReport } from "./measure-report.ts";
import { mediaTypeOf, parseLines, parseLongJson, readBody } from "../../http/read-body.ts";

const LINES = "application/x-ndjson";

const IMPORTERS: Readonly<Record<Exclude<ReportFormat, "native">, (json: unknown) => Imported>> = {
  "google-benchmark": importGoogleBenchmark,
  criterion: importCriterion,
  hyperfine: importHyperfine,
  mitata: importMitata,
  tinybench: importTinybench,
};

/** Reads a report in any of the forms; each mistake is an `invalid-request` with its place in the input. */
export async function readReport(request: Request, query: ReportQuery, nowMs: number): Promise<ReportInput> {
  const mediaType = mediaTypeOf(request);
  const bytes = await readBody(request, LIMITS.reportBodyBytes);
  if (mediaType !== "application/json" && mediaType !== LINES) {
    throw unsupportedMediaType(mediaType, ["application/json", LINES]);
  }
  const json = mediaType === LINES ? parseLines(bytes) : await parseLongJson(request, bytes);
  const { report, pointers } = readForm(json, query.format);
  // After the query, which may make a name too long. A tool's output passes the same check as our own form.
  const checked = checkInput(ReportInput, applyQuery(report, query));
  const errors = checked.ok ? checkReport(checked.value, nowMs + LIMITS.reportAheadMs) : checked.errors;
  if (checked.ok && errors.length === 0) return checked.value;
  throw invalidRequest(errors.map(({ pointer, message }) => ({ pointer: toSource(pointer, pointers), message })));
}

function readForm(json: unknown, format: ReportFormat): { report: unknown; pointers: readonly string[] } {
  if (format === "native") return { report: json, pointers: [] };
  const imported = IMPORTERS[format](json);
  if (imported.pointers.length > 0) return imported;
  throw invalidRequest([{ pointer: "#", message: "holds nothing that was measured" }]);
}

/** Place in a tool's output of the measurement that a pointer into our form names. */
function toSource(pointer: string, pointers: readonly string[]): string {
  const index = /^#\/measurements\/(\d+)/.exec(pointer)?.[1];
  return index === undefined ? pointer : (pointers[Number(index)] ?? pointer);
}

/**
 * Overrides the report with the query's values. The report is unchecked here: unexpected parts are left as they are.
 */
function applyQuery(report: unknown, query: ReportQuery): unknown {
  if (!isObject(report)) return report;
  const { host, measurements } = report;
  const ofHost = pickGiven(query, ["cpu", "adapter", "driver"]);
  return {
    ...report,
    ...pickGiven(query, ["run", "at", "label", "revision", "software"]),
    ...(Object.keys(ofHost).length > 0 && {
      host: isObject(host) || host === undefined ? { ...host, ...ofHost } : host,
    }),
    ...(Array.isArray(measurements) && { measurements: measurements.map((each: unknown) => extend(each, query)) }),
  };
}

function extend(measured: unknown, query: ReportQuery): unknown {
  if (!isObject(measured)) return measured;
  const { subject, configuration = {} } = measured;
  return {
    ...measured,
    ...(query.subject !== undefined && typeof subject === "string" && { subject: `${query.subject}/${subject}` }),
    ...(query.configuration !== undefined &&
      isObject(configuration) && { configuration: { ...configuration, ...query.configuration } }),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pickGiven(query: ReportQuery, names: readonly (keyof ReportQuery)[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => query[name] !== undefined).map((name) => [name, query[name]]));
}
