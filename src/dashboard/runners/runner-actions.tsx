import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import { CommandBlock, Refusal } from "../ui/panels.tsx";
import { useWriter } from "../ui/hooks/use-writer.ts";
import { WriteButton } from "../ui/buttons.tsx";

interface RunnerActionsProps {
  readonly client: Client;
  readonly runner: Runner;
  /** The runner has changed. */
  readonly onChange: () => void;
  readonly onRemove: () => void;
}

/** Actions of an admin on a runner: drain, share, rotate its credential, remove. */
export function RunnerActions({
  client,
  runner: { id, name, state, shared, quarantine },
  onChange,
  onRemove,
}: RunnerActionsProps) {
  const writer = useWriter("admin");
  const [credential, setCredential] = useState<string | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const keep = useRef<HTMLButtonElement>(null);
  // A second press of Enter hits the safe answer.
  useEffect(() => {
    if (isRemoving) keep.current?.focus();
  }, [isRemoving]);
  const params = { id };
  const [verb, endpoint] =
    state === "draining" || quarantine !== null
      ? (["Resume", runnerEndpoints.resumeRunner] as const)
      : (["Drain", runnerEndpoints.drainRunner] as const);
  const [sharing, change] = shared
    ? (["Stop sharing", runnerEndpoints.unshareRunner] as const)
    : (["Share", runnerEndpoints.shareRunner] as const);
  const rotate = async () =>
    setCredential((await client.call(runnerEndpoints.rotateCredential, { params })).credential);
  return (
    <div class="runner-actions">
      <div class="panel-end">
        <WriteButton
          writer={writer}
          label={`${verb} ${name}`}
          work={() => client.call(endpoint, { params })}
          onDone={onChange}
        >
          {verb}
        </WriteButton>
        <WriteButton
          writer={writer}
          label={`${sharing} ${name}`}
          work={() => client.call(change, { params })}
          onDone={onChange}
        >
          {sharing}
        </WriteButton>
        <WriteButton writer={writer} label={`Rotate credential of ${name}`} work={rotate} onDone={onChange}>
          Rotate credential
        </WriteButton>
        <button
          type="button"
          aria-label={`Remove ${name}`}
          aria-expanded={isRemoving}
          aria-disabled={writer.refusal !== null}
          title={writer.refusal ?? undefined}
          onClick={() => writer.refusal === null && setRemoving(true)}
        >
          Remove …
        </button>
      </div>
      {isRemoving && (
        <div class="notice bad" role="group" aria-label={`Remove ${name} for good?`}>
          <p>{`Remove ${name} for good? Its credential stops working; what it measured stays.`}</p>
          <div class="panel-end">
            <button ref={keep} type="button" onClick={() => setRemoving(false)}>
              Keep it
            </button>
            <WriteButton
              writer={writer}
              label={`Remove for good: ${name}`}
              work={() => client.call(runnerEndpoints.removeRunner, { params })}
              onDone={onRemove}
            >
              Remove for good
            </WriteButton>
          </div>
        </div>
      )}
      {credential !== null && (
        <div role="status">
          <p>
            The new credential, shown this once. The old one works until the runner connects with this one: put it into
            the runner's <code>credential.json</code> and start it again.
          </p>
          <CommandBlock label="New credential" command={credential} />
        </div>
      )}
      <Refusal text={writer.refusal ?? writer.failure} />
    </div>
  );
}
