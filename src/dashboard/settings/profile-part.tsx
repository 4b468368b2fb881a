import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { profileEndpoints } from "../../protocol/fleet/profile-endpoints.ts";
import { useCallback } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { listAll } from "../../client/list-all.ts";
import type { Profile, ProfileInput } from "../../protocol/fleet/profile.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import { writeAddress } from "../ui/page-address.ts";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { LacksAdmin, type PartProps, PartShell } from "./part-shell.tsx";
import { ProfileForm } from "./profile-form.tsx";
import { describeRequirements, describeSettings, describeTargets } from "../../words/runners.ts";
import { DataTable } from "../ui/data-table.tsx";

const PAGE = 100;

/** Hardware profiles: what a runner must have, what it should reach, and how models are set up by it. */
export function ProfilePart({ client, subscribe, administers }: PartProps) {
  const profiles = useResource(
    useCallback(
      (signal: AbortSignal) =>
        Array.fromAsync(listAll(client, profileEndpoints.listProfiles, { query: { limit: PAGE }, signal })),
      [client],
    ),
  );
  const runners = useResource(
    useCallback(
      async (signal: AbortSignal) => (await client.call(runnerEndpoints.listRunners, { signal })).items,
      [client],
    ),
  );
  useRefreshOn(subscribe, "runner", runners.refresh);
  return (
    <PartShell
      id="profiles"
      title="Hardware profiles"
      noun="profile"
      items={profiles}
      explanation={
        "A runner fits a profile when one of its devices has what is required. Targets are what its placements are " +
        "held against, and settings are where an optimisation begins. Jobs and models may name a profile."
      }
      refusal={administers ? null : <LacksAdmin what="To create, change or delete a profile" />}
      nameOf={({ name }) => name}
      keyOf={({ name }) => name}
      empty={null}
      isOwn={({ builtIn }) => !builtIn}
      remove={({ name }) => client.call(profileEndpoints.deleteProfile, { params: { name } })}
      form={(profile, closing) => (
        <ProfileForm profile={profile} {...closing} work={(body) => store(client, profile, body)} />
      )}
      table={(actions) => (
        <DataTable
          class="settings profiles"
          rows={profiles.value ?? []}
          keyOf={(profile) => profile.name}
          columns={[
            { name: "Profile", head: true, cell: (profile) => profile.name, note: (profile) => profile.description },
            { name: "Requires", cell: (profile) => describeRequirements(profile) },
            { name: "Targets", cell: (profile) => describeTargets(profile) },
            { name: "Settings", cell: (profile) => describeSettings(profile) },
            {
              name: "Runners that fit",
              cell: (profile) => <Fitting profile={profile.name} runners={runners.value ?? []} />,
            },
            { name: "Change", cell: (profile) => actions(profile) },
          ]}
        />
      )}
    />
  );
}

/** A profile is changed as it was read: another change in between is refused. */
function store(client: Client, profile: Profile | null, body: ProfileInput): Promise<Profile> {
  if (profile === null) return client.call(profileEndpoints.createProfile, { body });
  const headers = { "if-match": `"${profile.version}"` };
  return client.call(profileEndpoints.updateProfile, { params: { name: profile.name }, headers, body });
}

function Fitting({ profile, runners }: { profile: string; runners: readonly Runner[] }) {
  const fitting = runners.filter(({ profiles }) => profiles.some((fit) => fit.profile === profile && fit.fits));
  if (fitting.length === 0) return <span class="muted">none</span>;
  return (
    <span class="names">
      {fitting.map(({ id, name }) => (
        <a key={id} href={`/${writeAddress({ view: "runners", runner: id })}`}>
          {name}
        </a>
      ))}
    </span>
  );
}
