import type { ComponentChildren } from "preact";
import { CommandBlock } from "./command-block.tsx";

/** Says that nothing is there yet, and the command that changes it. */
export function EmptyState({
  says,
  command,
  children,
}: {
  says: string;
  command: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p>
        <strong>{says}</strong> {children}
      </p>
      <CommandBlock label="Command to run" command={command} />
    </div>
  );
}
