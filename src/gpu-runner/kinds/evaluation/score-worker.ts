import { parentPort, workerData } from "node:worker_threads";
import { type ScoreRequest, scoreReturns } from "./score-task.ts";

/** A thread that scores entrants and ends: resampling would keep the runner from its sockets. */
const scores = (workerData as readonly ScoreRequest[]).map(scoreReturns);
parentPort!.postMessage(scores, []);
