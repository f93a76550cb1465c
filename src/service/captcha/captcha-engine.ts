/**
 * What the captcha routes keep per isolate: the keyring, the day's comb tables and recently used
 * sites. One engine per database, since tests and the CLI open several in a process.
 */
import { keyDay, Keyring } from '../../captcha/seal/keyring.ts';
import { RswMinter } from '../../captcha/pow/rsw-mint.ts';
import { sha256Hex } from '../../bytes/sha256-hex.ts';
import { deriveKey } from '../../store/keys/master-key.ts';
import { powKeyOfDay } from '../../store/keys/pow-keys.ts';
import { siteByKey, siteBySecret } from '../../store/d1/sites.ts';
import type { SiteRecord } from '../../store/d1/sites.ts';
import { visitorTag } from '../../captcha/seal/visitor-tag.ts';
import type { AddressLookup } from '../../captcha/verify/address-facts.ts';
import { ExpiringMap } from '../../bytes/bounded-map.ts';
import { countUse } from '../../store/spend-ledger/client/spend.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import type { ServiceEnvironment, ServiceStore } from '../environment.ts';

/** A changed or deactivated site is seen by every isolate within this time (interface document 3). */
const SITE_MEMO_MS = 2000;
const SITE_MEMO_ENTRIES = 10_000;
/** Unknown keys are remembered too, shortly, so that guessing does not become a database load. */
const MISS_MEMO_MS = 1000;
const MAILBOX_WINDOW_MS = 86_400_000;
/** No day has this number: one key for counts that span days. */
const MAILBOX_KEY_DAY = 0;

type EngineEnvironment = Pick<ServiceEnvironment, 'store' | 'addressLookup'>;

export class CaptchaEngine {
  readonly keyring: Keyring;
  /** The operator's facts about addresses, or `null`. */
  readonly addressLookup: AddressLookup | null;
  readonly #store: ServiceStore;
  readonly #sites = new ExpiringMap<SiteRecord>(SITE_MEMO_ENTRIES, SITE_MEMO_MS);
  /** By secret in clear, known ones only: whether a guess is among them is told by its whole hash or not at all. */
  readonly #secrets = new ExpiringMap<SiteRecord>(SITE_MEMO_ENTRIES, SITE_MEMO_MS);
  readonly #misses = new ExpiringMap<true>(SITE_MEMO_ENTRIES, MISS_MEMO_MS);
  #minter: RswMinter | null = null;

  constructor({ store, addressLookup }: EngineEnvironment) {
    this.#store = store;
    this.addressLookup = addressLookup;
    this.keyring = new Keyring(async (label) => deriveKey(await rootKey(store), label));
  }

  async siteByKey(siteKey: string, nowMs: number): Promise<SiteRecord | null> {
    const kept = this.#sites.get(siteKey, nowMs);
    if (kept !== undefined) return kept;
    if (this.#misses.get(siteKey, nowMs) === true) return null;
    const site = await siteByKey(this.#store, siteKey);
    if (site === null) this.#misses.set(siteKey, true, nowMs);
    else this.#sites.set(siteKey, site, nowMs);
    return site;
  }

  /** Looked up by hash, so that neither time nor memory tells how much of a guess was right. */
  async siteBySecret(secret: string, nowMs: number): Promise<SiteRecord | null> {
    const kept = this.#secrets.get(secret, nowMs);
    if (kept !== undefined) return kept;
    const missed = `secret:${await sha256Hex(secret)}`;
    if (this.#misses.get(missed, nowMs) === true) return null;
    const site = await siteBySecret(this.#store, secret, nowMs);
    if (site === null) this.#misses.set(missed, true, nowMs);
    else this.#secrets.set(secret, site, nowMs);
    return site;
  }

  /** Counts a mailbox by keyed hash, the same on every day; `false` above the site's limit within a day. */
  async countMailbox(siteKey: string, mailbox: string, limit: number): Promise<boolean> {
    const tag = await visitorTag(this.keyring, MAILBOX_KEY_DAY, 'mailbox', mailbox);
    return countUse(this.#store, { key: `mailbox ${siteKey} ${tag}`, limit, windowMs: MAILBOX_WINDOW_MS });
  }

  /**
   * The day's minter; yesterday's is let go, its tables with it. Kept once it is made and not before: a
   * promise that a cancelled request began may never settle, and all who come after would wait for it.
   */
  async minter(nowMs: number): Promise<RswMinter> {
    const day = keyDay(nowMs);
    if (this.#minter?.day === day) return this.#minter;
    const key = await powKeyOfDay(this.#store, day, nowMs);
    // Others may have asked meanwhile: one set of tables is enough.
    if (this.#minter?.day !== day) this.#minter = new RswMinter(key);
    return this.#minter;
  }
}

const engines = new WeakMap<object, CaptchaEngine>();

export function captchaEngine(environment: EngineEnvironment): CaptchaEngine {
  const kept = engines.get(environment.store);
  if (kept !== undefined) return kept;
  const made = new CaptchaEngine(environment);
  engines.set(environment.store, made);
  return made;
}

/** Makes tomorrow's parameters ahead of midnight, so that no visitor waits for them. */
export async function preparePowKeys(store: ServiceStore, nowMs: number): Promise<void> {
  await powKeyOfDay(store, keyDay(nowMs), nowMs);
  await powKeyOfDay(store, keyDay(nowMs) + 1, nowMs);
}
