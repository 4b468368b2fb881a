import { randomBytes } from "node:crypto";
import { createId } from "../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Attacker } from "../attacker/attacker.ts";
import type { Attack } from "./attack.ts";

const UNKNOWN = '{"model":"nobody","budgetMs":500,"inputs":{}}';
/** More than an isolate keeps of keys and of projects; a project may have fewer keys than that. */
const KEYS = 1_500;
const KEY_PROJECTS = 10;
const PROJECTS = 120;

/** A secret of the right form that nobody has. */
function wrongKey(): string {
  return `mk_${randomBytes(24).toString("base64url")}`;
}

/** Makes things ten at a time. */
async function makeMany<Made>(count: number, make: (index: number) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  while (made.length < count) {
    made.push(...(await Promise.all(Array.from({ length: 10 }, (_, at) => make(made.length + at)))));
  }
  return made;
}

function askUnknown(attacker: Attacker, key: string) {
  return attacker.ask("POST", "/v1/infer", { key, body: UNKNOWN });
}

export const ACCESS_ATTACKS: readonly Attack[] = [
  {
    name: "wrong-keys",
    does: "fifty clients with a wrong key each time",
    prepare: (attacker) => () => attacker.flood(50, () => attacker.ask("GET", "/v1/jobs", { key: wrongKey() })),
  },
  {
    name: "many-keys",
    does: "more keys in turn than an isolate remembers, of ten projects, with wrong ones between them",
    prepare: async (attacker) => {
      const admins = await makeMany(KEY_PROJECTS, () => attacker.openProject("admin"));
      const made = await makeMany(KEYS, (index) => {
        const body = { name: `key-${index}`, scopes: ["infer"] };
        return attacker.make("POST", "/v1/keys", { key: admins[index % admins.length]!, body });
      });
      const secrets = made.map(({ secret }) => secret as string);
      return () =>
        attacker.flood(50, (count) =>
          askUnknown(attacker, count % 8 === 0 ? wrongKey() : secrets[count % secrets.length]!),
        );
    },
  },
  {
    name: "many-projects",
    does: "more projects in turn than an isolate keeps snapshots of",
    prepare: async (attacker) => {
      const keys = await makeMany(PROJECTS, () => attacker.openProject());
      return () => attacker.flood(50, (count) => askUnknown(attacker, keys[count % keys.length]!));
    },
  },
  {
    name: "registrations",
    does: "registration tokens, and runners that register and never connect",
    prepare: (attacker) => () =>
      attacker.flood(20, async (count) => {
        const made = await attacker.ask("POST", "/v1/runners/tokens", { key: attacker.adminKey, body: {} });
        if (made.status !== 201) return;
        const { token } = JSON.parse(new TextDecoder().decode(made.bytes)) as { token: string };
        const labels = Object.fromEntries(
          Array.from({ length: LIMITS.labelCount }, (_, at) => [`label-${at}`, "v".repeat(LIMITS.nameLength)]),
        );
        await attacker.ask("POST", "/v1/runners", { key: null, body: { token, name: `idle-${count}`, labels } });
      }),
  },
  {
    name: "long-queries",
    does: "queries and cursors as long as they may be, and with two thousand parameters that nobody knows",
    prepare: (attacker) => {
      const ids = Array.from({ length: LIMITS.queriedSeries }, () => createId("series")).join(",");
      const unknown = Array.from({ length: 2_000 }, (_, at) => `p${at}=${at}`).join("&");
      const paths = [
        `/v1/history/query?series=${ids}&step=1m`,
        `/v1/history/series?limit=200&cursor=${"c".repeat(512)}`,
        `/v1/jobs?${unknown}`,
        `/v1/history/series?limit=200&configuration=a=${"v".repeat(1_000)}`,
      ];
      return () => attacker.flood(30, (count) => attacker.ask("GET", paths[count % paths.length]!));
    },
  },
  {
    name: "public-pages",
    does: "fifty clients without a key, whom no rate limits",
    prepare: (attacker) => {
      const paths = ["/openapi.json", "/v1/health", "/docs/problems", "/nowhere"];
      return () => attacker.flood(50, (count) => attacker.ask("GET", paths[count % paths.length]!, { key: null }));
    },
  },
  {
    name: "operator-routes",
    does: "an administrator of the project who exports, imports and asks for everybody's metrics",
    prepare: (attacker) => {
      const routes = [
        ["POST", "/v1/transfers", { kind: "export" }],
        ["GET", "/metrics", undefined],
        ["GET", "/v1/projects", undefined],
        ["POST", "/v1/keys", { name: "mine", scopes: ["admin"], project: "main" }],
      ] as const;
      return () =>
        attacker.flood(30, (count) => {
          const [method, path, body] = routes[count % routes.length]!;
          return attacker.ask(method, path, { key: attacker.adminKey, body });
        });
    },
  },
  {
    name: "webhooks",
    does: "webhooks made and deleted, and some that lead into the edge's own network",
    prepare: (attacker) => {
      const key = attacker.adminKey;
      const urls = ["https://a.invalid/", "http://127.0.0.1:1/", "https://169.254.169.254/", "https://[::1]/"];
      return () =>
        attacker.flood(20, async (count) => {
          const body = { url: urls[count % urls.length] };
          const made = await attacker.ask("POST", "/v1/webhooks", { key, body });
          if (made.status !== 201) return;
          const { id } = JSON.parse(new TextDecoder().decode(made.bytes)) as { id: string };
          await attacker.ask("DELETE", `/v1/webhooks/${id}`, { key });
        });
    },
  },
];
