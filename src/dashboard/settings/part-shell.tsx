import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { ConfirmButton } from "../ui/buttons.tsx";
import type { Subscribe } from "../ui/hooks/use-feed.ts";
import type { Resource } from "../ui/hooks/use-resource.ts";
import { CommandBlock, Panel, Refusal } from "../ui/panels.tsx";

/** Says which scope the key would need, and for what. */
export function LacksAdmin({ what }: { what: string }) {
  return (
    <p class="muted">
      {`${what} needs a key with the scope `}
      <code>admin</code>, which this one lacks.
    </p>
  );
}

/** Props of every part of the settings. */
export interface PartProps {
  readonly client: Client;
  readonly subscribe: Subscribe;
  /** Whether the key of the page has the `admin` scope. */
  readonly administers: boolean;
  /** Whether it is the operator's, who manages the other projects. */
  readonly operates: boolean;
}

interface SecretNoteProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** A secret that was just made: this is the only time that it can be seen. */
export function SecretNote({ title, secret, onClose }: SecretNoteProps) {
  const note = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => note.current?.focus(), [secret]);
  return (
    <div ref={note} class="secret" role="group" aria-label={title} tabIndex={-1}>
      <p>
        <strong>{title}</strong> Copy it now: it is never shown again.
      </p>
      <CommandBlock label="Secret" command={secret} />
      <button type="button" onClick={onClose}>
        I have it
      </button>
    </div>
  );
}

/** One thing that is edited: null is a new one. */
type Edited<Item> = { readonly item: Item | null };

/** Ways to close a form. */
export interface Closing {
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

interface PartShellProps<Item> {
  readonly id: string;
  readonly title: string;
  /** One of them, such as `profile`. */
  readonly noun: string;
  readonly items: Resource<readonly Item[]>;
  /** Explanation of the listed things and their purpose. */
  readonly explanation: ComponentChildren;
  /** Why nothing can be changed here; null where it can be tried. */
  readonly refusal: ComponentChildren | null;
  readonly nameOf: (item: Item) => string;
  /** No two have the same. */
  readonly keyOf: (item: Item) => string;
  /** Next step if the list is empty. */
  readonly empty: ComponentChildren;
  readonly form: (item: Item | null, closing: Closing) => ComponentChildren;
  readonly table: (actions: (item: Item) => ComponentChildren) => ComponentChildren;
  readonly remove: (item: Item) => Promise<unknown>;
  /** Whether this item may be changed; absent: every item. */
  readonly isOwn?: (item: Item) => boolean;
  readonly canEdit?: boolean;
}

/** A list of things that people make, change and delete, with the form of the one that is at hand. */
export function PartShell<Item>(props: PartShellProps<Item>) {
  const { id, title, noun, items, explanation, refusal, nameOf, keyOf, empty, form } = props;
  const { table, remove, isOwn, canEdit = true } = props;
  const [edited, setEdited] = useState<Edited<Item> | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const close = () => {
    setEdited(null);
    // The focused element is about to disappear.
    list.current?.focus({ preventScroll: true });
  };
  const done = () => {
    close();
    setFailure(null);
    items.refresh();
  };
  const actions = (item: Item) => {
    if (refusal !== null) return <span class="muted">–</span>;
    if (isOwn?.(item) === false) return <span class="muted">built in</span>;
    const what = `the ${noun} ${nameOf(item)}`;
    return (
      <span class="row-actions">
        {canEdit && (
          <button type="button" aria-label={`Edit ${what}`} onClick={() => setEdited({ item })}>
            edit
          </button>
        )}
        <ConfirmButton label={`Delete ${what}`} work={() => remove(item)} onDone={done} onFail={setFailure}>
          delete
        </ConfirmButton>
      </span>
    );
  };
  return (
    <>
      {edited !== null && (
        <Panel
          key={edited.item === null ? "" : keyOf(edited.item)}
          id={`${id}-form`}
          title={edited.item === null ? `New ${noun}` : `Edit ${nameOf(edited.item)}`}
          resource={NOTHING_READ}
        >
          {form(edited.item, { onDone: done, onCancel: close })}
        </Panel>
      )}
      <Panel
        id={id}
        title={title}
        resource={items}
        aside={
          refusal === null &&
          edited === null && <button type="button" onClick={() => setEdited({ item: null })}>{`New ${noun} …`}</button>
        }
      >
        <p class="muted explained">{explanation}</p>
        {refusal}
        <Refusal text={failure} />
        <div ref={list} tabIndex={-1} class="part-list">
          {items.value === null && items.error === null && <p class="muted loading">{`Reading every ${noun} …`}</p>}
          {items.value !== null && (items.value.length > 0 ? table(actions) : empty)}
        </div>
      </Panel>
    </>
  );
}

/** Resource of a panel that reads nothing. */
export const NOTHING_READ = { value: null, error: null, refresh: () => undefined };
