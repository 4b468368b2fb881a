import type { z } from "zod";
import type { ReportFormat } from "../../protocol/report-format.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ReportInput, type ReportQuery } from "../../protocol/report.ts";
import { importCriterion } from "../history/importers/criterion.ts";
import { importGoogleBenchmark } from "../history/importers/google-benchmark.ts";
import { importHyperfine } from "../history/importers/hyperfine.ts";
import type { Imported } from "../history/importers/imported.ts";
import { importMitata } from "../history/importers/mitata.ts";
import { importTinybench } from "../history/importers/tinybench.ts";
import { checkReport } from "../history/measure-report.ts";
import { checkInput, invalidRequest, parseInput, unsupportedMediaType } from "../http/bind.ts";
import { mediaTypeOf, parseJson, parseLines, readBody } from "../http/read-body.ts";

const LINES = "application/x-ndjson";

const IMPORTERS: Readonly<Record<Exclude<ReportFormat, "native">, (json: unknown) => Imported>> = {
  "google-benchmark": importGoogleBenchmark,
  criterion: importCriterion,
  hyperfine: importHyperfine,
  mitata: importMitata,
  tinybench: importTinybench,
};

/** Reads a report in any of the forms; every mistake is an `invalid-request` that names its place in what was sent. */
export async function readReport(request: Request, query: ReportQuery, nowMs: number): Promise<ReportInput> {
  const mediaType = mediaTypeOf(request);
  const bytes = await readBody(request, LIMITS.reportBodyBytes);
  if (mediaType !== "application/json" && mediaType !== LINES) {
    throw unsupportedMediaType(mediaType, ["application/json", LINES]);
  }
  const json = mediaType === LINES ? parseLines(bytes) : parseJson(bytes);
  const { report, pointers } = readForm(json, query.format);
  // Behind the query, which may make a name too long. What a tool wrote is checked like what came in our form.
  const checked = checkInput(ReportInput, applyQuery(report, query));
  const errors = checked.ok ? checkReport(checked.value, nowMs + LIMITS.reportAheadMs) : checked.errors;
  if (checked.ok && errors.length === 0) return checked.value;
  throw invalidRequest(errors.map(({ pointer, message }) => ({ pointer: toSource(pointer, pointers), message })));
}

type ReadForm = Pick<Imported, "pointers"> & { readonly report: z.input<typeof ReportInput> };

function readForm(json: unknown, format: ReportFormat): ReadForm {
  if (format === "native") return { report: parseInput(ReportInput, json), pointers: [] };
  const imported = IMPORTERS[format](json);
  if (imported.pointers.length === 0) {
    throw invalidRequest([{ pointer: "#", message: "holds nothing that was measured" }]);
  }
  return imported;
}

/** Where in a tool's output the measurement stands that a pointer into our form names. */
function toSource(pointer: string, pointers: readonly string[]): string {
  const index = /^#\/measurements\/(\d+)/.exec(pointer)?.[1];
  return index === undefined ? pointer : (pointers[Number(index)] ?? pointer);
}

/** What the query says counts. */
function applyQuery(report: ReadForm["report"], query: ReportQuery): ReadForm["report"] {
  const { subject, configuration } = query;
  const host = pickGiven(query, ["cpu", "adapter", "driver"]);
  return {
    ...report,
    ...pickGiven(query, ["run", "at", "label", "revision", "software"]),
    ...(Object.keys(host).length > 0 && { host: { ...report.host, ...host } }),
    measurements: report.measurements.map((measured) => ({
      ...measured,
      ...(subject !== undefined && { subject: `${subject}/${measured.subject}` }),
      ...(configuration !== undefined && { configuration: { ...measured.configuration, ...configuration } }),
    })),
  };
}

function pickGiven<Name extends keyof ReportQuery>(query: ReportQuery, names: readonly Name[]) {
  const given = names.filter((name) => query[name] !== undefined).map((name) => [name, query[name]]);
  return Object.fromEntries(given) as { [Each in Name]?: NonNullable<ReportQuery[Each]> };
}
