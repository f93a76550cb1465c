/**
 * What the captcha routes keep in one isolate: the keyring, the tables of the day's proof of work, and sites that were
 * used recently. There is one engine per environment, because tests and the CLI open several in one process.
 */
import { Keyring, keyDay } from '../../captcha/seal/keyring.ts';
import { RswMinter } from '../../captcha/pow/rsw-mint.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import { deriveKey } from '../../store/keys/master-key.ts';
import { powKeyOfDay } from '../../store/keys/pow-keys.ts';
import { siteByKey, siteBySecret, type SiteRecord } from '../../store/d1/sites.ts';
import { visitorTag } from '../../captcha/seal/visitor-tag.ts';
import type { AddressLookup } from '../../captcha/verify/address-facts.ts';
import { ExpiringMap } from '../../bytes/bounded-map.ts';
import { countUses } from '../../store/spend-ledger/client/count-uses.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import type { ServiceEnvironment, ServiceStore } from '../environment.ts';

/** Every isolate sees a changed or deactivated site within this time. */
const SITE_MEMO_MS = 2000;
const SITE_MEMO_ENTRIES = 10_000;
/** Unknown keys are kept too, for a short time, so that guesses do not load the database. */
const MISS_MEMO_MS = 1000;
const MAILBOX_WINDOW_MS = 86_400_000;
/** Not the number of a real day: counts that span days need one key for all of them. */
const MAILBOX_KEY_DAY = 0;

type EngineEnvironment = Pick<ServiceEnvironment, 'store' | 'addressLookup'>;

export class CaptchaEngine {
  readonly keyring: Keyring;
  /** The operator's facts about addresses; `null` where there are none. */
  readonly addressLookup: AddressLookup | null;
  readonly #store: ServiceStore;
  readonly #sites = new ExpiringMap<SiteRecord>(SITE_MEMO_ENTRIES, SITE_MEMO_MS);
  /** By the secret itself, known secrets only. The map compares hashes of whole keys, so its timing does not reveal a part. */
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

  /** The database looks up a hash, so that timing does not reveal how much of a guess is right. */
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

  /** Counts a mailbox by its keyed hash, which is the same on every day. `false` above the limit within a day. */
  async countMailbox(siteKey: string, mailbox: string, limit: number): Promise<boolean> {
    const tag = await visitorTag(this.keyring, MAILBOX_KEY_DAY, 'mailbox', mailbox);
    const together = { purpose: 'mailbox', site: siteKey, group: tag, windowMs: MAILBOX_WINDOW_MS };
    return countUses(this.#store, together, [{ key: tag, limit }]);
  }

  /**
   * The minter of the day. The engine keeps a finished minter only, never a promise of one: a promise that a cancelled
   * request began may never settle, and all later requests would wait for it.
   */
  async minter(nowMs: number): Promise<RswMinter> {
    const day = keyDay(nowMs);
    if (this.#minter?.day === day) return this.#minter;
    const key = await powKeyOfDay(this.#store, day, nowMs);
    // Another request may have made it meanwhile.
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
