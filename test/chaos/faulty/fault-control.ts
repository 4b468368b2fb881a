/** Path for the orders of the faulty edge; a GET does nothing, and so measures a request without any work. */
export const CONTROL_PATH = "/chaos";

/** Failure rates of the edge's own parts, each from 0 to 1. */
export interface EdgeTrouble {
  /** Statements of D1. */
  readonly database: number;
  /** Calls of the objects by the Worker, and of each other. */
  readonly objects: number;
}

/** Faults of the edge from now on. */
export interface EdgeOrder {
  /** The clock, against the true one. */
  readonly clockOffsetMs?: number;
  readonly trouble?: EdgeTrouble;
  /** Objects that lose their memory and their sockets at once: the queue, or the link of a runner by its id. */
  readonly evict?: readonly string[];
}

/** Name of the queue among the evicted objects. */
export const QUEUE = "queue";
