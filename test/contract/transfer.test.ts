import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { uploadFile } from "../../src/client/upload-files.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { LIMITS } from "../../src/protocol/wire/limits.ts";
import { PROBLEMS } from "../../src/protocol/wire/problem.ts";
import { type LiveEdge, readModel, registerRunner, startLiveEdge } from "./live-edge.ts";

/** `millrace export` and `millrace import` as programs, between real edges. */

const POINTS = 12_000;
const program = join(import.meta.dirname, "../../src/cli/main.ts");
/** Nothing tends the history here, so that two databases may be compared. */
const never = { cronMs: 86_400_000 };

let folder: string;
let source: LiveEdge;
let credential: string;
let labKey: string;
let modelDigest: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-transfer-"));
  file = join(folder, "all.gz");
  source = await startLiveEdge(never);
  const { client } = source;
  await client.call(endpoints.createKey, { body: { name: "mine", scopes: ["read"] } });
  await client.call(endpoints.createWebhook, { body: { url: "https://hooks.test/" } });
  await client.call(endpoints.createProfile, {
    body: { name: "mine", description: '"größer"\n', requirements: {}, targets: {}, settings: {} },
  });
  await client.call(endpoints.createProject, { body: { name: "lab" } });
  ({ secret: labKey } = await client.call(endpoints.createKey, {
    body: { name: "theirs", scopes: ["admin"], project: "lab" },
  }));
  // The same name in both projects.
  await createClient({ baseUrl: source.url, key: labKey }).call(endpoints.createProfile, {
    body: { name: "mine", description: "the lab's", requirements: {}, targets: {}, settings: {} },
  });
  ({ credential } = await registerRunner(source));
  const uploaded = await client.call(endpoints.uploadModel, {
    query: { name: "cartpole" },
    rawBody: { mediaType: "application/octet-stream", content: await readModel("cartpole") },
  });
  modelDigest = uploaded.version.digest;
  await source.whileStopped(fill);
  expect(await millrace(source, "export", "--out", file)).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await source.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A history as a year leaves it: more than pages of points, reals of every size, and numbers that were given and are gone. */
function fill(database: DatabaseSync): void {
  database.exec(`
    insert into series (id, project, subject_kind, subject, metric, label, key, created_at_ms, points)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 50)
    select 'ser_' || i, iif(i % 2 = 0, 'main', 'lab'), 'benchmark', 'gemm', 'wallMs', 'ümläut ' || i, '{}', i, 400 from n;
    insert into points (series_no, at_ms, source_id, run_id, count, min, max, sum, sketch)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${POINTS})
    select 1 + i % 50, i, 'source-' || i, iif(i % 3 = 0, null, 'run_' || i), 1,
      abs(random()) / 9e18, 1e300 / i, -1.0 / i, hex(randomblob(100)) from n;
    insert into rollups select series_no, 60000, at_ms, run_id, count, min, max, sum, sketch, null from points where seq % 2 = 0;
    delete from points where seq > ${POINTS - 10};
    update history_state set rolled_seq = ${POINTS - 100}, roll_version = 7, pruned_seq = 3, detected_seq = 11;
    insert into alerts (id, state, direction, after_ms, at_ms, created_at_ms, updated_at_ms) values ('alr_1', 'open', 'regression', 1, 2, 3, 4);
    insert into changes (id, series_no, alert_id, kind, direction, after_ms, at_ms, evidence, created_at_ms)
      values ('chg_1', 7, 'alr_1', 'step', 'regression', 1, 2, '{}', 3);
    insert into runs (id, project, job_id, attempt, runner_id, device_key, kind, spec, result, started_at_ms, ended_at_ms)
      values ('run_1', 'lab', 'job_1', 1, 'rnr_1', 'cpu', 'benchmark', '{}', '"${"x".repeat(900_000)}"', 1, 2);
    insert into standings values ('lab', 'gemm', 'fpr_1', 'k=4,m=4', 'float32', 'wall', 'gemm', 'plain', 0.1, 0.05, 0.3, 100, 'a card', 0, '{}', 'run_1', 5);
  `);
}

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

