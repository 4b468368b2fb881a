import { parentPort, workerData } from "node:worker_threads";
import { type RecordRequest, recordEpisodes } from "./record-episodes.ts";

/** A thread that records episodes and ends: references of bodies that collide take milliseconds a step. */
const file = recordEpisodes(workerData as RecordRequest, () => performance.now());
parentPort!.postMessage(file, [file.buffer]);
