import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { IfMatch, Name, PageQuery } from "../wire/page.ts";
import { Profile, ProfileInput, ProfilePage, ProfileUpdate } from "./profile.ts";

const byProfileName = z.object({ name: Name.meta({ description: "Name of a hardware profile" }) });
const ifMatch = z.object({ "if-match": IfMatch });

export const profileEndpoints = {
  createProfile: defineEndpoint({
    method: "post",
    path: "/v1/profiles",
    tag: "profiles",
    summary: "Create a hardware profile",
    access: "admin",
    body: ProfileInput,
    reply: { status: 201, schema: Profile },
    problems: ["conflict", "quota-exceeded"],
  }),
  listProfiles: defineEndpoint({
    method: "get",
    path: "/v1/profiles",
    tag: "profiles",
    summary: "List hardware profiles, the built-in ones first",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: ProfilePage },
  }),
  getProfile: defineEndpoint({
    method: "get",
    path: "/v1/profiles/{name}",
    tag: "profiles",
    summary: "Describe a hardware profile",
    access: "read",
    params: byProfileName,
    reply: { status: 200, schema: Profile },
    problems: ["not-found"],
  }),
  updateProfile: defineEndpoint({
    method: "put",
    path: "/v1/profiles/{name}",
    tag: "profiles",
    summary: "Replace a profile of your own; wants If-Match with its ETag",
    access: "admin",
    params: byProfileName,
    headers: ifMatch,
    body: ProfileUpdate,
    reply: { status: 200, schema: Profile },
    problems: ["not-found", "conflict", "precondition-failed", "precondition-required"],
  }),
  deleteProfile: defineEndpoint({
    method: "delete",
    path: "/v1/profiles/{name}",
    tag: "profiles",
    summary: "Delete a profile of your own",
    access: "admin",
    params: byProfileName,
    reply: { status: 204 },
    problems: ["not-found", "conflict"],
  }),
} as const;
