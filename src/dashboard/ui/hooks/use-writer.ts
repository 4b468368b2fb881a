import { useCallback, useState } from "preact/hooks";
import type { Scope } from "../../../protocol/service/key.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";

/** Changes something on the edge, as far as the key may. */
export interface Writer {
  /** Why nothing can be changed with this key; null while nothing speaks against it. */
  readonly refusal: string | null;
  /** Message of the last failure; null if there was none. */
  readonly failure: string | null;
  /** Runs the work; true if it succeeded. */
  readonly write: (work: () => Promise<unknown>) => Promise<boolean>;
}

/**
 * A key does not know its own scopes, so the edge's first refusal shows them. `scope` is the one that the work needs.
 */
export function useWriter(scope: Scope = "submit"): Writer {
  const [refusal, setRefusal] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const write = useCallback(
    async (work: () => Promise<unknown>) => {
      setFailure(null);
      try {
        await work();
        return true;
      } catch (error) {
        if (error instanceof ProblemError && lacksScope(error))
          setRefusal(
            `This key may ${scope === "submit" ? "only read" : "not do this"}; a key with the ${scope} scope can change this.`,
          );
        else setFailure((error as Error).message);
        return false;
      }
    },
    [scope],
  );
  return { refusal, failure, write };
}

/** Other refusals concern a single thing, such as another owner's, and explain themselves. */
function lacksScope({ problem: { code, errors = [] } }: ProblemError): boolean {
  return code === "forbidden" && errors.some(({ pointer }) => pointer === "header/authorization");
}
