import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect, onTestFinished } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { ProblemError } from "../../src/protocol/wire/problem.ts";
import type { LocalStack } from "../e2e/local-stack.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openOperatorPage, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

let site: StackPage;
let stack: LocalStack;

it.beforeAll(async ({ shared }) => {
  site = openOperatorPage(shared);
  stack = site.stack;
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

async function openPart(part: string, options: ViewOptions = {}, key = stack.adminKey): Promise<Page> {
  const page = await site.openView(`view=settings&part=${part}`, { ...options, key });
  await page.getByRole("navigation", { name: "Settings" }).locator('[aria-current="page"]').waitFor();
  return page;
}

const findings = (refused?: readonly number[]) => site.findings(refused);

const panelOf = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

describe("the settings", () => {
  it("have a part for each link, and each fits a phone and has no serious finding", { timeout: 600_000 }, async () => {
    const looks: readonly ViewOptions[] = [
      { colorScheme: "light" },
      { colorScheme: "dark" },
      { colorScheme: "dark", viewport: { width: 390, height: 844 } },
    ];
    for (const look of looks) {
      const page = await openPart("keys", look);
      for (const [link, panel] of [
        ["Keys", "Keys"],
        ["Tokens of runners", "A token for a runner"],
        ["Hardware profiles", "Hardware profiles"],
        ["Thresholds", "Thresholds"],
        ["Requirement sets", "Requirement sets"],
        ["Webhooks", "Webhooks"],
        ["Quotas", "Quotas"],
        ["What was done", "What was done"],
        ["Projects", "Projects"],
      ] as const) {
        await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: link }).click();
        await panelOf(page, panel).waitFor();
        await page
          .getByText(/^Reading /)
          .first()
          .waitFor({ state: "detached" });
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
        expect(await seriousFindings(page)).toEqual([]);
        if (look === looks[0]) await keepScreenshots(page, `settings-${link.toLowerCase().replaceAll(" ", "-")}`);
      }
      expect(findings()).toEqual([]);
      await site.closePage();
    }
  });

  it("tell a key that may not administer which scope it lacks, and offer it nothing dead", async () => {
    const { secret } = await stack.client.call(endpoints.createKey, { body: { name: "reader", scopes: ["read"] } });
    const page = await openPart("keys", {}, secret);
    await page.getByText("To see, create or revoke keys needs a key with the scope admin").waitFor();
    expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
    await page.getByRole("link", { name: "Tokens of runners" }).click();
    await page.getByText("To let a runner in needs a key with the scope admin").waitFor();
    expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
    await page.getByRole("link", { name: "Hardware profiles" }).click();
    await page.getByRole("row").filter({ hasText: "balanced" }).waitFor();
    await page.getByText("To create, change or delete a profile needs a key with the scope admin").waitFor();
    expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
    await page.getByRole("link", { name: "Thresholds" }).click();
    await page.getByRole("button", { name: "New threshold" }).click();
    await page.getByLabel("Name").fill("never");
    await page.getByRole("button", { name: "Create the threshold" }).click();
    await page.getByRole("alert").filter({ hasText: "This needs a key with the scope `submit`." }).waitFor();
    expect(findings([403])).toEqual([]);
  });
});

