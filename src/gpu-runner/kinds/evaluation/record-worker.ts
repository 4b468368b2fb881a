import { parentPort, workerData } from "node:worker_threads";
import { type RecordRequest, recordEpisodes } from "./record-episodes.ts";

/** Thread that records episodes and ends: references of colliding bodies need milliseconds a step. */
const file = recordEpisodes(workerData as RecordRequest, () => performance.now());
parentPort!.postMessage(file, [file.buffer]);