async function millrace(edge: { url: string; key: string }, ...options: string[]): Promise<Ended> {
  const env = { ...process.env, MILLRACE_EDGE: edge.url, MILLRACE_KEY: edge.key };
  const child = spawn(process.execPath, [program, ...options], { env, stdio: ["ignore", "inherit", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = await once(child, "close");
  return { code, stderr };
}

/** Every row of every table that counts, by table. */
async function dump(edge: LiveEdge): Promise<Map<string, unknown[]>> {
  const found = new Map<string, unknown[]>();
  await edge.whileStopped((database) => {
    const tables = database.prepare(
      "select name from sqlite_schema where type = 'table' and name not like '\\_cf%' escape '\\'",
    );
    for (const { name } of tables.all() as { name: string }[]) {
      // The audit log, the mark of the last change and counts stay with their database.
      if (["d1_migrations", "transfers", "audit_entries", "serving_state", "project_counts"].includes(name)) continue;
      const where = name === "sqlite_sequence" ? "where name != 'd1_migrations'" : "";
      const rows = database.prepare(`select * from ${name} ${where}`).all();
      found.set(name, rows.map((row) => JSON.stringify(row)).toSorted());
    }
  });
  return found;
}

async function storedModel({ client }: LiveEdge): Promise<string> {
  const { id } = await client.call(endpoints.beginTransfer, { body: { kind: "export" } });
  const key = `artifacts/${modelDigest.replace(":", "/")}`;
  const response = await client.send(endpoints.exportObject, { params: { id }, query: { key } });
  await client.call(endpoints.endTransfer, { params: { id } });
  return Buffer.from(await response.arrayBuffer()).toString("base64");
}

async function withTarget(work: (target: LiveEdge) => Promise<void>): Promise<void> {
  const target = await startLiveEdge(never);
  try {
    await work(target);
  } finally {
    await target.stop();
  }
}

describe("an export that was imported", () => {
  it("is the same database, row by row, with its files, keys and credentials", async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["all.gz"]);
    await withTarget(async (target) => {
      const ended = await millrace(target, "import", file);
      expect(ended).toMatchObject({ code: 0 });
      expect(ended.stderr).toContain("the edge has the same rows and objects");
      const headers = { authorization: `Bearer ${credential}` };
      // It is the runner's, and nothing asks for that artifact yet.
      expect((await fetch(`${target.url}/v1/artifacts/${modelDigest}`, { headers })).status).toBe(404);
      expect(await storedModel(target)).toEqual(Buffer.from(await readModel("cartpole")).toString("base64"));
      const theirs = createClient({ baseUrl: target.url, key: labKey });
      const found = await theirs.call(endpoints.getProfile, { params: { name: "mine" } });
      expect(found.description).toBe("the lab's");
      const [before, after] = [await dump(source), await dump(target)];
      expect([...after.keys()].toSorted()).toEqual([...before.keys()].toSorted());
      for (const [table, rows] of before) expect({ table, rows: after.get(table) }).toEqual({ table, rows });
      expect(before.get("points")).toHaveLength(POINTS - 10);
      expect(before.get("sqlite_sequence")).toContain(JSON.stringify({ name: "points", seq: POINTS }));
    });
  });

  it("is the same after it was cut off in the middle and begun again", async () => {
    await withTarget(async (target) => {
      let pages = 0;
      const breaking = createServer((incoming, outgoing) => {
        if (incoming.url?.endsWith("/tables/points") === true && ++pages === 3) {
          incoming.socket.destroy();
          return;
        }
        const { method = "GET", headers } = incoming;
        const onward = request(target.url + (incoming.url ?? ""), { method, headers }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        });
        incoming.pipe(onward);
      }).listen(0, "127.0.0.1");
      await once(breaking, "listening");
      const url = `http://127.0.0.1:${(breaking.address() as AddressInfo).port}`;
      const cut = await millrace({ url, key: target.key }, "import", file);
      breaking.close();
      expect(cut.code).toBe(PROBLEMS.internal.exitCode);
      expect(cut.stderr).toContain("cannot be reached");
      expect(await millrace(target, "import", file)).toMatchObject({ code: 0 });
      expect(await dump(target)).toEqual(await dump(source));
      // It has ended: once more it is an import into a filled database.
      expect((await millrace(target, "import", file)).stderr).toContain("not empty");
    });
  });
});

