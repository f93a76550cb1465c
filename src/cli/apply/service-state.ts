/**
 * What runs now, read from the management API when a kind first needs it. Each reading leaves a mark, so that `apply` can
 * see whether something was changed between the plan and the first write.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnBot } from '../../bots/own-bot.ts';
import type { ListedAccessControlRule } from '../../contract/management/access-control-rule.ts';
import type { EdgeRuleListed } from '../../contract/management/edge-rule.ts';
import type { ProtectInstance } from '../../contract/management/instance-settings.ts';
import type { ListStatus } from '../../contract/management/lists.ts';
import type { PolicySet } from '../../contract/management/policy-set/policy-set.ts';
import type { Site } from '../../contract/management/site.ts';
import { CallError, callService, type ResponseAt, type ServiceTarget } from '../management-call.ts';

export const RULES_PER_CALL = 10_000;
/** Calls are limited by the minute. */
const RETRY_AFTER_MS = [5000, 20_000, 40_000];
/** Rules that change while they are listed are listed again. */
const LISTINGS_MAX = 5;

export type ShownSite = Omit<Site, 'secretKey'>;

interface Seen {
  mark: string;
  again: () => Promise<string>;
}

export class ServiceState {
  readonly target: ServiceTarget;
  readonly #seen = new Map<string, Seen>();
  readonly #kept = new Map<string, Promise<unknown>>();

  constructor(target: ServiceTarget) {
    // Calls name their site themselves.
    this.target = { ...target, siteKey: undefined };
  }

  /** @throws CallError */
  async call<Path extends string>(
    path: Path,
    body: object,
    { siteKey, method }: { siteKey?: string; method?: 'GET' | 'PUT' } = {},
  ): Promise<ResponseAt<Path>> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await callService({ ...this.target, siteKey }, path, body, method);
      } catch (error) {
        const waitMs = RETRY_AFTER_MS[attempt];
        if (!(error instanceof CallError) || error.status !== 429 || waitMs === undefined) throw error;
        await sleep(waitMs);
      }
    }
  }

  sites(): Promise<ShownSite[]> {
    const read = async () =>
      // The secret of a site is not for a plan.
      (await this.call('/sites/get', {})).map(({ secretKey: _secret, ...site }) => site);
    return this.#once('the sites', read, (sites) =>
      sites.map(({ siteKey, version, active }) => [siteKey, version, active]),
    );
  }

  /** Active ones. */
  instances(): Promise<ProtectInstance[]> {
    const read = async () => (await this.call('/protect/instances', {})).filter(({ active }) => active);
    return this.#once('the instances', read, (instances) => instances.map(({ id, version }) => [id, version]));
  }

  policies({ cname, globalSiteKey: siteKey }: ProtectInstance): Promise<PolicySet & { version: number }> {
    const read = () => this.call('/protect/policies', {}, { siteKey });
    return this.#once(`the policies of ${cname}`, read, ({ version }) => version);
  }

  lists({ cname, globalSiteKey: siteKey }: ProtectInstance): Promise<ListStatus[]> {
    const read = async () => (await this.call('/protect/lists', {}, { siteKey })).lists;
    return this.#once(`the lists of ${cname}`, read, (lists) => lists.map(settingsOfList));
  }

  accessControlRules(): Promise<ListedAccessControlRule[]> {
    const read = async () => {
      const rules: ListedAccessControlRule[] = [];
      for (let page = 1, pages = 1; page <= pages; page += 1) {
        const body = { page, limit: RULES_PER_CALL, sortBy: 'userScopeHash', sortOrder: 1 };
        const answer = await this.call('/access-control/get', body);
        rules.push(...answer.rules);
        pages = answer.pages;
      }
      return rules;
    };
    return this.#once('the access control rules', read, (rules) => rules);
  }

  bots(): Promise<OwnBot[]> {
    const read = async () => (await this.call('/protect/bots/own', {})).bots;
    return this.#once('the bots', read, (bots) => bots);
  }

  users(): Promise<ResponseAt<'/users/get'>> {
    const read = () => this.call('/users/get', {}, { method: 'GET' });
    return this.#once('the users', read, (users) => users.map(({ email, name, role }) => [email, name, role]));
  }

  channels(): Promise<ResponseAt<'/alerts/channels'>['channels']> {
    const read = async () => (await this.call('/alerts/channels', {})).channels;
    return this.#once('the alert channels', read, (channels) =>
      channels.map(({ id, name, shape, host, kinds, quietHours, enabled }) => [
        id,
        name,
        shape,
        host,
        kinds,
        quietHours,
        enabled,
      ]),
    );
  }

  /** Calls `take` with every rule, page by page, and returns their version. `begin`: before each listing. */
  async rules(
    { cname, globalSiteKey: siteKey }: ProtectInstance,
    begin: () => void,
    take: (rules: readonly EdgeRuleListed[], total: number) => void,
  ): Promise<number> {
    for (let listing = 1; ; listing += 1) {
      begin();
      const versions = new Set<number>();
      let cursor: string | undefined;
      do {
        const body = { limit: RULES_PER_CALL, cursor };
        const page = await this.call('/protect/access-rules', body, { siteKey });
        versions.add(page.version);
        take(page.rules, page.total);
        cursor = page.nextCursor;
      } while (cursor !== undefined && versions.size === 1);
      const [version = 0] = versions;
      if (versions.size === 1) {
        const again = async () => String((await this.call('/protect/access-rules', { limit: 1 }, { siteKey })).version);
        this.#seen.set(`the rules of ${cname}`, { mark: String(version), again });
        return version;
      }
      if (listing === LISTINGS_MAX)
        throw new CallError(`The rules of ${cname} change all the time. Try again when other writers have finished.`);
    }
  }

  /** What somebody else has changed since it was read; `null`: nothing. */
  async changedSince(): Promise<string | null> {
    for (const [what, { mark, again }] of this.#seen) if ((await again()) !== mark) return what;
    return null;
  }

  #once<Answer>(what: string, read: () => Promise<Answer>, facts: (answer: Answer) => unknown): Promise<Answer> {
    const kept = this.#kept.get(what) as Promise<Answer> | undefined;
    if (kept !== undefined) return kept;
    const markOf = (answer: Answer): string =>
      createHash('sha256')
        .update(JSON.stringify(facts(answer)))
        .digest('hex');
    const reading = read().then((answer) => {
      this.#seen.set(what, { mark: markOf(answer), again: async () => markOf(await read()) });
      return answer;
    });
    this.#kept.set(what, reading);
    return reading;
  }
}

const listSettings = [
  'name',
  'url',
  'hasAuthorization',
  'format',
  'column',
  'selector',
  'verdict',
  'mode',
  'intervalMinutes',
  'expirySeconds',
  'maxChangePercent',
  'includeReserved',
] as const;

/** Without what readings change. */
export function settingsOfList(list: ListStatus): Pick<ListStatus, (typeof listSettings)[number]> {
  return Object.fromEntries(listSettings.map((name) => [name, list[name]])) as ReturnType<typeof settingsOfList>;
}
