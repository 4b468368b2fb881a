import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CREDENTIAL_FILE, StoredCredential } from "../../checkup/runner-folder.ts";
import { nameWebSocketFault, reachEdge } from "../../checkup/reach-edge.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { parseProblem } from "../../protocol/wire/problem.ts";
import { judge, type Patient, skip, type Verdict } from "./finding.ts";

const WITHIN_MS = 7_000;
const BODY_CHARACTERS = 4_096;

/**
 * Whether a WebSocket handshake reaches the edge. It offers no protocol of a runner, so that the edge refuses it: a
 * runner that is connected stays so.
 */
export async function checkLink(patient: Patient): Promise<Verdict> {
  const { edgeUrl, runnerDir } = patient;
  if ((await reachEdge(edgeUrl, patient)).kind !== "edge") return skip("the edge does not answer");
  const { origin } = new URL(edgeUrl);
  const text = await readFile(join(runnerDir, CREDENTIAL_FILE), "utf8").catch(() => "");
  const { data: stored } = StoredCredential.safeParse(parseJson(text));
  // The edge looks at the credential first.
  if (stored === undefined || new URL(stored.edgeUrl).origin !== origin) {
    return skip(`only a registered runner can try it, and ${runnerDir} has no credential for ${origin}`);
  }
  const answer = await knock(new URL(endpoints.connectRunner.path, edgeUrl), stored.credential);
  const problem = parseProblem(answer.text)?.problem;
  if (problem?.code === "unauthorized") return skip("only a runner that the edge knows can try it");
  const isStripped = problem?.errors?.some(({ pointer }) => pointer === "header/upgrade") === true;
  const isHeard = problem?.code === "upgrade-required";
  const came = isStripped ? "the Upgrade header is taken away" : answer.came;
  return judge(
    isHeard && !isStripped ? null : nameWebSocketFault(origin, came),
    `a WebSocket's handshake reaches ${edgeUrl}`,
  );
}

interface Answer {
  /** What came, in words. */
  readonly came: string;
  readonly text: string;
}

function knock(url: URL, credential: string): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${credential}`,
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": Buffer.alloc(16).toString("base64"),
    "sec-websocket-protocol": "millrace.doctor",
  };
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const end = (came: string, text = "") => {
      resolve({ came, text });
      wish.destroy();
    };
    const wish = request(url, { headers, timeout: WITHIN_MS }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk.slice(0, BODY_CHARACTERS)));
      response.once("close", () => end(`status ${response.statusCode}`, text));
    });
    wish.once("upgrade", () => end("something takes every WebSocket"));
    wish.once("timeout", () => end("nothing answers the handshake"));
    wish.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    wish.end();
  });
}
