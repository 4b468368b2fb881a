import { execFile } from "node:child_process";
import { access, constants, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { Device, fingerprintText, type Hardware } from "../../protocol/fleet/hardware.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import type { DeviceHost } from "../device-host/device-host.ts";
import { writeWhole } from "../host/files.ts";
import { readHardware } from "../host/hardware/read-hardware.ts";
import type { GpuBoard } from "../host/sensors/gpu-board.ts";
import { readBoards } from "../host/sensors/read-sensors.ts";
import type { Check } from "./check.ts";
import { renderReport } from "./report.ts";

/** Everything that is known of the device and the machine around it. */
export interface SuiteSubject {
  readonly device: Device;
  /** Names of the adapters that the driver offers. */
  readonly adapters: readonly string[];
  /** The card by its driver's program or the system; null where neither reports it. */
  readonly board: GpuBoard | null;
  readonly hardware: Hardware;
  readonly release: string;
  /** Null outside a clone. */
  readonly commit: string | null;
}

/** A report, as its JSON has it. */
export interface SuiteReport {
  readonly subject: SuiteSubject;
  /** RFC 3339; of a resumed suite, of its last start. */
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly limitMs: number;
  readonly checks: readonly Check[];
}

/** What a packed runner is made of (src/local/pack). */
const PACKED_FACTS = new URL("../../../packed.json", import.meta.url);

/** Describes a device before its checks. */
export async function describeSubject({ device, adapters }: DeviceHost): Promise<SuiteSubject> {
  const [hardware, boards, commit] = await Promise.all([readHardware(), readBoards([device]), readCommit()]);
  return { device, adapters, board: boards.get(device.key) ?? null, hardware, release: VERSION, commit };
}

/** A packed runner's, or that of the clone. */
async function readCommit(): Promise<string | null> {
  const packed = await readFile(PACKED_FACTS, "utf8").catch(() => null);
  if (packed !== null) return (JSON.parse(packed) as { commit: string | null }).commit;
  return promisify(execFile)("git", ["rev-parse", "HEAD"], { cwd: import.meta.dirname }).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
}

const JSON_FILE = "report.json";
const HTML_FILE = "report.html";
/** Least time between two versions of the HTML, which takes longer to write than most checks. */
const HTML_EVERY_MS = 2_000;

/** The part of an earlier report that a resumed suite needs. */
const EarlierReport = z.object({
  subject: z.object({ device: Device, release: z.string(), commit: z.string().nullable() }),
  checks: z.array(
    z.object({
      part: z.string(),
      name: z.string(),
      outcome: z.enum(["passed", "failed", "skipped"]),
      reason: z.string().optional(),
      figures: z.record(z.string(), z.union([z.number(), z.string(), z.null()])).optional(),
      durationMs: z.number(),
    }),
  ),
});

/** Makes the folder of a report. Fails with `invalid-request` where nothing can be written there. */
export async function openFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new ProblemError("invalid-request", `--out ${folder} is no folder to write to: ${(error as Error).message}.`);
  }
}

/**
 * Checks of the report in a folder; none where there is no report. Fails with `invalid-request` where it cannot be
 * read, or is of another device, release or commit.
 */
export async function readEarlier(
  folder: string,
  { device, release, commit }: SuiteSubject,
): Promise<readonly Check[]> {
  const file = join(folder, JSON_FILE);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new ProblemError("invalid-request", `${file} cannot be read: ${error.message}.`);
  });
  if (text === null) return [];
  const parsed = EarlierReport.safeParse(parseJson(text));
  const refuse = (why: string) => new ProblemError("invalid-request", `${file} ${why}: name another folder by --out.`);
  if (!parsed.success) throw refuse("is no report of this suite");
  const { subject, checks } = parsed.data;
  if (fingerprintText(subject.device.fingerprint) !== fingerprintText(device.fingerprint)) {
    throw refuse(`is of ${subject.device.name}, or of another driver`);
  }
  if (subject.release !== release || subject.commit !== commit) {
    const [earlier, now] = [subject, { release, commit }].map(describeCode);
    throw refuse(`is of ${earlier}, and this is ${now}`);
  }
  return checks as readonly Check[];
}

function describeCode({ release, commit }: Pick<SuiteSubject, "release" | "commit">): string {
  return `release ${release}${commit === null ? "" : ` at commit ${commit}`}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Writes a report as JSON with every check, and as HTML every few seconds and at the end. */
export class ReportWriter {
  readonly #folder: string;
  readonly #about: Pick<SuiteReport, "subject" | "startedAt" | "limitMs">;
  #htmlAtMs = Number.NEGATIVE_INFINITY;

  constructor(folder: string, about: Pick<SuiteReport, "subject" | "startedAt" | "limitMs">) {
    this.#folder = folder;
    this.#about = about;
  }

  /** Files of the report. */
  get paths(): { readonly json: string; readonly html: string } {
    return { json: join(this.#folder, JSON_FILE), html: join(this.#folder, HTML_FILE) };
  }

  async write(checks: readonly Check[], isLast = false): Promise<void> {
    const report: SuiteReport = { ...this.#about, updatedAt: new Date().toISOString(), checks };
    await writeWhole(this.paths.json, `${JSON.stringify(report, null, 1)}\n`);
    if (!isLast && performance.now() - this.#htmlAtMs < HTML_EVERY_MS) return;
    await writeWhole(this.paths.html, renderReport(report));
    this.#htmlAtMs = performance.now();
  }
}