describe("a file that no import could take", () => {
  // It moves a file of 97 MiB three times.
  const patient = { timeout: 900_000 };
  it("is left out of the export, which names its model; it can be sent again after the import", patient, async () => {
    const content = new Blob([new Uint8Array(LIMITS.artifactBytes + 1)]);
    const digest = `sha256:${createHash("sha256")
      .update(Buffer.from(await content.arrayBuffer()))
      .digest("hex")}`;
    const out = join(folder, "small.gz");
    await withTarget(async (large) => {
      await uploadFile(large.client, { digest, content });
      await large.whileStopped((database) => {
        const files = JSON.stringify([{ name: "model.onnx", digest, sizeBytes: content.size }]);
        database.exec(`
          insert into models (id, project, name, created_at_ms) values ('mdl_1', 'main', 'giant', 1);
          insert into model_versions (id, model_id, version, digest, size_bytes, inputs, outputs, files, created_at_ms)
            values ('ver_1', 'mdl_1', 1, '${digest}', ${content.size}, '[]', '[]', '${files}', 1);
          delete from uploads;`);
      });
      const ended = await millrace(large, "export", "--out", out);
      expect(ended.code).toBe(0);
      expect(ended.stderr).toContain(`${digest.slice("sha256:".length)} (97 MiB, of main/giant) is not in the export`);
      expect((await stat(out)).size).toBeLessThan(content.size / 100);
    });
    await withTarget(async (target) => {
      expect(await millrace(target, "import", out)).toMatchObject({ code: 0 });
      const begun = await target.client.call(endpoints.beginUpload, { body: { digest, sizeBytes: content.size } });
      expect(begun).toMatchObject({ state: "open", missing: expect.arrayContaining([1]) });
      await uploadFile(target.client, { digest, content });
      const stored = await target.client.call(endpoints.beginUpload, { body: { digest, sizeBytes: content.size } });
      expect(stored.state).toBe("stored");
    });
    await rm(out);
  });
});

describe("an import is refused, and changes nothing,", () => {
  it("of a file that is cut off, changed, of another schema or none at all; into a filled database only by force", async () => {
    const whole = await readFile(file);
    const lines = gunzipSync(whole).toString().split("\n");
    const changed = (change: (line: string) => string) => gzipSync(lines.map(change).join("\n"), { level: 1 });
    const row = lines.findIndex((line) => line.includes("source-77"));
    const files: [name: string, content: Buffer, why: string][] = [
      ["cut", whole.subarray(0, whole.length - 2_000), "missing or damaged"],
      ["endless", gzipSync(lines.slice(0, -2).join("\n")), "its end is missing"],
      [
        "changed",
        changed((line) => (line === lines[row] ? line.replace("source-77", "source-x") : line)),
        "points are not",
      ],
      ["missing", gzipSync(lines.toSpliced(row, 1).join("\n"), { level: 1 }), "points are not"],
      ["object", changed((line) => line.replace(/"base64":"..../, '"base64":"AAAA')), "is not what it was"],
      [
        "version",
        changed((line) => line.replace(/"schemaVersion":"[^"]*"/, '"schemaVersion":"0001_old.sql"')),
        "0001_old.sql",
      ],
      ["text", Buffer.from("hello"), "no gzip file"],
      ["other", gzipSync('{"kind":"other"}\n'), "line 1 is none of an export"],
    ];
    await withTarget(async (target) => {
      const before = await dump(target);
      for (const [name, content, why] of files) {
        const broken = join(folder, name);
        await writeFile(broken, content);
        const ended = await millrace(target, "import", broken);
        expect({ name, ...ended }).toMatchObject({
          name,
          code: PROBLEMS[name === "version" ? "conflict" : "invalid-request"].exitCode,
        });
        expect(ended.stderr).toContain(why);
      }
      expect(await dump(target)).toEqual(before);
      await createClient({ baseUrl: target.url, key: target.key }).call(endpoints.createProfile, {
        body: { name: "theirs", description: "", requirements: {}, targets: {}, settings: {} },
      });
      expect((await millrace(target, "import", file)).stderr).toContain("not empty: it has 1 profiles");
      const forced = await millrace(target, "import", file, "--force");
      expect(forced).toMatchObject({ code: 0 });
      expect(forced.stderr).toContain("others in profiles");
      expect((await dump(target)).get("profiles")).toHaveLength(3);
    });
  });

  it("and an export, by a key that is no admin's", async () => {
    const { secret } = await source.client.call(endpoints.createKey, { body: { name: "reader", scopes: ["read"] } });
    const out = join(folder, "refused.gz");
    const ended = await millrace({ url: source.url, key: secret }, "export", "--out", out);
    expect(ended).toMatchObject({ code: PROBLEMS.forbidden.exitCode });
    expect(ended.stderr).toContain("admin");
    expect(await readdir(folder)).not.toContain("refused.gz");
  });
});