describe("keys", () => {
  it("are made by keyboard alone, shown once, and revoked after a question", async () => {
    const page = await openPart("keys");
    await page.getByLabel("Name").focus();
    await page.keyboard.press("Enter");
    // The edge says what is missing, at the fields.
    await page.locator("#content [aria-invalid='true']").first().waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("#/name");
    await page.keyboard.type("of-the-page");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    const note = page.getByRole("group", { name: "The key of-the-page." });
    const secret = (await note.getByRole("region", { name: "Secret" }).textContent()) ?? "";
    expect(secret).toMatch(/^mk_/);
    const theirs = createClient({ baseUrl: stack.baseUrl, key: secret });
    const refusal = await theirs.call(endpoints.listKeys).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ problem: { code: "forbidden" } });
    await note.getByRole("button", { name: "I have it" }).click();
    await expect.poll(() => page.getByText(secret).count()).toBe(0);

    const row = page.getByRole("row").filter({ hasText: "of-the-page" });
    await row.getByText("infer", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Rotate the key of-the-page" }).click();
    await row.getByRole("button", { name: "Yes, rotate" }).click();
    const renewed = (await note.getByRole("region", { name: "Secret" }).textContent()) ?? "";
    expect(renewed).toMatch(/^mk_/);
    expect(renewed).not.toBe(secret);
    await note.getByRole("button", { name: "I have it" }).click();
    await row.getByText("old secret until").waitFor();
    await row.getByRole("button", { name: "Revoke the key of-the-page" }).focus();
    await page.keyboard.press("Enter");
    const question = row.getByRole("group", { name: "Revoke the key of-the-page?" });
    await question.getByRole("button", { name: "No" }).click();
    await row.getByText("in force").waitFor();
    // The focus is where it was.
    await page.keyboard.press("Enter");
    await question.getByRole("button", { name: "Yes, revoke" }).waitFor();
    await page.keyboard.press("Enter");
    await row.getByText("revoked").waitFor();
    expect(findings([400])).toEqual([]);
  });
});

describe("projects", () => {
  it("are opened by the operator, get a first key, and are closed after a question", async () => {
    const page = await openPart("projects");
    await page.getByLabel("Name").focus();
    await page.keyboard.type("a-tenant");
    await page.keyboard.press("Enter");
    await page.getByRole("status").filter({ hasText: "a-tenant is open" }).waitFor();
    const row = page.getByRole("row").filter({ hasText: "a-tenant" });
    await row.getByText("open", { exact: true }).waitFor();
    expect(await page.getByRole("row").filter({ hasText: "always there" }).getByRole("button").count()).toBe(0);

    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Keys" }).click();
    // The part before has a field of this name, too.
    await panelOf(page, "Keys").waitFor();
    await page.getByLabel("Name").fill("of-the-tenant");
    await page.getByRole("checkbox", { name: /^admin/ }).check();
    await page.getByLabel("Project").fill("a-tenant");
    await page.getByRole("button", { name: "Create the key" }).click();
    const note = page.getByRole("group", { name: "The key of-the-tenant." });
    const secret = (await note.getByRole("region", { name: "Secret" }).textContent()) ?? "";
    expect(findings()).toEqual([]);
    await site.closePage();

    // A tenant has no projects to look after, and the page shows what there is of its own: nothing yet.
    const theirs = await openPart("projects", {}, secret);
    await panelOf(theirs, "Keys").getByText("of-the-tenant").waitFor();
    expect(await theirs.getByRole("link", { name: "Projects" }).count()).toBe(0);
    expect(await theirs.getByLabel("Project").count()).toBe(0);
    expect(findings()).toEqual([]);
    await site.closePage();

    const again = await openPart("projects");
    const open = again.getByRole("row").filter({ hasText: "a-tenant" });
    await open.getByRole("button", { name: "Close the project a-tenant" }).click();
    await open.getByRole("button", { name: "Yes, close" }).click();
    await open.getByText("closed", { exact: true }).waitFor();
    expect(findings()).toEqual([]);
    const refusal = await createClient({ baseUrl: stack.baseUrl, key: secret })
      .call(endpoints.listKeys)
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ problem: { code: "unauthorized" } });
  });
});

describe("quotas", () => {
  it("are told with a bar each, also to a key that only reads", async () => {
    const limits = { webhooks: 0, models: 1_000 };
    await stack.client.call(endpoints.setQuotas, { params: { name: "main" }, body: limits });
    onTestFinished(async () => {
      await stack.client.call(endpoints.setQuotas, { params: { name: "main" }, body: {} });
    });
    const { secret } = await stack.client.call(endpoints.createKey, { body: { name: "looker", scopes: ["read"] } });
    const page = await openPart("quotas", {}, secret);
    const models = page.getByRole("row").filter({ hasText: "models" }).filter({ hasText: "set by the operator" });
    await models.getByText(/^[\d,]+ of 1,000$/).waitFor();
    const bar = page.getByRole("progressbar", { name: "Share of the quota of webhooks" });
    expect(await bar.getAttribute("class")).toBe("full");
    await page.getByText(/ of 64 GiB$/).waitFor();
    // The page asks whether its key administers.
    expect(findings([403])).toEqual([]);
  });
});

