import { useCallback, useState } from "preact/hooks";
import { listAll } from "../../client/list-all.ts";
import { MAIN_PROJECT, type Project, projectEndpoints } from "../../protocol/service/project.ts";
import { Badge } from "../ui/badges.tsx";
import { ConfirmButton } from "../ui/buttons.tsx";
import { FieldForm } from "../ui/forms/field-form.tsx";
import { Panel, Refusal } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { PartProps } from "./part-shell.tsx";
import { DataTable } from "../ui/data-table.tsx";

const PAGE = 100;

/** The tenants, for the operator: list, create and close projects. */
export function ProjectPart({ client }: PartProps) {
  const projects = useResource(
    useCallback(
      (signal: AbortSignal) =>
        Array.fromAsync(listAll(client, projectEndpoints.listProjects, { query: { limit: PAGE }, signal })),
      [client],
    ),
  );
  const [opened, setOpened] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const create = async (body: Record<string, unknown>) => {
    setOpened((await client.call(projectEndpoints.createProject, { body })).name);
    projects.refresh();
  };
  return (
    <>
      <Panel id="new-project" title="New project" resource={projects}>
        <FieldForm
          key={opened}
          label="New project"
          submit="Open the project"
          work={create}
          fields={[
            { kind: "text", pointer: "#/name", label: "Name", hint: "That no project had before", required: true },
          ]}
        />
        {opened !== null && (
          <p role="status" class="notice">{`${opened} is open. Make its first key under Keys, with its name.`}</p>
        )}
      </Panel>
      <Panel id="projects" title="Projects" resource={projects}>
        <p class="muted explained">
          Whoever holds a key of a project sees its models, jobs and history, and nobody else's. Closing one revokes its
          keys and removes its runners for good, and cancels its jobs; what it stored stays.
        </p>
        <Refusal text={failure} />
        {projects.value === null && projects.error === null && <p class="muted loading">Reading projects …</p>}
        {projects.value !== null && (
          <ProjectTable
            projects={projects.value}
            close={(name) => client.call(projectEndpoints.closeProject, { params: { name } })}
            onDone={() => {
              setFailure(null);
              projects.refresh();
            }}
            onFail={setFailure}
          />
        )}
      </Panel>
    </>
  );
}

interface ProjectTableProps {
  readonly projects: readonly Project[];
  readonly close: (name: string) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onFail: (message: string) => void;
}

function ProjectTable({ projects, close, onDone, onFail }: ProjectTableProps) {
  return (
    <DataTable
      class="settings"
      rows={projects}
      keyOf={({ name }) => name}
      columns={[
        { name: "Name", head: true, cell: ({ name }) => name },
        {
          name: "State",
          cell: ({ closedAt }) =>
            closedAt === null ? (
              <Badge tone="good">open</Badge>
            ) : (
              <>
                <Badge tone="quiet">closed</Badge> <Timestamp at={closedAt} />
              </>
            ),
        },
        {
          name: "Opened",
          cell: ({ createdAt }) =>
            createdAt === null ? <span class="muted">always there</span> : <Timestamp at={createdAt} />,
        },
        {
          name: "Close",
          cell: ({ name, closedAt }) =>
            closedAt === null && name !== MAIN_PROJECT ? (
              <ConfirmButton
                label={`Close the project ${name}`}
                work={() => close(name)}
                onDone={onDone}
                onFail={onFail}
              >
                close
              </ConfirmButton>
            ) : (
              <span class="muted">–</span>
            ),
        },
      ]}
    />
  );
}
