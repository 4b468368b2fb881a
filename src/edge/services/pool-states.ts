import type { AgentPool } from "../../protocol/jobs/agent-pool.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import type { ProjectEnv } from "../config.ts";
import { digestOf, putArtifact } from "../store/artifact-store.ts";
import { endShortTurn } from "../turns.ts";
import { mustHaveRoomForFile } from "../store/quotas/quota-problem.ts";

/**
 * Keeps states and returns their digest. Throws `invalid-request` unless they are the pool's count of finite numbers, and
 * `quota-exceeded`.
 */
export async function putStates(env: ProjectEnv, pool: AgentPool, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { sizeBytes, agents, stateSize } = pool;
  if (bytes.byteLength !== sizeBytes) {
    const message = `must have ${sizeBytes} bytes, ${agents} × ${stateSize} numbers of float32, not ${bytes.byteLength}`;
    throw invalidRequest([{ pointer: "#", message }]);
  }
  const wrong = await findNoNumber(new Float32Array(bytes.buffer));
  if (wrong >= 0) {
    const message = `must have finite numbers; number ${wrong % stateSize} of agent ${Math.floor(wrong / stateSize)} is none`;
    throw invalidRequest([{ pointer: "#", message }]);
  }
  const digest = await digestOf(bytes.buffer);
  // Others take the place of those that were there.
  if (pool.digest === null) await mustHaveRoomForFile(env, digest, sizeBytes);
  await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
  return digest;
}

/** Numbers that are checked in a short turn: some hundred microseconds. */
const TURN_NUMBERS = 2 ** 19;

/** Index of the first that is not finite; -1 where all are. */
async function findNoNumber(numbers: Float32Array): Promise<number> {
  for (let first = 0; first < numbers.length; first += TURN_NUMBERS) {
    if (first > 0) await endShortTurn();
    const end = Math.min(first + TURN_NUMBERS, numbers.length);
    // A call for each number takes ten times as long.
    for (let at = first; at < end; at++) if (!Number.isFinite(numbers[at])) return at;
  }
  return -1;
}