describe("tokens", () => {
  it("come with the command for the other machine, and let one runner in", async () => {
    const page = await openPart("tokens");
    await page.getByLabel("Good for").selectOption({ label: "5 minutes" });
    await page.getByRole("button", { name: "Create a token" }).click();
    const command = await page.getByRole("region", { name: "Command for the other machine" }).textContent();
    const [, address, token = ""] = /runner start --edge (\S+) --token (mt_\S+)$/.exec(command ?? "") ?? [];
    expect(address).toBe(stack.baseUrl);
    await page.getByText(/^The token ends in|ends in [1-5] min/).waitFor();
    const body = { token, name: "by-the-page" };
    const { runnerId } = await stack.client.call(endpoints.registerRunner, { body });
    expect(runnerId).toMatch(/^rnr_/);
    await stack.client.call(endpoints.removeRunner, { params: { id: runnerId } });
    await page.getByRole("button", { name: "Create another token" }).click();
    await expect
      .poll(() => page.getByRole("region", { name: "Command for the other machine" }).textContent())
      .not.toBe(command);
    expect(findings()).toEqual([]);
  });

  it("say when they have ended", async () => {
    const page = await openPart("tokens");
    await page.route("**/v1/runners/tokens", async (route) => {
      const response = await route.fetch();
      const json: object = await response.json();
      await route.fulfill({ response, json: { ...json, expiresAt: new Date(Date.now() - 1_000).toISOString() } });
    });
    await page.getByRole("button", { name: "Create a token" }).click();
    await page.getByText("This token has ended.").waitFor();
    expect(await page.getByRole("region", { name: "Command for the other machine" }).count()).toBe(0);
    expect(findings()).toEqual([]);
  });
});

