/**
 * The symmetric keys of an instance's edges: HKDF children of the root key by instance and week. No key is stored, and
 * every isolate derives the same one. Two weeks are always valid: the longest-lived value under a key (a clearance, one
 * day) ends before its key does.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import { encodeBase64url } from '../../bytes/base64url.ts';
import type { EdgeKeySet } from '../../contract/edge/edge-responses.ts';
import { deriveKey } from './master-key.ts';

const EPOCH_MS = 7 * 24 * 3600 * 1000;
/**
 * The service starts to mint with a new key this long after the edges receive it, so that no edge sees an unknown
 * `kid`.
 */
const MINTING_LAG_MS = 10 * 60 * 1000;

type EdgeKeyPurpose = 'clearance' | 'session' | 'seal' | 'originSignature';

export async function edgeKeySets(
  masterKey: string,
  instanceId: string,
  nowMs: number,
): Promise<{ current: EdgeKeySet; previous: EdgeKeySet }> {
  const epoch = Math.floor(nowMs / EPOCH_MS);
  const [current, previous] = await Promise.all([
    edgeKeySet(masterKey, instanceId, epoch),
    edgeKeySet(masterKey, instanceId, epoch - 1),
  ]);
  return { current, previous };
}

/** Signs what limits count by. It stays: a limit of a day does not begin again with another week. */
export async function limitKeyOf(masterKey: string, instanceId: string): Promise<string> {
  return encodeBase64url(await deriveKey(masterKey, `edge/${instanceId}/limits`));
}

/** The key for minting a session JWT now. */
export async function sessionMintingKey(
  masterKey: string,
  instanceId: string,
  nowMs: number,
): Promise<{ kid: string; key: Bytes }> {
  const kid = kidOf(Math.floor((nowMs - MINTING_LAG_MS) / EPOCH_MS));
  return { kid, key: await deriveEdgeKey(masterKey, instanceId, kid, 'session') };
}

/** The session key of any past week: a session that lives for a month is renewed with an old JWT. */
export async function sessionKeyByKid(
  masterKey: string,
  instanceId: string,
  kid: string,
  nowMs: number,
): Promise<Bytes | null> {
  const epoch = /^w(\d{1,6})$/.exec(kid)?.[1];
  if (epoch === undefined || Number(epoch) > Math.floor(nowMs / EPOCH_MS)) return null;
  return deriveEdgeKey(masterKey, instanceId, kid, 'session');
}

/**
 * Origin signature keys of the last week, this week and the next ones, oldest first. Times are epoch milliseconds. A
 * key signs from `validFrom`; no request that reaches an origin after `validUntil` carries it.
 */
export async function originKeys(
  masterKey: string,
  instanceId: string,
  nowMs: number,
  weeks: number,
): Promise<{ kid: string; key: string; validFrom: number; validUntil: number }[]> {
  const epoch = Math.floor(nowMs / EPOCH_MS);
  const epochs = Array.from({ length: weeks + 2 }, (_, index) => epoch - 1 + index);
  return Promise.all(
    epochs.map(async (week) => ({
      kid: kidOf(week),
      key: encodeBase64url(await deriveEdgeKey(masterKey, instanceId, kidOf(week), 'originSignature')),
      validFrom: week * EPOCH_MS,
      // An edge that cannot reach the service continues with its last config.
      validUntil: (week + 2) * EPOCH_MS,
    })),
  );
}

async function edgeKeySet(masterKey: string, instanceId: string, epoch: number): Promise<EdgeKeySet> {
  const kid = kidOf(epoch);
  const derive = async (purpose: EdgeKeyPurpose) =>
    encodeBase64url(await deriveEdgeKey(masterKey, instanceId, kid, purpose));
  const [clearance, session, seal, originSignature] = await Promise.all([
    derive('clearance'),
    derive('session'),
    derive('seal'),
    derive('originSignature'),
  ]);
  return { kid, clearance, session, seal, originSignature };
}

function deriveEdgeKey(masterKey: string, instanceId: string, kid: string, purpose: EdgeKeyPurpose): Promise<Bytes> {
  return deriveKey(masterKey, `edge/${instanceId}/${kid}/${purpose}`);
}

function kidOf(epoch: number): string {
  return `w${epoch}`;
}
