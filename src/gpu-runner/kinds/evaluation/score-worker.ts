import { parentPort, workerData } from "node:worker_threads";
import { type ScoreRequest, scoreReturns } from "./score-task.ts";

/** Thread that scores entrants and ends: resampling would block the runner's sockets. */
const scores = (workerData as readonly ScoreRequest[]).map(scoreReturns);
parentPort!.postMessage(scores, []);
