/**
 * Keyed hash of a fact about a visitor (address, prefix, city, email) under the day's key. It answers "is it the same as
 * before?" and is useless without the key to a reader of a token or of the database.
 */
import { encodeBase64url } from '../../bytes/base64url.ts';
import { encodeFields, textField } from './field-encoding.ts';
import type { Keyring } from './keyring.ts';

/** 128 bits. */
const TAG_BYTES = 16;

/** `kind` keeps the tag of an address apart from the tag of a city of the same spelling. */
export async function visitorTag(keyring: Keyring, day: number, kind: string, value: string): Promise<string> {
  const key = await keyring.tagKey('visitor', day);
  const mac = await crypto.subtle.sign('HMAC', key, encodeFields([textField(kind), textField(value)]));
  return encodeBase64url(new Uint8Array(mac, 0, TAG_BYTES));
}