describe("profiles", () => {
  it("show what they ask for, and which runners fit", async () => {
    const page = await openPart("profiles");
    const row = page.getByRole("row").filter({ hasText: "memory-constrained" });
    await row.getByText("1 logical core").waitFor();
    await row.getByText("p50 of 15 ms at most; 500 requests/s at least; 8 GiB at most").waitFor();
    await row.getByText("built in").waitFor();
    const link = row.getByRole("link", { name: "local" });
    expect(await link.getAttribute("href")).toContain(`runner=${stack.runnerId}`);
    const { profiles } = await stack.client.call(endpoints.getRunner, { params: { id: stack.runnerId } });
    for (const { profile, fits } of profiles) {
      const fitting = page.getByRole("row").filter({ hasText: profile }).getByRole("link", { name: "local" });
      expect(await fitting.count()).toBe(fits ? 1 : 0);
    }
    expect(findings()).toEqual([]);
  });

  it("are made, changed as they were read, and deleted; errors stand at their fields", async () => {
    const page = await openPart("profiles");
    await page.getByRole("button", { name: "New profile" }).click();
    const form = page.getByRole("form", { name: "New profile" });
    await form.getByLabel("Name").fill("tiny");
    await form.getByLabel("Logical cores").fill("0");
    await form.getByLabel("Latency", { exact: true }).fill("-1");
    await form.getByRole("button", { name: "Create the profile" }).click();
    for (const label of ["Logical cores", "Latency"]) {
      const field = form.getByLabel(label, { exact: true });
      await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
      const described = (await field.getAttribute("aria-describedby"))?.split(" ") ?? [];
      const texts = described.map((id) => page.locator(`[id="${id}"]`).textContent());
      expect((await Promise.all(texts)).join(" ")).toMatch(/>=1|>0/);
    }
    expect(await form.getByLabel("Name").getAttribute("aria-invalid")).toBe("false");
    expect(await seriousFindings(page)).toEqual([]);

    await form.getByLabel("Logical cores").fill("1");
    await form.getByLabel("Latency", { exact: true }).fill("20");
    await form.getByLabel("Memory", { exact: true }).fill("0.5");
    await form.getByLabel("Software device").selectOption({ label: "must not be one" });
    await form.getByLabel("ort-cpu").check();
    await form.getByRole("button", { name: "Create the profile" }).click();
    const row = page.getByRole("row").filter({ hasText: "tiny" });
    await row.getByText("no software device; 1 logical core; 512 MiB of memory").waitFor();
    const params = { name: "tiny" };
    expect(await stack.client.call(endpoints.getProfile, { params })).toMatchObject({
      requirements: { minLogicalCores: 1, minMemoryBytes: 2 ** 29, allowSoftware: false },
      targets: { latencyMs: 20 },
      settings: { backends: ["ort-cpu"] },
    });

    await row.getByRole("button", { name: "Edit the profile tiny" }).click();
    const edit = page.getByRole("form", { name: "Edit tiny" });
    expect(await edit.getByLabel("Memory", { exact: true }).inputValue()).toBe("0.5");
    // Somebody else is faster.
    const headers = { "if-match": "*" };
    await stack.client.call(endpoints.updateProfile, { params, headers, body: { description: "theirs" } });
    await edit.getByLabel("Description").fill("mine");
    await edit.getByRole("button", { name: "Save the profile" }).click();
    await page.getByRole("alert").filter({ hasText: "was changed by somebody else" }).waitFor();
    await edit.getByRole("button", { name: "Cancel" }).click();
    expect((await stack.client.call(endpoints.getProfile, { params })).description).toBe("theirs");

    await row.getByRole("button", { name: "Delete the profile tiny" }).click();
    await row.getByRole("button", { name: "Yes, delete" }).click();
    await row.waitFor({ state: "detached" });
    const gone = await stack.client.call(endpoints.getProfile, { params }).catch((error: unknown) => error);
    expect(gone instanceof ProblemError && gone.problem.code).toBe("not-found");
    expect(findings([400, 412])).toEqual([]);
  });
});

describe("thresholds", () => {
  it("are told in words, and keep what the form has no field for", async () => {
    const selector = { subject: "gemm", metric: "wallMs", software: true };
    const body = { name: "slower", test: "percentage" as const, upper: 0.1, selector };
    const { id } = await stack.client.call(endpoints.createThreshold, { body });
    const page = await openPart("thresholds");
    const row = page.getByRole("row").filter({ hasText: "slower" });
    await row.getByText("Alerts when the p50 of a point is above the mean + 10%.").waitFor();
    await row.getByRole("button", { name: "Edit the threshold slower" }).click();
    const form = page.getByRole("form", { name: "Edit slower" });
    await form.getByLabel("Test").selectOption({ label: "Student's t, for few points" });
    await form.getByText("a probability, such as 0.977").first().waitFor();
    await form.getByRole("button", { name: "Save the threshold" }).click();
    const upper = form.getByLabel("Upper limit");
    await expect.poll(() => upper.getAttribute("aria-invalid")).toBe("true");
    await form.getByText("must be a probability above 0.5 and below 1").waitFor();
    await upper.fill("0.977");
    await form.getByRole("button", { name: "Save the threshold" }).click();
    await row.getByText("97.7 % of a Student's t distribution").waitFor();
    expect(await stack.client.call(endpoints.getThreshold, { params: { id } })).toMatchObject({
      test: "t-test",
      upper: 0.977,
      selector,
    });
    await row.getByRole("button", { name: "Delete the threshold slower" }).click();
    await row.getByRole("button", { name: "Yes, delete" }).click();
    await page.getByText("There is no rule of your own yet.").waitFor();
    expect(findings([400])).toEqual([]);
  });
});

