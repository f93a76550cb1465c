/**
 * The name of a person inside an authenticator. It says nothing about them (Web Authentication, 14.6.1), and it is always
 * the same one, so that an authenticator replaces a passkey of the same person in place of listing two.
 */
import { encodeBase64url } from '../../../bytes/base64url.ts';
import { HmacSha256 } from '../../../bytes/hmac-sha256.ts';
import type { StoreEnv } from '../../../store/binding.ts';
import { deriveKey } from '../../../store/keys/master-key.ts';
import { rootKey } from '../../../store/keys/root-key.ts';

export async function userHandle(store: StoreEnv, email: string): Promise<string> {
  const key = await deriveKey(await rootKey(store), 'passkey-user-handle');
  return encodeBase64url(new HmacSha256(key).sign(email));
}
