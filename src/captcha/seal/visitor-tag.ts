/**
 * Keyed hash of a visitor's fact (address, prefix, city, email) under the day's key: enough to ask "is
 * it the same as then?", useless to whoever reads a token or the database without the key.
 */
import { encodeBase64url } from '../../bytes/base64url.ts';
import { encodeFields, textField } from './field-encoding.ts';
import type { Keyring } from './keyring.ts';

/** 128 bits. */
const TAG_BYTES = 16;

/** `kind` keeps an address from ever equalling a city of the same spelling. */
export async function visitorTag(keyring: Keyring, day: number, kind: string, value: string): Promise<string> {
  const key = await keyring.tagKey('visitor', day);
  const mac = await crypto.subtle.sign('HMAC', key, encodeFields([textField(kind), textField(value)]));
  return encodeBase64url(new Uint8Array(mac, 0, TAG_BYTES));
}
