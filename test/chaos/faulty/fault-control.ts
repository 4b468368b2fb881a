/** Where the faulty edge takes its orders; a GET only answers, which tells how long a request without any work takes. */
export const CONTROL_PATH = "/chaos";

/** How often the edge's own parts fail it, each from 0 to 1. */
export interface EdgeTrouble {
  /** Statements of D1. */
  readonly database: number;
  /** Calls of the objects by the Worker, and of each other. */
  readonly objects: number;
}

/** What the edge is told to suffer from now on. */
export interface EdgeOrder {
  /** The clock, against the true one. */
  readonly clockOffsetMs?: number;
  readonly trouble?: EdgeTrouble;
  /** Objects that lose their memory and their sockets at once: the queue, or the link of a runner by its id. */
  readonly evict?: readonly string[];
}

/** The name of the queue among what is evicted. */
export const QUEUE = "queue";