describe("requirement sets", () => {
  it("are made of rows, and changed", async () => {
    const page = await openPart("requirements");
    await page.getByText("/v1/requirements").waitFor();
    await page.getByRole("button", { name: "New requirement set" }).click();
    const form = page.getByRole("form", { name: "New requirement set" });
    await form.getByLabel("Name").fill("quick");
    await form.getByLabel("At most").fill("10");
    await form.getByLabel("Percentile").fill("0.5");
    await form.getByRole("button", { name: "One more requirement" }).click();
    await form.getByLabel("What").nth(1).selectOption({ label: "throughput" });
    await form.getByLabel("At least").nth(1).fill("100");
    await form.getByLabel("Percentile").nth(1).fill("0.9");
    await form.getByRole("button", { name: "Create the set" }).click();
    await form.getByText("belongs to latencyMs alone").waitFor();
    expect(await form.getByLabel("Percentile").nth(1).getAttribute("aria-invalid")).toBe("true");
    await form.getByLabel("Percentile").nth(1).fill("");
    await form.getByRole("button", { name: "Create the set" }).click();
    const row = page.getByRole("row").filter({ hasText: "quick" });
    await row.getByText("p50 latency ≤ 10 ms; throughput ≥ 100/s").waitFor();
    await row.getByRole("button", { name: "Edit the requirement set quick" }).click();
    const edit = page.getByRole("form", { name: "Edit quick" });
    await edit.getByRole("button", { name: "Leave out the last" }).click();
    await edit.getByRole("button", { name: "Save the set" }).click();
    await row.getByText("p50 latency ≤ 10 ms", { exact: true }).waitFor();
    expect(findings([400])).toEqual([]);
  });
});

describe("webhooks", () => {
  it("of a tenant do not lead to the edge's own machine", async ({ shared }) => {
    const tenant = await openTenantPage(shared, { lend: false });
    onTestFinished(() => tenant.stop());
    const page = await tenant.openView("view=settings&part=webhooks");
    await page.getByRole("button", { name: "New webhook" }).click();
    const form = page.getByRole("form", { name: "New webhook" });
    await form.getByLabel("Address").fill("http://127.0.0.1:9/hook");
    await form.getByRole("button", { name: "Create the webhook" }).click();
    await form.getByText("must lead out of the edge's own network").waitFor();
    expect(tenant.findings([400])).toEqual([]);
  });

  it("are made with a secret that is shown once, tried out, and deleted", async () => {
    const received: string[] = [];
    const receiver = createServer((request, response) => {
      received.push(String(request.headers["webhook-id"]));
      response.end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    try {
      // The operator's alone may lead to the edge's own machine.
      const page = await openPart("webhooks");
      await page.getByRole("button", { name: "New webhook" }).click();
      const form = page.getByRole("form", { name: "New webhook" });
      await form.getByLabel("Address").fill("ftp://nowhere");
      await form.getByRole("button", { name: "Create the webhook" }).click();
      await form.getByText("must be an https URL without name and password").waitFor();
      await form.getByLabel("Address").fill(url);
      await form.getByLabel("dismissed").check();
      await form.getByRole("button", { name: "Create the webhook" }).click();
      const secret = page.getByRole("region", { name: "Secret" });
      expect(await secret.textContent()).toMatch(/^whsec_/);
      await page.getByRole("button", { name: "I have it" }).click();
      const item = page.getByRole("article", { name: url });
      await item.getByText("opened, resolved, dismissed").or(item.getByText("opened, dismissed, resolved")).waitFor();
      await item.getByRole("button", { name: "Send a test message" }).click();
      await item.getByText("It arrived: answered 200.").waitFor();
      // A busy machine may raise an alert meanwhile, which is sent as well.
      expect(received.length).toBeGreaterThan(0);
      await item.getByText("The latest messages").click();
      await item.getByText("Nothing was sent in the last 30 days.").or(item.getByText("answered 200").nth(1)).waitFor();
      await item.getByRole("button", { name: `Delete the webhook ${url}` }).click();
      await item.getByRole("button", { name: "Yes, delete" }).click();
      await page.getByText("No receiver of alerts yet.").waitFor();
      expect(findings([400])).toEqual([]);
    } finally {
      await new Promise((resolve) => receiver.close(resolve));
    }
  });
});
