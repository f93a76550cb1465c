/**
 * What the captcha routes keep per isolate: the keyring, the day's comb tables and recently used
 * sites. One engine per database, since tests and the CLI open several in a process.
 */
import { keyDay, Keyring } from '../../challenge/keyring.ts';
import { RswMinter } from '../../challenge/rsw-mint.ts';
import { deriveKey, sha256Hex } from '../../store/master-key.ts';
import { powKeyOfDay } from '../../store/pow-keys.ts';
import { siteByKey, siteBySecret } from '../../store/sites.ts';
import type { SiteRecord } from '../../store/sites.ts';
import { visitorTag } from '../../challenge/visitor-tag.ts';
import { readAddressFacts } from '../../verify/address-facts.ts';
import type { AddressLookup } from '../../verify/address-facts.ts';
import { BoundedMemo } from './bounded-memo.ts';
import { countUse } from './spend.ts';

/** A changed or deactivated site is seen by every isolate within this time (interface document 3). */
const SITE_MEMO_MS = 2000;
const SITE_MEMO_ENTRIES = 10_000;
/** Unknown keys are remembered too, shortly, so that guessing does not become a database load. */
const MISS_MEMO_MS = 1000;
const MAILBOX_WINDOW_MS = 86_400_000;
/** No day has this number: one key for counts that span days. */
const MAILBOX_KEY_DAY = 0;

export class CaptchaEngine {
  readonly keyring: Keyring;
  /** The operator's facts about addresses, or `null`. */
  readonly addressLookup: AddressLookup | null;
  readonly #env: ServiceEnv;
  readonly #sites = new BoundedMemo<SiteRecord>(SITE_MEMO_ENTRIES, SITE_MEMO_MS);
  readonly #misses = new BoundedMemo<true>(SITE_MEMO_ENTRIES, MISS_MEMO_MS);
  readonly #minters = new Map<number, Promise<RswMinter>>();

  constructor(env: ServiceEnv) {
    this.#env = env;
    this.addressLookup = readAddressFacts((env as { ADDRESS_FACTS?: string }).ADDRESS_FACTS ?? null);
    this.keyring = new Keyring((label) => deriveKey(env.MASTER_KEY, label));
  }

  siteByKey(siteKey: string, nowMs: number): Promise<SiteRecord | null> {
    return this.#site(`key:${siteKey}`, nowMs, () => siteByKey(this.#env, siteKey));
  }

  /** Looked up by hash, so that neither time nor memory tells how much of a guess was right. */
  async siteBySecret(secret: string, nowMs: number): Promise<SiteRecord | null> {
    return this.#site(`secret:${await sha256Hex(secret)}`, nowMs, () => siteBySecret(this.#env, secret));
  }

  /** Counts a mailbox by keyed hash, the same on every day; `false` above the site's limit within a day. */
  async countMailbox(siteKey: string, mailbox: string, limit: number): Promise<boolean> {
    const tag = await visitorTag(this.keyring, MAILBOX_KEY_DAY, 'mailbox', mailbox);
    return countUse(this.#env, { key: `mailbox ${siteKey} ${tag}`, limit, windowMs: MAILBOX_WINDOW_MS });
  }

  /** The day's minter; yesterday's is let go, its tables with it. */
  minter(nowMs: number): Promise<RswMinter> {
    const day = keyDay(nowMs);
    const kept = this.#minters.get(day);
    if (kept !== undefined) return kept;
    const made = powKeyOfDay(this.#env, day, nowMs).then((key) => new RswMinter(key));
    this.#minters.clear();
    this.#minters.set(day, made);
    // A failure must not stick: the next call may find the database back.
    made.catch(() => this.#minters.delete(day));
    return made;
  }

  async #site(key: string, nowMs: number, read: () => Promise<SiteRecord | null>): Promise<SiteRecord | null> {
    const kept = this.#sites.get(key, nowMs);
    if (kept !== undefined) return kept;
    if (this.#misses.get(key, nowMs) === true) return null;
    const site = await read();
    if (site === null) this.#misses.set(key, true, nowMs);
    else this.#sites.set(key, site, nowMs);
    return site;
  }
}

const engines = new WeakMap<object, CaptchaEngine>();

export function captchaEngine(env: ServiceEnv): CaptchaEngine {
  const kept = engines.get(env.DB);
  if (kept !== undefined) return kept;
  const made = new CaptchaEngine(env);
  engines.set(env.DB, made);
  return made;
}

/** Makes tomorrow's parameters ahead of midnight, so that no visitor waits for them. */
export async function preparePowKeys(env: ServiceEnv, nowMs: number): Promise<void> {
  await powKeyOfDay(env, keyDay(nowMs), nowMs);
  await powKeyOfDay(env, keyDay(nowMs) + 1, nowMs);
}
