/** What is examined: this machine, and an edge as it is seen from here. */
export interface Patient {
  readonly fetch: typeof fetch;
  readonly environment: NodeJS.ProcessEnv;
  /** Root of the project. */
  readonly root: string;
  readonly edgeUrl: string;
  /** Null: none was named, and none is kept in the data folder. */
  readonly key: string | null;
  /** Where `millrace up` would listen. */
  readonly port: number;
  readonly dataDir: string;
  readonly runnerDir: string;
}
